//! What jobs print, as the lines of their pods.

use engine::transition::Sender;
use engine::unit::id::UserId;
use serde_json::Value;
use serde_json::json;

use crate::office::Office;
use crate::things::attach;
use crate::things::id;
use crate::things::job;
use crate::things::quota;
use crate::things::workspace;

const NOTHING: Value = Value::Null;

/// A job that agents run, with what its first pod is called.
fn submitted(office: &mut Office) -> (String, String) {
    office.command(json!({ "update_cluster": { "execution": "reported" } }));
    let (team, quota) = (workspace(office, "team"), quota(office, 2));
    attach(office, &team, &quota);
    let mut body = job(&json!({ "WorkspaceId": team, "ResourceId": quota }));
    body["Settings"] = json!({ "EnableErrorMonitoringInAIMaster": true });
    let job = id(&office.get("CreateJob", "/api/v1/jobs", &body), "JobId");
    let told = office.get("GetJob", &format!("/api/v1/jobs/{job}"), &NOTHING);
    let pod = id(&told["Pods"][0], "PodId");
    (job, pod)
}

fn asked(office: &mut Office, job: &str, pod: &str, query: &str) -> (u16, Value) {
    office.ask("GetPodLogs", &format!("/api/v1/jobs/{job}/pods/{pod}/logs?{query}"), &NOTHING)
}

/// The code and the sentence of a refusal.
fn refusal(office: &mut Office, job: &str, pod: &str, query: &str) -> String {
    let (status, told) = asked(office, job, pod, query);
    format!("{status} {}: {}", id(&told, "Code"), id(&told, "Message"))
}

#[test]
fn each_pod_tells_its_own_lines() {
    let mut office = Office::new();
    office.command(json!({ "update_cluster": { "execution": "reported" } }));
    let (team, quota) = (workspace(&mut office, "team"), quota(&mut office, 4));
    attach(&mut office, &team, &quota);
    let mut body = job(&json!({ "WorkspaceId": team, "ResourceId": quota }));
    body["JobSpecs"][0]["PodCount"] = json!(2);
    let job = id(&office.get("CreateJob", "/api/v1/jobs", &body), "JobId");
    office.report(&job, &json!("confirmed"));
    office.print(&job, "[0] one\n[1] eins\n[0] [1] two\n[1] zwei\nloose\n", false, false);
    let listed = office.get("GetJob", &format!("/api/v1/jobs/{job}"), &NOTHING);
    let pods: Vec<String> = (0..2).map(|at| id(&listed["Pods"][at], "PodId")).collect();
    let mut lines = |pod: &str, query: &str| asked(&mut office, &job, pod, query).1["Logs"].clone();
    assert_eq!(lines(&pods[0], ""), json!(["one", "[1] two", "loose"]));
    assert_eq!(lines(&pods[1], ""), json!(["eins", "zwei"]));
    assert_eq!(lines(&pods[1], "MaxLines=1"), json!(["zwei"]));
}

/// What a job prints, asked for once.
pub(crate) fn told(office: &mut Office) -> Value {
    let (job, pod) = submitted(office);
    office.report(&job, &json!("confirmed"));
    office.print(&job, "one\n", false, false);
    asked(office, &job, &pod, "").1
}

#[test]
fn a_pod_tells_the_last_lines_of_its_job() {
    let mut office = Office::new();
    let (job, pod) = submitted(&mut office);
    assert_eq!(asked(&mut office, &job, &pod, "").1["Logs"], json!([]), "it has not started");
    office.report(&job, &json!("confirmed"));
    office.print(&job, "one\ntwo\nthree\n", false, false);
    let (status, told) = asked(&mut office, &job, &pod, "");
    assert_eq!((status, &told["Logs"]), (200, &json!(["one", "two", "three"])), "{told}");
    assert_eq!((id(&told, "JobId"), id(&told, "PodId")), (job.clone(), pod.clone()));
    let listed = office.get("GetJob", &format!("/api/v1/jobs/{job}"), &NOTHING);
    assert_eq!(told["PodUid"], listed["Pods"][0]["PodUid"]);
    assert_eq!(asked(&mut office, &job, &pod, "MaxLines=2").1["Logs"], json!(["two", "three"]));
    office.print(&job, "half\nwhole\n", true, false);
    assert_eq!(asked(&mut office, &job, &pod, "").1["Logs"], json!(["whole"]), "no line that begins in its middle");
}

