//! What stories begin with: workspaces, quotas, and the bodies of jobs.

use serde_json::Value;
use serde_json::json;

use crate::office::NODE_TYPE;
use crate::office::Office;

/// A field that is a text.
pub(crate) fn id(told: &Value, field: &str) -> String {
    told[field].as_str().unwrap().to_owned()
}

/// A workspace of that name.
pub(crate) fn workspace(office: &mut Office, name: &str) -> String {
    id(&office.get("CreateWorkspace", "/api/v1/workspaces", &json!({ "WorkspaceName": name })), "WorkspaceId")
}

/// A root quota of so many machines.
pub(crate) fn quota(office: &mut Office, nodes: i64) -> String {
    let min = json!({ "NodeSpecs": [{ "Type": NODE_TYPE, "Count": nodes }] });
    let body = json!({ "QuotaName": "q", "ResourceType": "Lingjun", "Min": min });
    id(&office.get("CreateQuota", "/api/v1/quotas", &body), "QuotaId")
}

/// Attaches a quota to a workspace.
pub(crate) fn attach(office: &mut Office, workspace: &str, quota: &str) {
    let body = json!({ "Resources": [{ "Spec": { "resourceId": quota } }] });
    office.get("CreateWorkspaceResource", &format!("/api/v1/workspaces/{workspace}/resources"), &body);
}

/// A job that asks for a machine, with more fields.
pub(crate) fn job(more: &Value) -> Value {
    let mut job = json!({ "DisplayName": "j", "JobType": "PyTorchJob", "UserCommand": "true",
        "JobSpecs": [{ "PodCount": 1, "ResourceConfig": { "GPU": "8" } }] });
    for (field, value) in more.as_object().unwrap() {
        job[field] = value.clone();
    }
    job
}

/// A job that bids for an instance.
pub(crate) fn bid(instance: &str, spot: &Value) -> Value {
    let network = json!({ "VpcId": "v", "SwitchId": "s", "SecurityGroupId": "g" });
    job(&json!({ "UserVpc": network, "JobSpecs": [{ "EcsSpec": instance, "SpotSpec": spot }] }))
}
