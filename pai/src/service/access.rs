//! Who may do what, as the engine's own table says, and the workspace that is meant when none is named.

use engine::workspace::may::Operation;
use engine::workspace::may::Relation;
use engine::workspace::may::one_may;
use engine::workspace::role::RoleSet;
use serde_json::Value;
use serde_json::json;

use crate::operation::access::AccessOperation;
use crate::operation::workspace::ROLES;
use crate::operation::workspace::RoleName;
use crate::problem::Problem;
use crate::service::context::Context;
use crate::service::context::contains;
use crate::service::context::not_found;
use crate::service::context::one_of;
use crate::service::context::paged;
use crate::service::fallback;
use crate::service::member;
use crate::service::workspace;

/// The contract's names of what the engine's table allows.
const CODES: [(&str, Operation); 14] = [
    ("PaiDLC:GetJob", Operation::SeeJob),
    ("PaiDLC:CreateJob", Operation::SubmitJob),
    ("PaiDLC:StopJob", Operation::CancelJob),
    ("PaiDLC:UpdateJob", Operation::SetPriority),
    ("PaiWorkspace:GetWorkspace", Operation::SeeWorkspace),
    ("PaiWorkspace:CreateWorkspace", Operation::CreateWorkspace),
    ("PaiWorkspace:UpdateWorkspace", Operation::UpdateWorkspace),
    ("PaiWorkspace:DeleteWorkspace", Operation::DeleteWorkspace),
    ("PaiWorkspace:CreateMember", Operation::PutMember),
    ("PaiWorkspace:DeleteMembers", Operation::RemoveMember),
    ("PaiWorkspace:CreateWorkspaceResource", Operation::AttachQuota),
    ("PaiQuota:GetQuota", Operation::SeeAmounts),
    ("PaiQuota:UpdateQuota", Operation::UpdateQuota),
    ("PaiQuota:ScaleQuota", Operation::ShapeQuota),
];

pub(super) fn serve(context: &mut Context, operation: AccessOperation) -> Result<Value, Problem> {
    match operation {
        AccessOperation::Permissions { workspace, code } => permissions(context, &workspace, code.as_deref()),
        AccessOperation::Users { workspace, name_part, user } => {
            let (_, of) = context.workspace(&workspace)?;
            let is_meant = |name: &str| {
                contains(name, name_part.as_deref()) && user.as_deref().is_none_or(|wanted| wanted == name)
            };
            let named = of.members.keys().filter(|user| is_meant(user.as_str()));
            let users: Vec<Value> =
                named.map(|user| json!({ "UserId": user.as_str(), "UserName": user.as_str() })).collect();
            Ok(json!({ "TotalCount": users.len(), "Users": users }))
        }
        AccessOperation::Roles { workspace, among, name, enabled, page } => {
            context.workspace(&workspace)?;
            let is_meant =
                |id: &str| enabled && one_of(&among, Some(id)) && name.as_deref().is_none_or(|wanted| wanted == id);
            let named = ROLES.iter().filter(|(id, _)| is_meant(id));
            let (page, total) = paged(named.collect(), page);
            Ok(json!({ "TotalCount": total, "Roles": page.into_iter().map(role).collect::<Vec<Value>>() }))
        }
        AccessOperation::Role { workspace, role: id } => {
            context.workspace(&workspace)?;
            let found = ROLES.iter().find(|(name, _)| *name == id);
            found.map(role).ok_or_else(|| not_found("Role", "role", &id))
        }
        AccessOperation::Configs { workspace } => {
            context.workspace(&workspace)?;
            // No limit by configuration is in force, because none is accepted.
            Ok(json!({ "Configs": [], "TotalCount": 0 }))
        }
        AccessOperation::GetDefault => {
            let name = fallback::default_workspace(context)?
                .ok_or_else(|| not_found("Workspace", "workspace", "by default"))?;
            let (id, of) = context.workspace(&name)?;
            workspace::told(context, &id, of)
        }
        AccessOperation::SetDefault { workspace } => set_default(context, &workspace),
        AccessOperation::WarehouseQuotas => Ok(json!({ "Quotas": [], "TotalCount": 0 })),
    }
}

fn permissions(context: &Context, name: &str, code: Option<&str>) -> Result<Value, Problem> {
    let (_, workspace) = context.workspace(name)?;
    let allowed = allowed(context.roles(workspace));
    match code {
        None => Ok(json!({ "TotalCount": allowed.len(), "Permissions": allowed })),
        Some(code) => {
            let found = allowed.into_iter().find(|permission| permission["PermissionCode"] == code);
            found.ok_or_else(|| Problem::new(403, "Forbidden", format!("{code} is not allowed to your roles")))
        }
    }
}

/// What roles allow: on everything in the workspace, or on what one has made.
fn allowed(roles: RoleSet) -> Vec<Value> {
    let one = |(code, operation): &(&str, Operation)| {
        let reaches = |relation| one_may(roles, *operation, relation).is_ok();
        let reach = if reaches(Relation::Workspace) {
            "ANY"
        } else if reaches(Relation::Own) {
            "CREATOR"
        } else {
            return None;
        };
        let rule = json!({ "Accessibility": "ANY", "EntityAccessType": reach });
        Some(json!({ "PermissionCode": code, "PermissionRules": [rule] }))
    };
    CODES.iter().filter_map(one).collect()
}

/// A role with what it may do.
fn role((id, name): &(&str, RoleName)) -> Value {
    let permissions = allowed([member::role(*name)].into_iter().collect());
    json!({
        "RoleId": id,
        "RoleName": id,
        "Status": "ENABLED",
        "ModulePermissions": [{ "ModuleName": "PAI", "PermissionType": "SYSTEM", "Permissions": permissions }],
    })
}

fn set_default(context: &mut Context, name: &str) -> Result<Value, Problem> {
    context.workspace(name)?;
    if !context.sender.administers {
        let message = "the default workspace is the whole cluster's; its administrator sets it";
        return Err(Problem::new(403, "Forbidden", message));
    }
    context.keep(&[fallback::new_default(name)])?;
    Ok(json!({}))
}