#[test]
fn a_job_that_waits_again_tells_what_its_last_run_has_printed() {
    let mut office = Office::new();
    let (job, pod) = submitted(&mut office);
    office.report(&job, &json!("confirmed"));
    office.print(&job, "first\n", false, false);
    let first = id(&asked(&mut office, &job, &pod, "").1, "PodUid");
    office.report(&job, &json!({ "failed": { "reason": "the node is gone", "fault": "node" } }));
    office.print(&job, "first\n", false, true);
    let (_, told) = asked(&mut office, &job, &pod, &format!("PodUid={first}"));
    assert_eq!((&told["Logs"], id(&told, "PodUid")), (&json!(["first"]), first.clone()));

    office.report(&job, &json!("confirmed"));
    office.print(&job, "second\n", false, false);
    let (_, told) = asked(&mut office, &job, &pod, "");
    assert_eq!(told["Logs"], json!(["second"]));
    assert_ne!(id(&told, "PodUid"), first);
    let refused = refusal(&mut office, &job, &pod, &format!("PodUid={first}"));
    assert_eq!(
        refused,
        format!("404 LogNotFound: what pod {first} has printed is not kept; the newest log is that of {pod}-1")
    );
}

#[test]
fn what_cannot_be_told_is_refused() {
    let mut office = Office::new();
    let (job, pod) = submitted(&mut office);
    office.report(&job, &json!("confirmed"));
    let ask = |office: &mut Office, pod: &str, query: &str| refusal(office, &job, pod, query);
    let times = "what a job prints is kept without times; MaxLines says how many of its last lines are told";
    for (query, why) in [
        ("StartTime=2026-01-02T03:04:05Z", times),
        ("EndTime=2026-01-02T03:04:05Z", times),
        ("DownloadToFile=true", "the answer has the lines; files are not made here"),
        ("Containers=main", "a pod is one command here, without containers"),
    ] {
        let field = query.split('=').next().unwrap();
        let expected = format!("400 UnsupportedOperation: GetPodLogs with {field} is not served here: {why}");
        assert_eq!(ask(&mut office, &pod, query), expected);
    }
    assert!(ask(&mut office, &pod, "MaxLines=0").starts_with("400 InvalidParameter"));
    assert_eq!(ask(&mut office, "no-such", ""), "404 PodNotFound: there is no pod no-such");
    assert_eq!(ask(&mut office, &pod, "PodUid=x"), "404 PodNotFound: there is no pod x");
    let nothing = format!("404 LogNotFound: nothing is kept of what job {job} has printed");
    assert_eq!(ask(&mut office, &pod, ""), nothing);

    office.print(&job, "secret\n", false, false);
    office.sent_by(Sender { user: UserId::new("2000").unwrap(), administers: false });
    assert_eq!(ask(&mut office, &pod, ""), format!("404 JobNotFound: there is no job {job}"));
}

#[test]
fn a_simulated_job_prints_nothing() {
    let mut office = Office::new();
    let (team, quota) = (workspace(&mut office, "team"), quota(&mut office, 2));
    attach(&mut office, &team, &quota);
    let body = job(&json!({ "WorkspaceId": team, "ResourceId": quota }));
    let job = id(&office.get("CreateJob", "/api/v1/jobs", &body), "JobId");
    let told = office.get("GetJob", &format!("/api/v1/jobs/{job}"), &NOTHING);
    let refused = refusal(&mut office, &job, &id(&told["Pods"][0], "PodId"), "");
    let why = "GetPodLogs is not served for this job: it is simulated, so nothing runs that could print";
    assert_eq!(refused, format!("400 UnsupportedOperation: {why}"));
}
