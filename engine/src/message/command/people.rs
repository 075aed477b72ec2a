//! Commands about workspaces and who belongs to them (semantics section 9).

use std::sync::Arc;

use serde::Deserialize;
use serde::Serialize;

use crate::unit::id::QuotaId;
use crate::unit::id::UserId;
use crate::unit::id::WorkspaceId;
use crate::workspace::role::RoleSet;

/// Adds or changes a workspace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PutWorkspace {
    /// Its name, chosen by the sender.
    pub workspace: WorkspaceId,
    /// A name for people.
    #[serde(default)]
    pub name: Option<Arc<str>>,
    /// What it is for.
    #[serde(default)]
    pub description: Option<Arc<str>>,
}

/// Removes a workspace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeleteWorkspace {
    /// The workspace.
    pub workspace: WorkspaceId,
}

/// Attaches a quota to a workspace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AttachQuota {
    /// The workspace.
    pub workspace: WorkspaceId,
    /// The quota.
    pub quota: QuotaId,
}

/// Detaches a quota from a workspace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DetachQuota {
    /// The workspace.
    pub workspace: WorkspaceId,
    /// The quota.
    pub quota: QuotaId,
}

/// Adds or changes a member.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PutMember {
    /// The workspace.
    pub workspace: WorkspaceId,
    /// Who.
    pub user: UserId,
    /// All their roles; at least one.
    pub roles: RoleSet,
}

/// Removes a member.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RemoveMember {
    /// The workspace.
    pub workspace: WorkspaceId,
    /// Who.
    pub user: UserId,
}
