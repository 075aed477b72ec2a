//! How long documents stay.

use serde_json::json;

use crate::office::Office;
use crate::things::attach;
use crate::things::id;
use crate::things::quota;
use crate::things::workspace;

#[test]
fn what_is_kept_of_services_and_instances_goes_with_their_last_jobs() {
    let mut office = Office::new();
    let (team, quota) = (workspace(&mut office, "team"), quota(&mut office, 1));
    attach(&mut office, &team, &quota);
    let service = json!({ "metadata": { "name": "chat", "gpu": 1, "cpu": 1, "memory": 1024, "quota_id": quota } });
    office.get("CreateService", &format!("/api/v2/services?WorkspaceId={team}"), &service);
    let instance = json!({ "InstanceName": "dev", "WorkspaceId": team, "ResourceId": quota,
        "RequestedResource": { "GPU": "1", "CPU": "1", "Memory": "1Gi" } });
    let instance = id(&office.get("CreateInstance", "/api/v2/instances", &instance), "InstanceId");
    assert_eq!(office.needless(&office), Vec::<String>::new());
    for action in ["GetJob", "StopJob", "DeleteJob"] {
        let stop = if action == "StopJob" { "/stop" } else { "" };
        let told = office.refusal(action, &format!("/api/v1/jobs/{instance}{stop}"), &json!({}));
        assert!(told.starts_with("404 JobNotFound: "), "the job of an instance is not DLC's: {told}");
    }
    let needless = office.needless(&Office::new());
    for name in ["service/chat".to_owned(), format!("instance/{instance}")] {
        assert!(needless.contains(&name), "{name} in {needless:?}");
    }
}
