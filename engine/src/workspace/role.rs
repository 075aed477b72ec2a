//! Roles of a workspace, and sets of them.

use std::fmt;

use serde::Deserialize;
use serde::Serialize;

/// What somebody is allowed to be, from the least to the most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Reads.
    Guest,
    /// Has jobs.
    Developer,
    /// Looks after all jobs of the workspace.
    Operator,
    /// Looks after members, jobs and the scheduling settings of the workspace's quotas.
    Administrator,
    /// The same, and whose workspace it is.
    Owner,
    /// Looks after the whole cluster. Nobody has this role in a workspace.
    ClusterAdministrator,
}

impl Role {
    /// All roles, the least first.
    pub const ALL: [Self; 6] =
        [Self::Guest, Self::Developer, Self::Operator, Self::Administrator, Self::Owner, Self::ClusterAdministrator];

    /// As people call it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Guest => "guest",
            Self::Developer => "developer",
            Self::Operator => "operator",
            Self::Administrator => "administrator",
            Self::Owner => "owner",
            Self::ClusterAdministrator => "cluster administrator",
        }
    }
}

impl Role {
    /// What it is for, in a line.
    #[must_use]
    pub fn about(self) -> &'static str {
        match self {
            Self::Guest => "sees the workspace's jobs and changes nothing",
            Self::Developer => "submits jobs, and cancels, resizes and prioritises their own",
            Self::Operator => "does so with all jobs of the workspace",
            Self::Administrator => "also adds and removes members, and sets the policies of its quotas",
            Self::Owner => "may also delete the workspace",
            Self::ClusterAdministrator => "looks after the whole cluster",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A set of roles. Serialised as the list of its members.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(from = "Vec<Role>", into = "Vec<Role>")]
pub struct RoleSet(u8);

impl RoleSet {
    /// Whether `role` belongs to it.
    #[must_use]
    pub fn contains(self, role: Role) -> bool {
        self.0 & (1 << role as u8) != 0
    }

    /// Its members, the least first.
    #[must_use]
    pub fn iter(self) -> impl DoubleEndedIterator<Item = Role> {
        Role::ALL.into_iter().filter(move |role| self.contains(*role))
    }

    /// Whether it has no member.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The most that it allows.
    #[must_use]
    pub fn highest(self) -> Option<Role> {
        self.iter().next_back()
    }

    /// Those that are in one of the two sets only.
    #[must_use]
    pub fn difference(self, other: Self) -> Self {
        Self(self.0 ^ other.0)
    }
}

impl FromIterator<Role> for RoleSet {
    fn from_iter<I: IntoIterator<Item = Role>>(members: I) -> Self {
        Self(members.into_iter().fold(0, |bits, role| bits | (1 << role as u8)))
    }
}

impl From<Vec<Role>> for RoleSet {
    fn from(members: Vec<Role>) -> Self {
        members.into_iter().collect()
    }
}

impl From<RoleSet> for Vec<Role> {
    fn from(set: RoleSet) -> Self {
        set.iter().collect()
    }
}

/// `operator, administrator or owner`.
impl fmt::Display for RoleSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.iter().map(Role::as_str).collect();
        match names.as_slice() {
            [] => f.write_str("nobody"),
            [one] => f.write_str(one),
            [first @ .., last] => write!(f, "{} or {last}", first.join(", ")),
        }
    }
}
