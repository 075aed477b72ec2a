//! Elastic jobs: their pods above the minimum come and go one by one, and count wherever pods are counted.

use serde_json::Value;
use serde_json::json;

use crate::office::Office;
use crate::things::attach;
use crate::things::id;
use crate::things::job;
use crate::things::quota;
use crate::things::workspace;

const NOTHING: Value = Value::Null;

/// A quota of one machine with a job of 2 GPUs, and one of 1 to 4 pods with 2 GPUs each.
fn elastic(office: &mut Office) -> (String, String) {
    let (team, quota) = (workspace(office, "team"), quota(office, 1));
    attach(office, &team, &quota);
    let small = job(&json!({ "WorkspaceId": team, "ResourceId": quota,
        "JobSpecs": [{ "PodCount": 1, "ResourceConfig": { "GPU": "2" } }] }));
    let small = id(&office.get("CreateJob", "/api/v1/jobs", &small), "JobId");
    office.command(json!({ "submit_job": { "job": "stretch", "quota": quota, "workspace": team, "user": "1000",
        "module": "DLC", "priority": 5, "pods": [{ "count": 4, "amount": { "gpu": 2000, "cpu": 1000 } }],
        "min_pods": 1 } }));
    office.tick();
    (small, quota)
}

/// What the whole group, the node of the job and its quota say is in use, and how many pods that makes.
fn in_use(office: &mut Office, quota: &str) -> (Value, Value, Value, Value, Value, usize) {
    let group = office.get("GetResourceGroupRequest", "/api/v1/resources/data/request?ResourceGroupID=rg-1", &NOTHING);
    let nodes = office.get("ListNodes", "/api/v1/nodes?ResourceGroupIds=rg-1&PageSize=100", &NOTHING);
    let node = nodes["Nodes"].as_array().unwrap().iter().find(|node| node["PodNum"] != 0).unwrap().clone();
    let usage = office.get("ListQuotaActiveUserUsages", &format!("/api/v1/quotas/{quota}/activeuserusages"), &NOTHING);
    let path = format!("/api/v1/nodes/{}/Pods?ResourceGroupId=rg-1", id(&node, "NodeName"));
    let pods = office.get("ListNodePods", &path, &NOTHING);
    (
        group["requestGPU"].clone(),
        node["RequestGPU"].clone(),
        node["PodNum"].clone(),
        node["WorkloadNum"].clone(),
        usage["QuotaUserUsages"][0]["Resources"]["Used"]["GPU"].clone(),
        pods["NodePodInfos"].as_array().unwrap().len(),
    )
}

/// Statuses of its pods, and how many are active.
fn pods(office: &mut Office) -> (Vec<String>, Value) {
    let told = office.get("GetJob", "/api/v1/jobs/stretch", &NOTHING);
    let statuses = told["Pods"].as_array().unwrap().iter().map(|pod| id(pod, "Status")).collect();
    (statuses, told["JobReplicaStatuses"][0]["Active"].clone())
}

#[test]
fn pods_above_the_minimum_count() {
    let mut office = Office::new();
    let (small, quota) = elastic(&mut office);
    assert_eq!(in_use(&mut office, &quota), (json!(8), json!("8"), json!(4), json!(2), json!("8"), 4));
    let (statuses, active) = pods(&mut office);
    assert_eq!((statuses.join(" "), active), ("Running Running Running Pending".to_owned(), json!(3)));
    let told = office.get("ListJobs", "/api/v1/jobs?JobIds=stretch", &NOTHING);
    assert_eq!(told["Jobs"][0]["NodeCount"], "1");

    office.get("StopJob", &format!("/api/v1/jobs/{small}/stop"), &NOTHING);
    for _ in 0..2 {
        office.tick();
    }
    assert_eq!(in_use(&mut office, &quota), (json!(8), json!("8"), json!(4), json!(1), json!("8"), 4));
    assert_eq!(pods(&mut office), (vec!["Running".to_owned(); 4], json!(4)));
}
