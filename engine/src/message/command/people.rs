//! Commands about workspaces, who belongs to them, and the keys by which people are known (rules 9.1).

use std::sync::Arc;

use serde::Deserialize;
use serde::Serialize;

use crate::unit::id::GroupId;
use crate::unit::id::QuotaId;
use crate::unit::id::UserId;
use crate::unit::id::WorkspaceId;
use crate::unit::time::Millis;
use crate::unit::time::Timestamp;
use crate::workspace::key::KeyId;
use crate::workspace::role::RoleSet;

/// Adds or changes a workspace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DeleteWorkspace {
    /// The workspace.
    pub workspace: WorkspaceId,
}

/// Attaches a quota to a workspace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct AttachQuota {
    /// The workspace.
    pub workspace: WorkspaceId,
    /// The quota.
    pub quota: QuotaId,
}

/// Detaches a quota from a workspace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DetachQuota {
    /// The workspace.
    pub workspace: WorkspaceId,
    /// The quota.
    pub quota: QuotaId,
}

/// Adds or changes a member.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RemoveMember {
    /// The workspace.
    pub workspace: WorkspaceId,
    /// Who.
    pub user: UserId,
}

/// Creates an access key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CreateKey {
    /// Its name, chosen by the sender; no key has it again.
    pub key: KeyId,
    /// Whose it is.
    pub user: UserId,
    /// Whether it administers the cluster.
    #[serde(default)]
    pub administers: bool,
    /// When it ends, if it is a temporary one.
    #[serde(default)]
    pub expires: Option<Timestamp>,
    /// Of an agent: the groups on whose nodes it runs jobs. Such a key is good for that and for nothing else.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub serves: Vec<GroupId>,
    /// Of an agent: the workspaces for which it may submit and cancel what people have submitted to its machines' own
    /// scheduler, in their names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub adopts: Vec<WorkspaceId>,
}

/// Gives an access key a new secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RotateKey {
    /// The key.
    pub key: KeyId,
    /// How much longer the secret before the new one serves; at most a week.
    #[serde(default)]
    pub overlap_ms: Millis,
}

/// Ends an access key for ever.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RevokeKey {
    /// The key.
    pub key: KeyId,
}
