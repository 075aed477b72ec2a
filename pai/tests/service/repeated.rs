//! What is kept of a request for the operator of the machines is repeated as it was sent.

use pai::operation::sent::Field;
use pai::operation::sent::Sent;
use pai::operation::sent::Use;
use pai::operation::table::ROWS;
use serde_json::Value;
use serde_json::json;

use crate::fields::Field as OnRecord;
use crate::fields::Record;
use crate::office::NODE_TYPE;
use crate::office::Office;
use crate::things::attach;
use crate::things::id;
use crate::things::job;
use crate::things::quota;
use crate::things::workspace;

const NOTHING: Value = Value::Null;

/// Sets every field that is kept to a value of its type, wherever it stands, and tells what was set.
fn fill(
    record: &Record,
    version: &str,
    table: &[Field],
    fields: &[OnRecord],
    body: &mut Value,
) -> Vec<(String, Value)> {
    let mut set = Vec::new();
    for field in table {
        let Some((_, of)) = fields.iter().find(|(name, _)| name == field.name) else { continue };
        let pointer = if of.ends_with("[]") && matches!(field.becomes, Use::Inside(_)) {
            format!("/{}/0", field.name)
        } else {
            format!("/{}", field.name)
        };
        match field.becomes {
            Use::Kept => {
                let value = record.sample(version, of);
                body[field.name] = value.clone();
                set.push((pointer, value));
            }
            Use::Inside(inner) => {
                let on_record = record.object(version, of).unwrap();
                let mut object = body.pointer(&pointer).cloned().unwrap_or_else(|| json!({}));
                let inside = fill(record, version, inner, on_record, &mut object);
                if !inside.is_empty() {
                    body[field.name] = if of.ends_with("[]") { json!([object]) } else { object };
                }
                set.extend(inside.into_iter().map(|(rest, value)| (format!("{pointer}{rest}"), value)));
            }
            Use::Read | Use::Always(_) | Use::Only(..) | Use::Refused(_) => {}
        }
    }
    set
}

/// The body with everything in it that is kept of an action, and what that is.
fn filled(version: &str, action: &str, mut body: Value) -> (Value, Vec<(String, Value)>) {
    let record = Record::read();
    let row = ROWS.iter().find(|row| row.action == action).unwrap();
    let Sent::Fields(table) = row.body else { panic!("{action}") };
    let fields = &record.sent[&[version, action, "body"].map(str::to_owned)];
    let set = fill(&record, version, table, fields, &mut body);
    assert!(!set.is_empty(), "{action}");
    (body, set)
}

fn check(action: &str, told: &Value, set: &[(String, Value)]) {
    for (pointer, value) in set {
        let told = told.pointer(pointer);
        // Answers may say more inside of what was sent.
        let is_within = value
            .as_object()
            .zip(told.and_then(Value::as_object))
            .is_some_and(|(sent, told)| sent.iter().all(|(name, value)| told.get(name) == Some(value)));
        assert!(is_within || told == Some(value), "{action} {pointer}: {told:?} for {value}");
    }
}

#[test]
fn of_jobs() {
    let mut office = Office::new();
    let quota = quota(&mut office, 4);
    let (body, set) = filled("2020-12-03", "CreateJob", job(&json!({ "ResourceId": quota })));
    let made = id(&office.get("CreateJob", "/api/v1/jobs", &body), "JobId");
    let path = format!("/api/v1/jobs/{made}");
    check("CreateJob", &office.get("GetJob", &path, &NOTHING), &set);
    let (body, set) = filled("2020-12-03", "UpdateJob", json!({}));
    office.get("UpdateJob", &path, &body);
    check("UpdateJob", &office.get("GetJob", &path, &NOTHING), &set);
}

#[test]
fn of_quotas() {
    let mut office = Office::new();
    let min = json!({ "NodeSpecs": [{ "Type": NODE_TYPE, "Count": 1 }] });
    let body = json!({ "QuotaName": "q", "ResourceType": "Lingjun", "Min": min });
    let (body, set) = filled("2022-01-12", "CreateQuota", body);
    let made = id(&office.get("CreateQuota", "/api/v1/quotas", &body), "QuotaId");
    let path = format!("/api/v1/quotas/{made}");
    check("CreateQuota", &office.get("GetQuota", &path, &NOTHING), &set);
    let (body, set) = filled("2022-01-12", "UpdateQuota", json!({}));
    office.get("UpdateQuota", &path, &body);
    check("UpdateQuota", &office.get("GetQuota", &path, &NOTHING), &set);
}

#[test]
fn of_instances() {
    let mut office = Office::new();
    let quota = quota(&mut office, 4);
    let body = json!({ "InstanceName": "i", "ResourceId": quota, "RequestedResource": { "GPU": "1" } });
    let (body, set) = filled("2022-01-01", "CreateInstance", body);
    let made = id(&office.get("CreateInstance", "/api/v2/instances", &body), "InstanceId");
    let path = format!("/api/v2/instances/{made}");
    check("CreateInstance", &office.get("GetInstance", &path, &NOTHING), &set);
    let (body, set) = filled("2022-01-01", "UpdateInstance", json!({}));
    office.get("UpdateInstance", &path, &body);
    check("UpdateInstance", &office.get("GetInstance", &path, &NOTHING), &set);
}

#[test]
fn of_workspaces_and_their_resources() {
    let mut office = Office::new();
    let (body, set) = filled("2021-02-04", "CreateWorkspace", json!({ "WorkspaceName": "team" }));
    let made = id(&office.get("CreateWorkspace", "/api/v1/workspaces", &body), "WorkspaceId");
    check("CreateWorkspace", &office.get("GetWorkspace", &format!("/api/v1/workspaces/{made}"), &NOTHING), &set);
    let quota = quota(&mut office, 4);
    let body = json!({ "Resources": [{ "Spec": { "resourceId": quota } }] });
    let (body, set) = filled("2021-02-04", "CreateWorkspaceResource", body);
    let path = format!("/api/v1/workspaces/{made}/resources");
    office.get("CreateWorkspaceResource", &path, &body);
    let told = office.get("ListResources", "/api/v1/resources", &NOTHING);
    check("CreateWorkspaceResource", &told, &set);
    let other = workspace(&mut office, "other");
    attach(&mut office, &other, &quota);
    let list = format!("/api/v1/resources?WorkspaceId={other}");
    let resource = id(&office.get("ListResources", &list, &NOTHING)["Resources"][0], "Id");
    let (body, set) = filled("2021-02-04", "UpdateWorkspaceResource", json!({ "ResourceIds": [resource] }));
    office.get("UpdateWorkspaceResource", &format!("/api/v1/workspaces/{other}/resources"), &body);
    check("UpdateWorkspaceResource", &office.get("ListResources", &list, &NOTHING)["Resources"][0], &set);
}
