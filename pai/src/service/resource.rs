//! Resources of a workspace (`AIWorkspace`): each is a quota that is attached to it.

use engine::message::command::Command;
use engine::message::command::people::AttachQuota;
use engine::message::command::people::DetachQuota;
use engine::state::world::State;
use engine::unit::id::QuotaNo;
use engine::unit::id::WorkspaceId;
use engine::workspace::space::Workspace;
use serde_json::Value;
use serde_json::json;

use crate::calendar;
use crate::operation::resource::Chosen;
use crate::operation::resource::NewResource;
use crate::operation::resource::ResourceOperation;
use crate::problem::Problem;
use crate::service::context::Context;
use crate::service::context::is_labelled;
use crate::service::context::not_found;
use crate::service::context::one_of;
use crate::service::context::paged;
use crate::service::context::word_of;
use crate::service::document;
use crate::service::document::Change;
use crate::service::document::Document;
use crate::service::document::Kind;
use crate::service::job::view::kind_of_quota;
use crate::service::job::view::machine_word;
use crate::service::named::quota_name;

/// What answers repeat of a request.
const KEPT: [&str; 7] = ["Name", "GroupName", "EnvType", "ResourceType", "IsDefault", "Spec", "Labels"];

pub(super) fn serve(context: &mut Context, operation: ResourceOperation) -> Result<Value, Problem> {
    match operation {
        ResourceOperation::Attach { workspace, resources } => attach(context, &workspace, &resources),
        ResourceOperation::Update { workspace, chosen, changes } => update(context, &workspace, &chosen, &changes),
        ResourceOperation::Detach { workspace, chosen } => detach(context, &workspace, &chosen),
        ResourceOperation::List { workspace, types, name, group, quotas, labels, page } => {
            let mut found = Vec::new();
            for (id, of) in &context.state()?.workspaces {
                if context.sees(of) && workspace.as_ref().is_none_or(|name| name == id.as_str()) {
                    found.extend(of.quotas.iter().map(|no| told(context, id, *no)).collect::<Result<Vec<_>, _>>()?);
                }
            }
            if let Some(name) = &workspace {
                context.workspace(name)?;
            }
            let is = |resource: &Value, field: &str, wanted: &Option<String>| {
                wanted.as_ref().is_none_or(|wanted| resource[field].as_str() == Some(wanted))
            };
            found.retain(|resource| {
                let kind = resource["ResourceType"].as_str().unwrap_or_default();
                word_of(&types, kind)
                    && one_of(&quotas, resource["Spec"]["resourceId"].as_str())
                    && is(resource, "Name", &name)
                    && is(resource, "GroupName", &group)
                    && resource.as_object().is_some_and(|fields| is_labelled(fields, "Labels", &labels))
            });
            let (page, total) = paged(found, page);
            Ok(json!({ "Resources": page, "TotalCount": total }))
        }
    }
}

/// The name of the document on an attachment, which is its resource's id as well: it never changes.
fn id_of(workspace: &WorkspaceId, quota: &str) -> String {
    format!("{workspace}/{quota}")
}

/// All quotas or none of them: each is tried before the first is attached.
fn attach(context: &mut Context, name: &str, resources: &[NewResource]) -> Result<Value, Problem> {
    let (workspace, _) = context.workspace(name)?;
    let (mut commands, mut changes, mut told) = (Vec::new(), Vec::new(), Vec::new());
    for NewResource { quota, resource_type, document } in resources {
        let state = context.state()?;
        let no = context.quota(quota)?;
        check_kind(state, no, resource_type.as_deref())?;
        let id = id_of(&workspace, quota);
        let mut kept = document::kept(document, &KEPT);
        kept.insert("GmtCreateTime".to_owned(), Value::from(calendar::written(context.now)));
        let quota = state.quotas[no.at()].id.clone();
        commands.push(Command::AttachQuota(AttachQuota { workspace: workspace.clone(), quota }));
        changes.push(Change::put(Kind::Resource, &id, &kept));
        told.push(json!({ "Id": id }));
    }
    context.send_all(commands, &changes)?;
    Ok(json!({ "TotalCount": told.len(), "Resources": told }))
}

/// Machines of one kind are not attached as those of another.
fn check_kind(state: &State, no: QuotaNo, sent: Option<&str>) -> Result<(), Problem> {
    let known = machine_word(kind_of_quota(state, no));
    let sent = sent.unwrap_or(known);
    if sent == known {
        return Ok(());
    }
    let quota = state.quotas[no.at()].id.as_str();
    let message = format!("ResourceType is {sent:?}; the machines of quota {quota} are {known}");
    Err(Problem::new(400, "InvalidParameter", message))
}

