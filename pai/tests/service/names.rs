//! What things are called: pods alike everywhere, names for people beside ids, and who has done what.

use engine::transition::Sender;
use engine::unit::id::UserId;
use serde_json::Value;
use serde_json::json;

use crate::office::NODE_TYPE;
use crate::office::Office;
use crate::things::attach;
use crate::things::id;
use crate::things::job;
use crate::things::quota;
use crate::things::workspace;

const NOTHING: Value = Value::Null;

fn texts(list: &Value, field: &str) -> Vec<String> {
    list.as_array().unwrap().iter().map(|one| id(one, field)).collect()
}

/// The names of all pods on all nodes.
fn on_nodes(office: &mut Office) -> Vec<String> {
    let mut names: Vec<String> = (0..16)
        .flat_map(|at| {
            let told = office.get("ListNodePods", &format!("/api/v1/nodes/node-{at}/Pods"), &NOTHING);
            texts(&told["NodePodInfos"], "PodName")
        })
        .collect();
    names.sort();
    names
}

#[test]
fn a_pod_has_one_name() {
    let mut office = Office::new();
    let quota = quota(&mut office, 4);
    let specs = json!([{ "Type": "Master", "ResourceConfig": { "GPU": "8" } },
        { "Type": "Worker", "PodCount": 2, "ResourceConfig": { "GPU": "4" } }]);
    let body = job(&json!({ "ResourceId": quota, "JobSpecs": specs }));
    let train = id(&office.get("CreateJob", "/api/v1/jobs", &body), "JobId");
    let told = office.get("GetJob", &format!("/api/v1/jobs/{train}"), &NOTHING);
    let pods = texts(&told["Pods"], "PodId");
    assert_eq!(pods, ["master-0", "worker-0", "worker-1"].map(|end| format!("{train}-{end}")));
    assert_eq!(on_nodes(&mut office), pods);
    for pod in &pods {
        office.get("GetPodEvents", &format!("/api/v1/jobs/{train}/pods/{pod}/events"), &NOTHING);
    }
    let queue = office.get("ListQuotaWorkloads", &format!("/api/v1/quotas/{quota}/workloads"), &NOTHING);
    assert_eq!(texts(&queue["Workloads"], "Name"), pods[..1]);

    office.get("StopJob", &format!("/api/v1/jobs/{train}/stop"), &NOTHING);
    office.tick();
    let config = json!({ "name": "chat", "metadata": { "instance": 2, "gpu": 8, "quota_id": quota } });
    office.get("CreateService", "/api/v2/services", &config);
    let told = office.get("ListServiceInstances", "/api/v2/services/local/chat/instances", &NOTHING);
    assert_eq!(on_nodes(&mut office), texts(&told["Instances"], "InstanceName"));
}

#[test]
fn quotas_and_workspaces_have_their_names_beside_their_ids() {
    let mut office = Office::new();
    let (team, quota) = (workspace(&mut office, "team"), quota(&mut office, 1));
    attach(&mut office, &team, &quota);
    let more = json!({ "WorkspaceId": team, "ResourceId": quota });
    office.get("CreateJob", "/api/v1/jobs", &job(&more));
    let waits = id(&office.get("CreateJob", "/api/v1/jobs", &job(&more)), "JobId");
    let told = office.get("GetJob", &format!("/api/v1/jobs/{waits}"), &NOTHING);
    let both = format!("q ({quota})");
    assert!(id(&told, "ReasonMessage").contains(&both), "{told}");
    assert_eq!(["ResourceId", "ResourceName", "WorkspaceName"].map(|field| id(&told, field)), [&*quota, "q", "team"]);
    let item = office.get("ListJobs", &format!("/api/v1/jobs?JobId={waits}"), &NOTHING)["Jobs"][0].clone();
    assert_eq!(
        ["ResourceId", "ResourceQuotaName", "WorkspaceName"].map(|field| id(&item, field)),
        [&*quota, "q", "team"]
    );
    let queue = office.get("ListQuotaWorkloads", &format!("/api/v1/quotas/{quota}/workloads"), &NOTHING);
    let last = &queue["Workloads"][1];
    assert_eq!(["QuotaId", "QuotaName", "WorkspaceName"].map(|field| id(last, field)), [&*quota, "q", "team"]);
    assert!(id(last, "Reason").contains(&both), "{last}");
    let refused = office.refusal("DeleteQuota", &format!("/api/v1/quotas/{quota}"), &NOTHING);
    assert!(refused.contains(&both), "{refused}");
    let told = office.get("GetQuota", &format!("/api/v1/quotas/{quota}"), &NOTHING);
    assert_eq!(told["Workspaces"], json!([{ "WorkspaceId": team, "WorkspaceName": "team" }]));
    let body = json!({ "InstanceName": "dev", "WorkspaceId": team, "ResourceId": quota,
        "RequestedResource": { "CPU": "1" } });
    let instance = id(&office.get("CreateInstance", "/api/v2/instances", &body), "InstanceId");
    let told = office.get("GetInstance", &format!("/api/v2/instances/{instance}"), &NOTHING);
    assert_eq!(["ResourceName", "WorkspaceName", "UserName"].map(|field| id(&told, field)), ["q", "team", "1000"]);
}

