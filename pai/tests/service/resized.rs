//! Services get more instances or fewer while they run.

use engine::unit::time::Millis;
use serde_json::Value;
use serde_json::json;

use crate::office::Office;
use crate::things::id;
use crate::things::job;
use crate::things::quota;

const PATH: &str = "/api/v2/services/local/chat";

/// A service of so many instances of a machine each, in a quota of its own.
fn service(office: &mut Office, machines: i64, instances: u32) -> String {
    let quota = quota(office, machines);
    let metadata = json!({ "name": "chat", "instance": instances, "gpu": 8, "quota_id": quota });
    office.get("CreateService", "/api/v2/services", &json!({ "metadata": metadata, "options": { "priority": 5 } }));
    quota
}

fn train(office: &mut Office, quota: &str, pods: u32) -> String {
    let specs = json!([{ "PodCount": pods, "ResourceConfig": { "GPU": "8" } }]);
    let body = job(&json!({ "ResourceId": quota, "Priority": 5, "JobSpecs": specs }));
    id(&office.get("CreateJob", "/api/v1/jobs", &body), "JobId")
}

fn update(office: &mut Office, change: &Value) {
    office.get("UpdateService", PATH, change);
}

fn told(office: &mut Office) -> Value {
    office.get("DescribeService", PATH, &Value::Null)
}

/// How many instances there are, how many run, and how many do not.
fn counts(office: &mut Office) -> [i64; 3] {
    let told = told(office);
    ["TotalInstance", "RunningInstance", "PendingInstance"].map(|field| told[field].as_i64().unwrap())
}

/// The names and starts of the instances that run.
fn running(office: &mut Office) -> Vec<(String, String)> {
    let told = office.get("ListServiceInstances", &format!("{PATH}/instances"), &Value::Null);
    let all = told["Instances"].as_array().unwrap().iter();
    let running = all.filter(|instance| instance["Status"] == "Running");
    running.map(|instance| (id(instance, "InstanceName"), id(instance, "StartTime"))).collect()
}

#[test]
fn more_instances_in_a_full_quota_wait_while_the_others_run() {
    let mut office = Office::new();
    let quota = service(&mut office, 6, 4);
    let other = train(&mut office, &quota, 2);
    let (before, created) = (running(&mut office), told(&mut office)["CreateTime"].clone());
    office.now = office.now + Millis::HOUR;
    update(&mut office, &json!({ "metadata": { "instance": 5 } }));
    assert_eq!(counts(&mut office), [5, 4, 1]);
    assert_eq!(running(&mut office), before);
    let waiting = told(&mut office);
    assert_eq!((&waiting["Status"], &waiting["CreateTime"]), (&json!("Running"), &created));
    assert!(waiting["Message"].as_str().unwrap().contains("asks for 8 GPUs"), "{}", waiting["Message"]);
    assert_eq!(office.get("GetJob", &format!("/api/v1/jobs/{other}"), &Value::Null)["Status"], "Running");
    office.get("StopJob", &format!("/api/v1/jobs/{other}/stop"), &Value::Null);
    assert_eq!(counts(&mut office), [5, 5, 0]);
    assert_eq!(running(&mut office)[..4], before);
    update(&mut office, &json!({ "metadata": { "instance": 3 } }));
    assert_eq!(counts(&mut office), [3, 3, 0]);
    assert_eq!(running(&mut office), before[..3]);
    assert_eq!(told(&mut office)["CurrentVersion"], 1);
}

#[test]
fn another_priority_stops_nothing() {
    let mut office = Office::new();
    service(&mut office, 4, 4);
    let before = running(&mut office);
    office.now = office.now + Millis::HOUR;
    update(&mut office, &json!({ "options": { "priority": 8 }, "metadata": { "instance": 6 } }));
    assert_eq!(running(&mut office), before);
    assert_eq!(counts(&mut office), [6, 4, 2]);
    let quota = id(&told(&mut office), "QuotaId");
    let waiting = office.get("ListQuotaWorkloads", &format!("/api/v1/quotas/{quota}/workloads"), &Value::Null);
    let priorities: Vec<&Value> = waiting["Workloads"].as_array().unwrap().iter().map(|it| &it["Priority"]).collect();
    assert_eq!(priorities, [8, 8]);
    update(&mut office, &json!({ "metadata": { "instance": 4 } }));
    assert_eq!(counts(&mut office), [4, 4, 0]);
}

#[test]
fn a_run_is_not_given_up_for_one_that_would_wait() {
    let mut office = Office::new();
    let quota = service(&mut office, 2, 2);
    let before = running(&mut office);
    let ahead = train(&mut office, &quota, 1);
    office.get("UpdateJob", &format!("/api/v1/jobs/{ahead}"), &json!({ "Priority": 9 }));
    let refused = "409 ServiceStatusNotSupported: service chat would not run again at once, so nothing is changed; \
                   stop the service first if it may wait";
    assert_eq!(office.refusal("RestartService", &format!("{PATH}/restart"), &Value::Null), refused);
    assert_eq!(office.refusal("UpdateService", PATH, &json!({ "metadata": { "gpu": 7 } })), refused);
    assert_eq!(running(&mut office), before);
    office.get("StopJob", &format!("/api/v1/jobs/{ahead}/stop"), &Value::Null);
    let created = told(&mut office)["CreateTime"].clone();
    update(&mut office, &json!({ "metadata": { "gpu": 4 } }));
    let now = told(&mut office);
    assert_eq!((&now["Gpu"], &now["RunningInstance"], &now["CreateTime"]), (&json!(4), &json!(2), &created));
    assert_eq!(now["CurrentVersion"], 2);
}
