//! Workspaces (`AIWorkspace`).

use engine::message::command::Command;
use engine::message::command::people::DeleteWorkspace;
use engine::message::command::people::PutWorkspace;
use engine::unit::id::WorkspaceId;
use engine::unit::sort;
use engine::workspace::role::Role;
use engine::workspace::space::Workspace;
use serde_json::Value;
use serde_json::json;

use crate::calendar;
use crate::operation::page::Direction;
use crate::operation::workspace::WorkspaceOperation;
use crate::problem::Problem;
use crate::service::document::Change;
use crate::service::document::Document;
use crate::service::document::Kind;
use crate::service::engine_name;
use crate::service::fallback;
use crate::service::member;
use crate::service::visit::Visit;
use crate::service::visit::contains;
use crate::service::visit::one_of;
use crate::service::visit::paged;

/// The name that no other workspace has; the engine knows a workspace by its id.
const NAME: &str = "WorkspaceName";

pub(super) fn serve(visit: &mut Visit, operation: WorkspaceOperation) -> Result<Value, Problem> {
    match operation {
        WorkspaceOperation::Create { name, display_name, description, document } => {
            create(visit, &name, display_name.as_deref(), description.as_deref(), &document)
        }
        WorkspaceOperation::Get { workspace } => {
            let (id, workspace) = visit.workspace(&workspace)?;
            told(visit, &id, workspace)
        }
        WorkspaceOperation::List { workspaces, name_part, user, enabled, direction, page } => {
            let mut found = Vec::new();
            for (id, workspace) in visit.state()?.workspaces.iter().filter(|(_, workspace)| visit.sees(workspace)) {
                let has = |name: &String| workspace.members.keys().any(|member| member.as_str() == name);
                let is_named = one_of(&workspaces, Some(id.as_str())) && user.as_ref().is_none_or(has);
                if enabled && is_named && contains(&name_of(visit, id)?, name_part.as_deref()) {
                    found.push((id, workspace));
                }
            }
            sort::by_key(&mut found, |(_, workspace)| workspace.created);
            if direction == Some(Direction::Descending) {
                found.reverse();
            }
            let (page, total) = paged(found, page);
            let one = |(id, workspace): (&WorkspaceId, &Workspace)| told(visit, id, workspace);
            let workspaces = page.into_iter().map(one).collect::<Result<Vec<Value>, Problem>>()?;
            Ok(json!({ "Workspaces": workspaces, "TotalCount": total, "ResourceLimits": {} }))
        }
        WorkspaceOperation::Update { workspace, display_name, description } => {
            update(visit, &workspace, display_name, description)
        }
        WorkspaceOperation::Delete { workspace } => delete(visit, &workspace),
        WorkspaceOperation::AddMembers { workspace, members } => member::add(visit, &workspace, &members),
        WorkspaceOperation::ListMembers { workspace, roles, name_part, user, page } => {
            member::list(visit, &workspace, &roles, [name_part.as_deref(), user.as_deref()], page)
        }
        WorkspaceOperation::GetMember { workspace, member } => member::get(visit, &workspace, &member),
        WorkspaceOperation::RemoveMembers { workspace, members } => member::remove(visit, &workspace, &members),
        WorkspaceOperation::AddRole { workspace, member, role } => {
            member::change_role(visit, &workspace, &member, role, true)
        }
        WorkspaceOperation::RemoveRole { workspace, member, role } => {
            member::change_role(visit, &workspace, &member, role, false)
        }
    }
}

