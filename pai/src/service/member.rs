//! Members of workspaces and their roles (`AIWorkspace`). A member is named like the user.

use engine::message::command::Command;
use engine::message::command::people::PutMember;
use engine::message::command::people::RemoveMember;
use engine::unit::id::UserId;
use engine::workspace::role::Role;
use engine::workspace::role::RoleSet;
use engine::workspace::space::Member;
use serde_json::Value;
use serde_json::json;

use crate::calendar;
use crate::operation::page::Page;
use crate::operation::workspace::NewMember;
use crate::operation::workspace::ROLES;
use crate::operation::workspace::RoleName;
use crate::problem::Problem;
use crate::service::context::Context;
use crate::service::context::contains;
use crate::service::context::not_found;
use crate::service::context::paged;
use crate::service::engine_name;

/// The engine's role of a name.
pub(crate) fn role(name: RoleName) -> Role {
    match name {
        RoleName::Guest => Role::Guest,
        RoleName::Developer => Role::Developer,
        RoleName::Operator => Role::Operator,
        RoleName::Administrator => Role::Administrator,
        RoleName::Owner => Role::Owner,
    }
}

/// Names of roles, the highest first.
pub(crate) fn names(roles: RoleSet) -> Vec<&'static str> {
    ROLES.iter().filter(|(_, name)| roles.contains(role(*name))).map(|(name, _)| *name).collect()
}

/// All members or none of them.
pub(super) fn add(context: &mut Context, name: &str, members: &[NewMember]) -> Result<Value, Problem> {
    let (workspace, _) = context.workspace(name)?;
    let (mut commands, mut told) = (Vec::new(), Vec::new());
    for member in members {
        let roles: RoleSet = member.roles.iter().map(|name| role(*name)).collect();
        let user = engine_name::name::<UserId>(&member.user)?;
        let id = user.as_str();
        told.push(json!({ "MemberId": id, "UserId": id, "DisplayName": id, "Roles": names(roles) }));
        commands.push(Command::PutMember(PutMember { workspace: workspace.clone(), user, roles }));
    }
    context.send_all(commands, &[])?;
    Ok(json!({ "Members": told }))
}

pub(super) fn list(
    context: &Context,
    name: &str,
    roles: &[RoleName],
    [name_part, wanted]: [Option<&str>; 2],
    page: Page,
) -> Result<Value, Problem> {
    let (_, workspace) = context.workspace(name)?;
    let has_role = |member: &Member| roles.is_empty() || roles.iter().any(|name| member.roles.contains(role(*name)));
    let members = workspace.members.iter();
    let is_meant = |user: &str| contains(user, name_part) && wanted.is_none_or(|wanted| wanted == user);
    let found = members.filter(|(user, member)| has_role(member) && is_meant(user.as_str()));
    let (page, total) = paged(found.collect(), page);
    let members: Value = page.into_iter().map(|(user, member)| told(user, member)).collect();
    Ok(json!({ "Members": members, "TotalCount": total }))
}

pub(super) fn get(context: &Context, name: &str, member: &str) -> Result<Value, Problem> {
    let (user, member) = find(context, name, member)?;
    Ok(told(&user, &member))
}

pub(super) fn remove(context: &mut Context, name: &str, members: &[String]) -> Result<Value, Problem> {
    let (workspace, _) = context.workspace(name)?;
    let mut commands = Vec::new();
    for member in members {
        let (user, _) = find(context, name, member)?;
        commands.push(Command::RemoveMember(RemoveMember { workspace: workspace.clone(), user }));
    }
    context.send_all(commands, &[])?;
    Ok(json!({}))
}

pub(super) fn change_role(
    context: &mut Context,
    name: &str,
    member: &str,
    changed: RoleName,
    is_given: bool,
) -> Result<Value, Problem> {
    let (workspace, _) = context.workspace(name)?;
    let (user, before) = find(context, name, member)?;
    let changed = role(changed);
    let others = before.roles.iter().filter(|role| *role != changed);
    let roles = others.chain(is_given.then_some(changed)).collect();
    context.send(Command::PutMember(PutMember { workspace, user, roles }), &[])?;
    Ok(json!({}))
}

fn find(context: &Context, name: &str, member: &str) -> Result<(UserId, Member), Problem> {
    let (_, workspace) = context.workspace(name)?;
    let user = UserId::new(member).ok();
    let found = user.and_then(|user| workspace.members.get(&user).map(|member| (user.clone(), *member)));
    found.ok_or_else(|| not_found("Member", "member", member))
}

fn told(user: &UserId, member: &Member) -> Value {
    let user = user.as_str();
    json!({
        "MemberId": user,
        "UserId": user,
        "MemberName": user,
        "DisplayName": user,
        "AccountName": user,
        // An account like any other of the vendor's.
        "AccountType": "5",
        "Roles": names(member.roles),
        "GmtCreateTime": calendar::written(member.since),
    })
}