/// A resource stays the quota that it is.
fn check_quota(state: &State, no: QuotaNo, fields: &Document) -> Result<(), Problem> {
    let sent = fields.get("Spec").and_then(|spec| spec.get("resourceId")?.as_str());
    let quota = state.quotas[no.at()].id.as_str();
    match sent.filter(|sent| *sent != quota) {
        None => Ok(()),
        Some(sent) => {
            let message = format!("Spec.resourceId is {sent:?}; the resource is quota {quota}, attach another one");
            Err(Problem::new(400, "InvalidParameter", message))
        }
    }
}

fn update(context: &mut Context, name: &str, chosen: &Chosen, fields: &Document) -> Result<Value, Problem> {
    let mut changes = Vec::new();
    let mut ids = Vec::new();
    for (id, no) in choose(context, name, chosen)? {
        check_quota(context.state()?, no, fields)?;
        let mut document = context.document(Kind::Resource, &id)?;
        document.extend(fields.clone());
        changes.push(Change::put(Kind::Resource, &id, &document));
        ids.push(id);
    }
    // Who may attach a quota may say what the attachment is called.
    let (workspace, of) = context.workspace(name)?;
    if let Some(no) = of.quotas.first() {
        let quota = context.state()?.quotas[no.at()].id.clone();
        context.try_out(Command::AttachQuota(AttachQuota { workspace, quota }))?;
    }
    context.keep(&changes)?;
    Ok(json!({ "ResourceIds": ids }))
}

fn detach(context: &mut Context, name: &str, chosen: &Chosen) -> Result<Value, Problem> {
    let (workspace, _) = context.workspace(name)?;
    let (mut commands, mut changes, mut ids) = (Vec::new(), Vec::new(), Vec::new());
    for (id, no) in choose(context, name, chosen)? {
        let quota = context.state()?.quotas[no.at()].id.clone();
        commands.push(Command::DetachQuota(DetachQuota { workspace: workspace.clone(), quota }));
        changes.push(Change::drop(Kind::Resource, &id));
        ids.push(id);
    }
    context.send_all(commands, &changes)?;
    Ok(json!({ "ResourceIds": ids }))
}

/// The resources that are meant, with their quotas.
fn choose(context: &Context, name: &str, chosen: &Chosen) -> Result<Vec<(String, QuotaNo)>, Problem> {
    let (workspace, of): (WorkspaceId, &Workspace) = context.workspace(name)?;
    let mut found = Vec::new();
    for no in &of.quotas {
        let resource = told(context, &workspace, *no)?;
        let id = resource["Id"].as_str().unwrap_or_default().to_owned();
        let is_in_group = chosen.group.is_some() && resource["GroupName"].as_str() == chosen.group.as_deref();
        let kind = resource["ResourceType"].as_str().unwrap_or_default();
        let is_of_kind = chosen.resource_type.as_ref().is_none_or(|wanted| wanted.eq_ignore_ascii_case(kind));
        if is_of_kind && (is_in_group || chosen.resources.contains(&id)) {
            found.push((id, *no));
        }
    }
    if found.is_empty() {
        let asked = chosen.group.clone().into_iter().chain(chosen.resources.iter().cloned());
        let kind = chosen.resource_type.as_ref().map(|kind| format!(" of ResourceType {kind:?}")).unwrap_or_default();
        let asked = format!("{}{kind}", asked.collect::<Vec<_>>().join(", "));
        return Err(not_found("Resource", "resource", &asked));
    }
    Ok(found)
}

fn told(context: &Context, workspace: &WorkspaceId, no: QuotaNo) -> Result<Value, Problem> {
    let state = context.state()?;
    let quota = &state.quotas[no.at()];
    let id = id_of(workspace, quota.id.as_str());
    let fields = context.document(Kind::Resource, &id)?;
    let shown = quota_name(context, quota)?;
    let or = |field: &str, other: Value| fields.get(field).cloned().unwrap_or(other);
    let mut spec = or("Spec", json!({ "clusterType": "private", "resourceName": shown }));
    spec["resourceId"] = Value::from(quota.id.as_str());
    Ok(json!({
        "Id": id,
        "WorkspaceId": workspace.as_str(),
        "Name": or("Name", Value::from(shown.as_str())),
        "GroupName": or("GroupName", Value::from(shown.as_str())),
        "EnvType": or("EnvType", Value::from("prod")),
        "ResourceType": machine_word(kind_of_quota(state, no)),
        "IsDefault": or("IsDefault", Value::from(false)),
        "Labels": or("Labels", json!([])),
        "Quotas": [],
        "Spec": spec,
        "GmtCreateTime": fields.get("GmtCreateTime"),
    }))
}
