//! Jobs that agents run: nothing is called running before its start is confirmed.

use engine::unit::time::Millis;
use serde_json::Value;
use serde_json::json;

use crate::office::Office;
use crate::things::attach;
use crate::things::id;
use crate::things::job;
use crate::things::quota;
use crate::things::workspace;

const NOTHING: Value = Value::Null;

/// A job in a cluster whose jobs agents run, granted and not confirmed.
fn granted(office: &mut Office, more: &Value) -> String {
    office.command(json!({ "update_cluster": { "execution": "reported", "start_within_ms": 600_000 } }));
    let (team, quota) = (workspace(office, "team"), quota(office, 2));
    attach(office, &team, &quota);
    let mut body = job(&json!({ "WorkspaceId": team, "ResourceId": quota }));
    for (field, value) in more.as_object().unwrap() {
        body[field] = value.clone();
    }
    id(&office.get("CreateJob", "/api/v1/jobs", &body), "JobId")
}

fn told(office: &mut Office, job: &str) -> Value {
    office.get("GetJob", &format!("/api/v1/jobs/{job}?NeedDetail=true"), &NOTHING)
}

fn statuses(told: &Value) -> Vec<&str> {
    let history = told["StatusHistory"].as_array().unwrap();
    history.iter().map(|stretch| stretch["Status"].as_str().unwrap()).collect()
}

#[test]
fn a_job_runs_from_the_confirmation_on() {
    let mut office = Office::new();
    let job = granted(&mut office, &json!({}));
    office.now = office.now + Millis(30_000);
    let before = told(&mut office, &job);
    assert_eq!((id(&before, "Status"), before["GmtRunningTime"].clone()), ("EnvPreparing".to_owned(), NOTHING));
    assert_eq!(before["Duration"], 0);
    assert_eq!(before["JobReplicaStatuses"][0]["Active"], 0, "{before}");
    let pod = &before["Pods"][0];
    assert_eq!((id(pod, "Status"), pod["GmtStartTime"].clone()), ("Pending".to_owned(), NOTHING));
    let listed = office.get("ListJobs", "/api/v1/jobs?Status=EnvPreparing", &NOTHING);
    assert_eq!(listed["TotalCount"], 1);

    office.report(&job, &json!("confirmed"));
    office.now = office.now + Millis(10_000);
    let after = told(&mut office, &job);
    assert_eq!(statuses(&after), ["Queuing", "EnvPreparing", "Running"]);
    assert_eq!(after["Duration"], 10, "without the half minute in which it was being started");
    assert_eq!(after["GmtRunningTime"], after["StatusHistory"][2]["StartTime"]);
    assert_ne!(after["GmtRunningTime"], after["StatusHistory"][1]["StartTime"]);
    assert_eq!(after["Pods"][0]["GmtStartTime"], after["GmtRunningTime"]);
    assert_eq!(id(&after["Pods"][0], "Status"), "Running");
    assert_eq!(after["Pods"][0]["PodUid"], before["Pods"][0]["PodUid"]);
}

#[test]
fn a_start_that_nobody_confirms_is_no_run() {
    let mut office = Office::new();
    let tolerant = json!({ "Settings": { "EnableErrorMonitoringInAIMaster": true } });
    let job = granted(&mut office, &tolerant);
    office.now = office.now + Millis(30_000);
    let failed = json!({ "failed": { "reason": "no disk is left", "fault": "start" } });
    office.report(&job, &failed);
    let told = told(&mut office, &job);
    assert!(!statuses(&told).contains(&"Running"), "{told}");
    assert_eq!((told["GmtRunningTime"].clone(), told["Duration"].clone()), (NOTHING, json!(0)));
    assert_eq!(told["Pods"][0]["HistoryPods"].as_array().map_or(0, Vec::len), 0, "{told}");
    let events = office.get("GetJobEvents", &format!("/api/v1/jobs/{job}/events"), &NOTHING);
    assert!(events["Events"].as_array().unwrap().iter().any(|line| line.as_str().unwrap().contains("no disk is left")));
}

#[test]
fn a_run_that_is_queued_again_is_a_restart() {
    let mut office = Office::new();
    let tolerant = json!({ "Settings": { "EnableErrorMonitoringInAIMaster": true } });
    let job = granted(&mut office, &tolerant);
    office.report(&job, &json!({ "failed": { "reason": "no disk is left", "fault": "start" } }));
    office.now = office.now + Millis::HOUR;
    office.tick();
    office.report(&job, &json!("confirmed"));
    office.now = office.now + Millis(10_000);
    office.report(&job, &json!({ "failed": { "reason": "the node is gone", "fault": "node" } }));
    let told = told(&mut office, &job);
    let expected =
        ["Queuing", "EnvPreparing", "Restarting", "Queuing", "EnvPreparing", "Running", "Restarting", "Queuing"];
    assert_eq!(statuses(&told)[..8], expected, "{told}");
    let records = told["RestartRecord"].as_array().unwrap();
    let field = |name: &str| records.iter().map(|one| one[name].clone()).collect::<Vec<_>>();
    assert_eq!(field("OccurPhase"), ["EnvPreparing", "Running"], "{told}");
    assert_eq!(field("JobRestartCount"), [1, 2]);
    assert!(field("Reason")[1].as_str().unwrap().contains("the node is gone"), "{told}");
}

#[test]
fn the_exit_code_of_a_job_that_fails_is_told() {
    let mut office = Office::new();
    let job = granted(&mut office, &json!({}));
    office.report(&job, &json!("confirmed"));
    let failed = json!({ "failed": { "reason": "the command failed", "exit": { "code": 3 } } });
    office.report(&job, &failed);
    let told = told(&mut office, &job);
    assert_eq!((id(&told, "Status"), id(&told["Pods"][0], "Status")), ("Failed".to_owned(), "Failed".to_owned()));
    assert_eq!(id(&told, "ReasonMessage"), "the command failed (exit code 3)");
}