fn create(
    visit: &mut Visit,
    name: &str,
    display_name: Option<&str>,
    description: Option<&str>,
    document: &Document,
) -> Result<Value, Problem> {
    let id = visit.new_number();
    for other in visit.state()?.workspaces.keys() {
        if name_of(visit, other)? == name {
            let message = format!("there is a workspace {name}; choose another name");
            return Err(Problem::new(409, "WorkspaceNameAlreadyExists", message));
        }
    }
    let mut kept = crate::service::document::kept(document, &[NAME, "DisplayName", "EnvTypes"]);
    kept.insert("Creator".to_owned(), Value::from(visit.sender.user.as_str()));
    let put = PutWorkspace {
        workspace: engine_name::name(&id)?,
        name: Some(display_name.unwrap_or(name).into()),
        description: description.map(Into::into),
    };
    visit.send(Command::PutWorkspace(put), &[Change::put(Kind::Workspace, &id, &kept)])?;
    Ok(json!({ "WorkspaceId": id }))
}

fn update(
    visit: &mut Visit,
    name: &str,
    display_name: Option<String>,
    description: Option<String>,
) -> Result<Value, Problem> {
    let (id, workspace) = visit.workspace(name)?;
    let put = PutWorkspace {
        workspace: id,
        name: display_name.map(Into::into).or_else(|| workspace.name.clone()),
        description: description.map(Into::into).or_else(|| workspace.description.clone()),
    };
    visit.send(Command::PutWorkspace(put), &[])?;
    Ok(json!({}))
}

fn delete(visit: &mut Visit, name: &str) -> Result<Value, Problem> {
    let (workspace, of) = visit.workspace(name)?;
    let state = visit.state()?;
    let mut changes = vec![Change::drop(Kind::Workspace, name)];
    changes.extend(of.quotas.iter().map(|no| {
        let quota = state.quotas[no.at()].id.as_str();
        Change::drop(Kind::Resource, &format!("{name}/{quota}"))
    }));
    if fallback::default_workspace(visit)?.as_deref() == Some(name) {
        changes.push(fallback::no_default());
    }
    visit.send(Command::DeleteWorkspace(DeleteWorkspace { workspace }), &changes)?;
    Ok(json!({}))
}

/// The name for people; of a workspace that has none, the one that no other has.
pub(crate) fn shown_name(visit: &Visit, id: &WorkspaceId) -> Result<String, Problem> {
    let shown = visit.state()?.workspaces.get(id).and_then(|workspace| workspace.name.as_deref());
    shown.map_or_else(|| name_of(visit, id), |name| Ok(name.to_owned()))
}

/// The name that no other has; of a workspace that was not made by this contract, its id.
pub(crate) fn name_of(visit: &Visit, id: &WorkspaceId) -> Result<String, Problem> {
    let document = visit.document(Kind::Workspace, id.as_str())?;
    Ok(document.get(NAME).and_then(Value::as_str).unwrap_or(id.as_str()).to_owned())
}

pub(crate) fn told(visit: &Visit, id: &WorkspaceId, workspace: &Workspace) -> Result<Value, Problem> {
    let mut fields = visit.document(Kind::Workspace, id.as_str())?;
    let created = calendar::written(workspace.created);
    let with_role = |wanted: &[Role]| {
        let has = |role: &&Role| wanted.contains(role);
        let members = workspace
            .members
            .iter()
            .filter(|(_, member)| wanted.iter().filter(has).any(|role| member.roles.contains(*role)));
        members.map(|(user, _)| user.as_str().to_owned()).collect::<Vec<_>>()
    };
    let owner = with_role(&[Role::Owner]).into_iter().next();
    let told = json!({
        "WorkspaceId": id.as_str(),
        "WorkspaceName": name_of(visit, id)?,
        "DisplayName": workspace.name.as_deref().unwrap_or(id.as_str()),
        "Description": workspace.description.as_deref(),
        "Status": "ENABLED",
        "IsDefault": fallback::default_workspace(visit)?.as_deref() == Some(id.as_str()),
        "AdminNames": with_role(&[Role::Owner, Role::Administrator]),
        "Owner": owner.map(|user| json!({ "UserId": user, "UserName": user, "DisplayName": user })),
        "GmtCreateTime": created,
        "GmtModifiedTime": created,
        "ExtraInfos": {},
    });
    if let Value::Object(told) = told {
        fields.extend(told);
    }
    Ok(Value::Object(fields))
}
