//! Services that are replaced by another run of themselves: what is asked for happens in one step.

use serde_json::Value;
use serde_json::json;

use crate::office::Office;
use crate::things::attach;
use crate::things::id;
use crate::things::job;
use crate::things::quota;
use crate::things::workspace;

const SERVICE: &str = "/api/v2/services/local/chat";
const NOTHING: Value = Value::Null;

/// A service on all that its quota has, and a job of lower priority that waits for the same.
fn contested(office: &mut Office) -> String {
    let (team, quota) = (workspace(office, "team"), quota(office, 1));
    attach(office, &team, &quota);
    let service = json!({ "metadata": { "name": "chat", "gpu": 8, "cpu": 8, "memory": 1500, "quota_id": quota },
        "options": { "priority": 9 } });
    office.get("CreateService", &format!("/api/v2/services?WorkspaceId={team}"), &service);
    let body = job(&json!({ "WorkspaceId": team, "ResourceId": quota, "Priority": 1 }));
    id(&office.get("CreateJob", "/api/v1/jobs", &body), "JobId")
}

#[test]
fn nobody_takes_a_service_s_place_while_it_is_replaced() {
    let mut office = Office::new();
    let waits = contested(&mut office);
    for (action, target, body) in [
        ("UpdateService", SERVICE.to_owned(), json!({ "metadata": { "cpu": 16 } })),
        ("RestartService", format!("{SERVICE}/restart"), NOTHING),
    ] {
        office.get(action, &target, &body);
        office.tick();
        let told = office.get("DescribeService", SERVICE, &NOTHING);
        assert_eq!(id(&told, "Status"), "Running", "{action}: {told}");
        let told = office.get("GetJob", &format!("/api/v1/jobs/{waits}"), &NOTHING);
        assert_eq!(id(&told, "Status"), "Queuing", "{action}: {told}");
    }
}

#[test]
fn a_service_that_cannot_be_replaced_goes_on() {
    let mut office = Office::new();
    contested(&mut office);
    let told = office.get("DescribeService", SERVICE, &NOTHING);
    let refused = office.refusal("UpdateService", SERVICE, &json!({ "metadata": { "quota_id": "nowhere" } }));
    assert_eq!(refused, "404 QuotaNotFound: there is no quota nowhere");
    assert_eq!(
        without_request(office.get("DescribeService", SERVICE, &NOTHING)),
        without_request(told),
        "nothing has changed"
    );
}

fn without_request(mut told: Value) -> Value {
    told["RequestId"] = NOTHING;
    told
}
