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
use crate::service::context::Context;
use crate::service::context::contains;
use crate::service::context::one_of;
use crate::service::context::paged;
use crate::service::document::Change;
use crate::service::document::Document;
use crate::service::document::Kind;
use crate::service::engine_name;
use crate::service::fallback;
use crate::service::member;

/// The name that no other workspace has; the engine knows a workspace by its id.
const NAME: &str = "WorkspaceName";

pub(super) fn serve(context: &mut Context, operation: WorkspaceOperation) -> Result<Value, Problem> {
    match operation {
        WorkspaceOperation::Create { name, display_name, description, document } => {
            create(context, &name, display_name.as_deref(), description.as_deref(), &document)
        }
        WorkspaceOperation::Get { workspace } => {
            let (id, workspace) = context.workspace(&workspace)?;
            told(context, &id, workspace)
        }
        WorkspaceOperation::List { workspaces, name_part, user, enabled, direction, page } => {
            let mut found = Vec::new();
            for (id, workspace) in context.state()?.workspaces.iter().filter(|(_, workspace)| context.sees(workspace)) {
                let has = |name: &String| workspace.members.keys().any(|member| member.as_str() == name);
                let is_named = one_of(&workspaces, Some(id.as_str())) && user.as_ref().is_none_or(has);
                if enabled && is_named && contains(&name_of(context, id)?, name_part.as_deref()) {
                    found.push((id, workspace));
                }
            }
            sort::by_key(&mut found, |(_, workspace)| workspace.created);
            if direction == Some(Direction::Descending) {
                found.reverse();
            }
            let (page, total) = paged(found, page);
            let one = |(id, workspace): (&WorkspaceId, &Workspace)| told(context, id, workspace);
            let workspaces = page.into_iter().map(one).collect::<Result<Vec<Value>, Problem>>()?;
            Ok(json!({ "Workspaces": workspaces, "TotalCount": total, "ResourceLimits": {} }))
        }
        WorkspaceOperation::Update { workspace, display_name, description } => {
            update(context, &workspace, display_name, description)
        }
        WorkspaceOperation::Delete { workspace } => delete(context, &workspace),
        WorkspaceOperation::AddMembers { workspace, members } => member::add(context, &workspace, &members),
        WorkspaceOperation::ListMembers { workspace, roles, name_part, user, page } => {
            member::list(context, &workspace, &roles, [name_part.as_deref(), user.as_deref()], page)
        }
        WorkspaceOperation::GetMember { workspace, member } => member::get(context, &workspace, &member),
        WorkspaceOperation::RemoveMembers { workspace, members } => member::remove(context, &workspace, &members),
        WorkspaceOperation::AddRole { workspace, member, role } => {
            member::change_role(context, &workspace, &member, role, true)
        }
        WorkspaceOperation::RemoveRole { workspace, member, role } => {
            member::change_role(context, &workspace, &member, role, false)
        }
    }
}

fn create(
    context: &mut Context,
    name: &str,
    display_name: Option<&str>,
    description: Option<&str>,
    document: &Document,
) -> Result<Value, Problem> {
    let id = context.new_number();
    for other in context.state()?.workspaces.keys() {
        if name_of(context, other)? == name {
            let message = format!("there is a workspace {name}; choose another name");
            return Err(Problem::new(409, "WorkspaceNameAlreadyExists", message));
        }
    }
    let mut kept = crate::service::document::kept(document, &[NAME, "DisplayName", "EnvTypes"]);
    kept.insert("Creator".to_owned(), Value::from(context.sender.user.as_str()));
    let put = PutWorkspace {
        workspace: engine_name::name(&id)?,
        name: Some(display_name.unwrap_or(name).into()),
        description: description.map(Into::into),
    };
    context.send(Command::PutWorkspace(put), &[Change::put(Kind::Workspace, &id, &kept)])?;
    Ok(json!({ "WorkspaceId": id }))
}

fn update(
    context: &mut Context,
    name: &str,
    display_name: Option<String>,
    description: Option<String>,
) -> Result<Value, Problem> {
    let (id, workspace) = context.workspace(name)?;
    let put = PutWorkspace {
        workspace: id,
        name: display_name.map(Into::into).or_else(|| workspace.name.clone()),
        description: description.map(Into::into).or_else(|| workspace.description.clone()),
    };
    context.send(Command::PutWorkspace(put), &[])?;
    Ok(json!({}))
}

fn delete(context: &mut Context, name: &str) -> Result<Value, Problem> {
    let (workspace, of) = context.workspace(name)?;
    let state = context.state()?;
    let mut changes = vec![Change::drop(Kind::Workspace, name)];
    changes.extend(of.quotas.iter().map(|no| {
        let quota = state.quotas[no.at()].id.as_str();
        Change::drop(Kind::Resource, &format!("{name}/{quota}"))
    }));
    if fallback::default_workspace(context)?.as_deref() == Some(name) {
        changes.push(fallback::no_default());
    }
    context.send(Command::DeleteWorkspace(DeleteWorkspace { workspace }), &changes)?;
    Ok(json!({}))
}

/// The name for people; of a workspace that has none, the one that no other has.
pub(crate) fn shown_name(context: &Context, id: &WorkspaceId) -> Result<String, Problem> {
    let shown = context.state()?.workspaces.get(id).and_then(|workspace| workspace.name.as_deref());
    shown.map_or_else(|| name_of(context, id), |name| Ok(name.to_owned()))
}

/// The name that no other has; of a workspace that was not made by this contract, its id.
pub(crate) fn name_of(context: &Context, id: &WorkspaceId) -> Result<String, Problem> {
    let document = context.document(Kind::Workspace, id.as_str())?;
    Ok(document.get(NAME).and_then(Value::as_str).unwrap_or(id.as_str()).to_owned())
}

pub(crate) fn told(context: &Context, id: &WorkspaceId, workspace: &Workspace) -> Result<Value, Problem> {
    let mut fields = context.document(Kind::Workspace, id.as_str())?;
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
        "WorkspaceName": name_of(context, id)?,
        "DisplayName": workspace.name.as_deref().unwrap_or(id.as_str()),
        "Description": workspace.description.as_deref(),
        "Status": "ENABLED",
        "IsDefault": fallback::default_workspace(context)?.as_deref() == Some(id.as_str()),
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
