//! Training jobs of the high-level SDK: jobs that are described by what an algorithm needs.

use serde_json::Value;
use serde_json::json;

use crate::office::NODE_TYPE;
use crate::office::Office;
use crate::things::id;
use crate::things::quota;
use crate::things::workspace;

const NOTHING: Value = Value::Null;
const ALL: &str = "/api/v1/trainingjobs";

fn described(resource: &Value) -> Value {
    json!({
        "TrainingJobName": "fit-1", "AlgorithmSpec": { "Command": ["python", "train.py"], "Image": "image" },
        "ComputeResource": resource, "HyperParameters": [{ "Name": "lr", "Value": "0.1" }],
        "Environments": { "KEY": "value" }, "Labels": [{ "Key": "team", "Value": "vision" }],
        "Settings": { "Priority": 6 }, "Scheduler": { "MaxRunningTimeInSeconds": 90 },
    })
}

fn needs(quota: &str, gpus: &str) -> Value {
    let spec = json!({ "CPU": "8", "GPU": gpus, "Memory": "64Gi" });
    described(&json!({ "ResourceId": quota, "InstanceCount": 2, "InstanceSpec": spec }))
}

#[test]
fn a_training_job_is_a_job() {
    let mut office = Office::new();
    let (q, w) = (quota(&mut office, 2), workspace(&mut office, "wwww"));
    crate::things::attach(&mut office, &w, &q);
    let mut sent = needs(&q, "8");
    sent["WorkspaceId"] = json!(w);
    let name = id(&office.get("CreateTrainingJob", ALL, &sent), "TrainingJobId");
    let path = format!("{ALL}/{name}");

    let told = office.get("GetTrainingJob", &path, &NOTHING);
    for (field, value) in sent.as_object().unwrap() {
        assert_eq!(&told[field], value, "{field}");
    }
    assert_eq!((&told["Status"], &told["IsTempAlgo"]), (&json!("Running"), &json!(true)));
    let statuses = told["StatusTransitions"].as_array().unwrap();
    assert_eq!(statuses.iter().map(|one| &one["Status"]).collect::<Vec<_>>(), ["Submitted", "Running"]);
    assert_eq!(told["Instances"].as_array().unwrap().len(), 2);

    let job = office.get("GetJob", &format!("/api/v1/jobs/{name}"), &NOTHING);
    assert_eq!((&job["UserCommand"], &job["Priority"]), (&json!("python train.py"), &json!(6)));
    assert_eq!((&job["Envs"]["KEY"], &job["JobSpecs"][0]["PodCount"]), (&json!("value"), &json!(2)));
    assert_eq!(job.get("TrainingJob"), None, "what was sent is told by its own operation");

    let events = office.get("ListTrainingJobEvents", &format!("{path}/events?PageSize=1"), &NOTHING);
    assert_eq!((&events["TotalCount"], events["Events"].as_array().unwrap().len()), (&json!(2), 1));
    office.get("StopTrainingJob", &format!("{path}/stop"), &NOTHING);
    office.tick();
    let told = office.get("GetTrainingJob", &path, &NOTHING);
    assert_eq!((&told["Status"], &told["ReasonCode"]), (&json!("Terminated"), &json!("JobStoppedByUser")));
    office.get("DeleteTrainingJob", &path, &NOTHING);
    let unknown = format!("404 TrainingJobNotFound: there is no training job {name}");
    assert_eq!(office.refusal("GetTrainingJob", &path, &NOTHING), unknown);
}