#[test]
fn who_stopped_a_job_is_told() {
    let mut office = Office::new();
    let quota = quota(&mut office, 1);
    let made = id(&office.get("CreateJob", "/api/v1/jobs", &job(&json!({ "ResourceId": quota }))), "JobId");
    office.sent_by(Sender { user: UserId::new("ann").unwrap(), administers: true });
    office.get("StopJob", &format!("/api/v1/jobs/{made}/stop"), &NOTHING);
    office.tick();
    let told = office.get("GetJob", &format!("/api/v1/jobs/{made}"), &NOTHING);
    let expected = ("JobStoppedByUser".to_owned(), "ann stopped the job".to_owned());
    assert_eq!((id(&told, "ReasonCode"), id(&told, "ReasonMessage")), expected);
    let last = told["StatusHistory"].as_array().unwrap().last().unwrap();
    assert_eq!((id(last, "ReasonCode"), id(last, "ReasonMessage")), expected);
    let native = id(&office.get("CreateJob", "/api/v1/jobs", &job(&json!({ "ResourceId": quota }))), "JobId");
    office.sent_by(Sender { user: UserId::new("bob").unwrap(), administers: true });
    office.command(json!({ "cancel_job": { "job": native } }));
    let told = office.get("GetJob", &format!("/api/v1/jobs/{native}"), &NOTHING);
    assert_eq!(id(&told, "ReasonMessage"), "bob stopped the job");
}

#[test]
fn what_cannot_be_meant_is_refused_with_the_numbers() {
    let mut office = Office::new();
    let quota = quota(&mut office, 2);
    let asked = |config: Value| job(&json!({ "ResourceId": quota, "JobSpecs": [{ "ResourceConfig": config }] }));
    let mut refusal = |body: &Value| office.refusal("CreateJob", "/api/v1/jobs", body);
    assert_eq!(
        refusal(&asked(json!({ "GPU": "16", "CPU": "8" }))),
        format!(
            "400 PodTooLarge: a pod asks for 16 GPUs, 8 CPUs, and no node of quota q ({quota}) has that; the most that \
            one has is 8 GPUs, 128 CPUs"
        )
    );
    assert_eq!(
        refusal(&asked(json!({ "GPU": "1", "Memory": "64" }))),
        "400 InvalidParameter: JobSpecs[0].ResourceConfig.Memory is \"64\"; it must be an amount of memory with its \
         unit, such as \"64Gi\""
    );
    let mut long = asked(json!({ "GPU": "1" }));
    long["DisplayName"] = json!("n".repeat(257));
    let told = refusal(&long);
    assert!(told.starts_with("400 InvalidParameter: DisplayName is \"nnn"), "{told}");
    assert!(told.ends_with("it must be at most 256 characters, and has 257"), "{told}");
    assert_eq!(
        refusal(&asked(json!({ "GPU": "1", "GPUType": "A100" }))),
        "400 InvalidParameter: GPUType is \"A100\"; the GPUs of the quota are of the type GU108"
    );
    let service = json!({ "name": "s", "metadata": { "gpu": 9, "quota_id": quota } });
    let told = office.refusal("CreateService", "/api/v2/services", &service);
    assert!(told.starts_with("400 PodTooLarge: a pod asks for 9 GPUs"), "{told}");
    for (memory, name) in [("68719476736", "n"), ("64Gi", &*"空".repeat(256))] {
        let mut body = asked(json!({ "GPU": "1", "Memory": memory, "GPUType": "gu108" }));
        body["DisplayName"] = json!(name);
        office.get("CreateJob", "/api/v1/jobs", &body);
    }
}

/// A job of one pod of a GPU, with more in its specification.
fn small(quota: &str, more: &Value) -> Value {
    let mut spec = json!({ "ResourceConfig": { "GPU": "1" } });
    for (field, value) in more.as_object().unwrap() {
        spec[field] = value.clone();
    }
    job(&json!({ "ResourceId": quota, "JobSpecs": [spec] }))
}

