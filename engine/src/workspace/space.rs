//! A workspace: its members and its quotas.

use std::sync::Arc;

use serde::Deserialize;
use serde::Serialize;

use crate::unit::id::QuotaNo;
use crate::unit::id::UserId;
use crate::unit::ordered::Map;
use crate::unit::ordered::Set;
use crate::unit::time::Timestamp;
use crate::workspace::role::RoleSet;

/// A workspace. Its jobs run in the quotas that are attached to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Workspace {
    /// When it was created.
    pub created: Timestamp,
    /// A name for people.
    pub name: Option<Arc<str>>,
    /// What it is for.
    pub description: Option<Arc<str>>,
    /// The quotas that are attached to it.
    pub quotas: Set<QuotaNo>,
    /// Its members.
    pub members: Map<UserId, Member>,
}

/// Somebody in a workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Member {
    /// Since when.
    pub since: Timestamp,
    /// What they may do.
    pub roles: RoleSet,
}

impl Workspace {
    /// An empty one.
    #[must_use]
    pub fn new(created: Timestamp) -> Self {
        Self { created, name: None, description: None, quotas: Set::new(), members: Map::new() }
    }

    /// The roles of a user; none for somebody who is not a member.
    #[must_use]
    pub fn roles(&self, user: &UserId) -> RoleSet {
        self.members.get(user).map(|member| member.roles).unwrap_or_default()
    }
}