#[test]
fn lists_have_training_jobs_and_no_others() {
    let mut office = Office::new();
    let q = quota(&mut office, 1);
    let other = json!({ "DisplayName": "j", "JobType": "PyTorchJob", "UserCommand": "true", "ResourceId": q,
        "JobSpecs": [{ "ResourceConfig": { "GPU": "1" } }] });
    let other = id(&office.get("CreateJob", "/api/v1/jobs", &other), "JobId");
    let runs = id(&office.get("CreateTrainingJob", ALL, &needs(&q, "1")), "TrainingJobId");
    let waits = id(&office.get("CreateTrainingJob", ALL, &needs(&q, "4")), "TrainingJobId");
    let listed = |office: &mut Office, query: &str| {
        let body = office.get("ListTrainingJobs", &format!("{ALL}{query}"), &NOTHING);
        let jobs = body["TrainingJobs"].as_array().unwrap();
        jobs.iter().map(|job| id(job, "TrainingJobId")).collect::<std::collections::BTreeSet<_>>()
    };
    let both = [runs.clone(), waits.clone()].into_iter().collect();
    for (query, expected) in [
        ("", &both),
        ("?Status=Running", &[runs.clone()].into_iter().collect()),
        ("?Status=Submitted", &[waits.clone()].into_iter().collect()),
        ("?Labels=%7B%22team%22%3A%22vision%22%7D&TrainingJobName=FIT", &both),
        ("?Labels=%7B%22team%22%3A%22speech%22%7D", &[].into_iter().collect()),
        (&format!("?TrainingJobId={runs}"), &[runs.clone()].into_iter().collect()),
    ] {
        assert_eq!(&listed(&mut office, query), expected, "{query}");
    }
    let path = format!("{ALL}/{other}");
    let unknown = format!("404 TrainingJobNotFound: there is no training job {other}");
    assert_eq!(office.refusal("StopTrainingJob", &format!("{path}/stop"), &NOTHING), unknown);
}

#[test]
fn the_words_of_a_command_are_a_line_for_a_shell() {
    let mut office = Office::new();
    let q = quota(&mut office, 1);
    for (words, line) in [
        (json!(["python", "train.py", "--lr=0.1"]), "python train.py --lr=0.1"),
        (json!(["sh", "-c", "cd /x && ./run 'a b'"]), "cd /x && ./run 'a b'"),
        (json!(["echo", "it's", "", "a b"]), r"echo 'it'\''s' '' 'a b'"),
    ] {
        let mut sent = needs(&q, "1");
        sent["AlgorithmSpec"]["Command"] = words;
        let name = id(&office.get("CreateTrainingJob", ALL, &sent), "TrainingJobId");
        assert_eq!(office.get("GetJob", &format!("/api/v1/jobs/{name}"), &NOTHING)["UserCommand"], line);
    }
}

#[test]
fn bids_and_kinds_of_machines() {
    let mut office = Office::new();
    let q = quota(&mut office, 1);
    let vpc = json!({ "VpcId": "vpc-1", "SwitchId": "vsw-1", "SecurityGroupId": "sg-1" });
    let spot = json!({ "SpotStrategy": "SpotWithPriceLimit", "SpotDiscountLimit": 0.4 });
    let mut bid = described(&json!({ "EcsSpec": NODE_TYPE, "EcsCount": 1, "SpotSpec": spot }));
    bid["UserVpc"] = vpc;
    bid["ResourceType"] = json!("Lingjun");
    office.get("CreateTrainingJob", ALL, &bid);
    bid["ResourceType"] = json!("General");
    let refusal =
        |of: &str| format!("400 InvalidParameter: ResourceType is \"General\"; the machines of {of} are Lingjun");
    assert_eq!(office.refusal("CreateTrainingJob", ALL, &bid), refusal(NODE_TYPE));
    let mut quotas = needs(&q, "1");
    quotas["ResourceType"] = json!("General");
    assert!(office.refusal("CreateTrainingJob", ALL, &quotas).starts_with(&refusal("quota")[..60]));
    let public = office.refusal("CreateTrainingJob", ALL, &described(&json!({ "EcsSpec": NODE_TYPE, "EcsCount": 1 })));
    assert!(public.starts_with("400 UnsupportedResource: there are no public resources here"), "{public}");
}
