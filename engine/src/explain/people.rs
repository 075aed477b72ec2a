//! Sentences about workspaces and who belongs to them.

use crate::unit::id::GroupId;
use crate::unit::id::UserId;
use crate::unit::id::WorkspaceId;
use crate::unit::time::Timestamp;
use crate::workspace::key::AccessKey;
use crate::workspace::key::KeyId;
use crate::workspace::role::Role;
use crate::workspace::role::RoleSet;

pub(super) fn attached(quota: &str, workspace: &WorkspaceId) -> String {
    format!("{quota} was attached to workspace {workspace}")
}

pub(super) fn detached(quota: &str, workspace: &WorkspaceId) -> String {
    format!("{quota} was detached from workspace {workspace}")
}

pub(super) fn member(user: &UserId, roles: RoleSet, workspace: &WorkspaceId) -> String {
    let roles: Vec<&str> = roles.iter().map(Role::as_str).collect();
    format!("{user} is {} of workspace {workspace} now", roles.join(" and "))
}

pub(super) fn key(id: &KeyId, at: Timestamp, is_now: &AccessKey) -> String {
    match is_now {
        AccessKey { is_revoked: true, owner, .. } => format!("key {id} of {owner} was revoked"),
        AccessKey { created, serves, .. } if *created == at && is_now.is_agent() => {
            let groups: Vec<&str> = serves.iter().map(GroupId::as_str).collect();
            format!("key {id} was created for an agent on {}", groups.join(", "))
        }
        AccessKey { created, owner, .. } if *created == at => format!("key {id} was created for {owner}"),
        AccessKey { owner, .. } => format!("key {id} of {owner} has a new secret"),
    }
}