/// The node of a job's only pod.
fn node_of(office: &mut Office, body: &Value) -> Value {
    let made = id(&office.get("CreateJob", "/api/v1/jobs", body), "JobId");
    office.get("GetJob", &format!("/api/v1/jobs/{made}"), &NOTHING)["Pods"][0]["NodeName"].clone()
}

#[test]
fn a_job_runs_on_the_type_of_gpus_that_it_asks_for() {
    let mut office = Office::new();
    office
        .command(json!({ "put_node": { "node": "other", "group": "rg-1", "node_type": "ml.other", "gpu_type": "A100",
        "amount": { "gpu": 8000, "cpu": 128_000, "memory": 1_048_576 } } }));
    let quota = quota(&mut office, 2);
    let of = |gpu_type: &str| small(&quota, &json!({ "ResourceConfig": { "GPU": "1", "GPUType": gpu_type } }));
    assert_eq!(node_of(&mut office, &of("a100")), "other");
    assert_ne!(node_of(&mut office, &of("GU108")), "other");
    assert_eq!(
        office.refusal("CreateJob", "/api/v1/jobs", &of("H20")),
        "400 InvalidParameter: GPUType is \"H20\"; it must be one of A100, GU108"
    );
}

#[test]
fn a_job_runs_on_nodes_that_it_names() {
    let mut office = Office::new();
    let quota = quota(&mut office, 4);
    let with = |spec: Value| small(&quota, &json!({ "AssignNodeSpec": spec }));
    let wanted = with(json!({ "EnableAssignNode": true, "NodeNames": "node-7,node-8" }));
    assert_eq!(node_of(&mut office, &wanted), "node-7");
    // The fullest node takes a pod unless it is excluded.
    assert_eq!(node_of(&mut office, &with(json!({ "EnableAssignNode": false }))), "node-7");
    assert_ne!(node_of(&mut office, &with(json!({ "AntiAffinityNodeNames": "node-7" }))), "node-7");
    let list = |office: &mut Office, query: &str| {
        office.get("ListJobs", &format!("/api/v1/jobs?EnableAssignNode={query}"), &NOTHING)["TotalCount"].clone()
    };
    assert_eq!((list(&mut office, "true"), list(&mut office, "false")), (json!(2), json!(1)));
    let unknown = office.refusal("CreateJob", "/api/v1/jobs", &with(json!({ "NodeNames": "nowhere" })));
    assert!(unknown.starts_with("404 NodeNotFound: "), "{unknown}");
    let body = json!({ "InstanceName": "dev", "ResourceId": quota, "RequestedResource": { "GPU": "1" },
        "AssignNodeSpec": { "NodeNames": "node-9" } });
    office.get("CreateInstance", "/api/v2/instances", &body);
    let pods = office.get("ListNodePods", "/api/v1/nodes/node-9/Pods", &NOTHING);
    assert_eq!(pods["NodePodInfos"].as_array().unwrap().len(), 1);
}

#[test]
fn prices_are_told_minute_by_minute_over_several_pages() {
    let mut office = Office::new();
    for minute in 0..40 {
        office.tick();
        if minute == 20 {
            office.command(json!({ "publish_price": { "offer": NODE_TYPE, "price": 500_000 } }));
        }
    }
    let page = |office: &mut Office, query: &str| {
        let told =
            office.get("GetSpotPriceHistory", &format!("/api/v1/spots/{NODE_TYPE}/pricehistory?{query}"), &NOTHING);
        let points = told["SpotPriceHistory"].as_array().unwrap().clone();
        let one = |point: &Value| (id(point, "Timestamp"), point["SpotDiscount"].as_f64().unwrap());
        (points.iter().map(one).collect::<Vec<_>>(), told["TotalCount"].as_i64().unwrap())
    };
    let mut all = Vec::new();
    for number in 1.. {
        let (points, total) = page(&mut office, &format!("PageNumber={number}&PageSize=10"));
        assert!(total >= 40, "{total}");
        if points.is_empty() {
            assert_eq!(all.len(), usize::try_from(total).unwrap());
            break;
        }
        all.extend(points);
    }
    assert!(all.windows(2).all(|pair| pair[0].0 < pair[1].0), "{all:?}");
    let minutes: Vec<_> = all.iter().filter(|(at, _)| at.ends_with(":00Z")).collect();
    assert_eq!(minutes.len(), 40, "{all:?}");
    let prices: Vec<f64> = minutes.iter().map(|(_, price)| *price).collect();
    assert_eq!((prices[0], prices[19], prices[21], prices[39]), (0.3, 0.3, 0.5, 0.5));
    let (newest, _) = page(&mut office, "Order=desc&PageSize=1");
    assert_eq!(newest[0], all[all.len() - 1]);
}
