//! Who may do what: one table, and the sentence that says why not (rules 9.1, seed
//! training-and-inference-quotas). What no row allows is denied.

use std::fmt;

use serde::Deserialize;
use serde::Serialize;

use crate::workspace::role::Role;
use crate::workspace::role::RoleSet;

/// What somebody wants to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// See what quotas and machines there are, and how much of them is in use.
    SeeAmounts,
    /// See a job with its name, its user and its story.
    SeeJob,
    /// See a workspace with its members.
    SeeWorkspace,
    /// Submit a job to a quota.
    SubmitJob,
    /// Cancel a job.
    CancelJob,
    /// Change a job's priority.
    SetPriority,
    /// Change the number of a service's pods.
    ResizeJob,
    /// Tell what has been seen of a job.
    ReportJob,
    /// Leave a workspace, or send somebody away.
    RemoveMember,
    /// Give roles to a member, or take them.
    PutMember,
    /// Change what people read of a workspace.
    UpdateWorkspace,
    /// Delete a workspace.
    DeleteWorkspace,
    /// Add a workspace.
    CreateWorkspace,
    /// Change a quota's scheduling settings.
    UpdateQuota,
    /// Add a quota, change its amount or delete it.
    ShapeQuota,
    /// Attach a quota to a workspace, or detach it.
    AttachQuota,
    /// See how the cluster is kept: its digest, what is published.
    SeeLog,
    /// Create an access key, rotate it or revoke it.
    ManageKey,
    /// Declare the cluster, change its machines and its offers, run a round.
    RunCluster,
}

impl Operation {
    /// Every operation.
    pub const ALL: [Self; 19] = [
        Self::SeeAmounts,
        Self::SeeJob,
        Self::SeeWorkspace,
        Self::SubmitJob,
        Self::CancelJob,
        Self::SetPriority,
        Self::ResizeJob,
        Self::ReportJob,
        Self::RemoveMember,
        Self::PutMember,
        Self::UpdateWorkspace,
        Self::DeleteWorkspace,
        Self::CreateWorkspace,
        Self::UpdateQuota,
        Self::ShapeQuota,
        Self::AttachQuota,
        Self::SeeLog,
        Self::ManageKey,
        Self::RunCluster,
    ];
}

/// How the thing that an operation is about relates to the workspace by which somebody has a role, the nearest first.
/// Who reaches as far as one of these reaches everything before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Relation {
    /// It is their own job, or themselves.
    Own,
    /// It belongs to the workspace, or is attached to it.
    Workspace,
    /// It is a quota below one that is attached.
    Child,
    /// It is a quota beside one that is attached.
    Sibling,
    /// It is a quota above one that is attached.
    Parent,
    /// It has nothing to do with the workspace.
    Elsewhere,
}

impl Relation {
    /// Every relation, the nearest first.
    pub const ALL: [Self; 6] = [Self::Own, Self::Workspace, Self::Child, Self::Sibling, Self::Parent, Self::Elsewhere];
}

/// Which roles an operation takes, with how far each reaches. A cluster administrator reaches everything.
fn reaches(operation: Operation) -> &'static [(Role, Relation)] {
    use Relation::Elsewhere;
    use Relation::Own;
    use Relation::Workspace;
    use Role::Administrator;
    use Role::Developer;
    use Role::Guest;
    use Role::Operator;
    use Role::Owner;
    match operation {
        Operation::SeeAmounts => &[
            (Guest, Elsewhere),
            (Developer, Elsewhere),
            (Operator, Elsewhere),
            (Administrator, Elsewhere),
            (Owner, Elsewhere),
        ],
        Operation::SeeJob | Operation::SeeWorkspace => &[
            (Guest, Workspace),
            (Developer, Workspace),
            (Operator, Workspace),
            (Administrator, Workspace),
            (Owner, Workspace),
        ],
        Operation::SubmitJob => {
            &[(Developer, Workspace), (Operator, Workspace), (Administrator, Workspace), (Owner, Workspace)]
        }
        Operation::CancelJob | Operation::SetPriority | Operation::ResizeJob => {
            &[(Developer, Own), (Operator, Workspace), (Administrator, Workspace), (Owner, Workspace)]
        }
        Operation::RemoveMember => {
            &[(Guest, Own), (Developer, Own), (Operator, Own), (Administrator, Workspace), (Owner, Workspace)]
        }
        Operation::PutMember | Operation::UpdateWorkspace | Operation::UpdateQuota => {
            &[(Administrator, Workspace), (Owner, Workspace)]
        }
        Operation::ManageKey => &[(Guest, Own), (Developer, Own), (Operator, Own), (Administrator, Own), (Owner, Own)],
        Operation::DeleteWorkspace => &[(Owner, Workspace)],
        Operation::ReportJob
        | Operation::CreateWorkspace
        | Operation::ShapeQuota
        | Operation::AttachQuota
        | Operation::SeeLog
        | Operation::RunCluster => &[],
    }
}

/// Whether a role allows an operation on something that relates so.
pub fn may(role: Role, operation: Operation, relation: Relation) -> Result<(), Denied> {
    one_may([role].into_iter().collect(), operation, relation)
}

/// Whether one of these roles allows an operation on something that relates so.
pub fn one_may(roles: RoleSet, operation: Operation, relation: Relation) -> Result<(), Denied> {
    let needed = needed(operation, relation);
    if roles.iter().any(|role| needed.contains(role)) {
        return Ok(());
    }
    Err(Denied::Role { roles, operation, relation, needed })
}

/// The roles that allow it.
fn needed(operation: Operation, relation: Relation) -> RoleSet {
    let far_enough = reaches(operation).iter().filter(|(_, reach)| relation <= *reach).map(|(role, _)| *role);
    far_enough.chain([Role::ClusterAdministrator]).collect()
}

/// Whether somebody with the roles `own` may turn a member's roles from `before` into `after`: nobody gives or takes
/// what is above their own highest role, so nobody raises themselves.
pub fn may_change(own: RoleSet, before: RoleSet, after: RoleSet) -> Result<(), Denied> {
    match (before.difference(after).highest(), own.highest()) {
        (Some(role), highest) if highest < Some(role) => Err(Denied::AboveOwn { role, highest }),
        (Some(_) | None, _) => Ok(()),
    }
}

/// Why something is not allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Denied {
    /// None of the roles allows it.
    Role {
        /// Those that somebody has; none for somebody who is not a member.
        roles: RoleSet,
        /// What they wanted to do.
        operation: Operation,
        /// How it relates to them.
        relation: Relation,
        /// The roles of which one is needed.
        needed: RoleSet,
    },
    /// The role is above one's own.
    AboveOwn {
        /// The role that would be given or taken.
        role: Role,
        /// The highest that one has.
        highest: Option<Role>,
    },
    /// A job is submitted outside every workspace.
    NoWorkspace,
    /// A job is submitted in somebody else's name.
    OtherName,
    /// An agent adopts a job for a workspace that its key does not name.
    NotAdopted,
}

impl fmt::Display for Denied {
    #[inline(never)]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Role { roles, operation, relation, needed } => {
                write!(f, "may not {}; that takes the role {needed}, ", deed(*operation, *relation))?;
                if roles.is_empty() { f.write_str("and they have none") } else { write!(f, "and theirs is {roles}") }
            }
            Self::AboveOwn { role, highest: Some(highest) } => {
                write!(f, "may neither give nor take the role {role}, which is above theirs, {highest}")
            }
            Self::AboveOwn { role, highest: None } => {
                write!(f, "may neither give nor take the role {role}: they have none")
            }
            Self::NoWorkspace => f.write_str("may submit jobs only in a workspace; name one of theirs"),
            Self::NotAdopted => f.write_str(
                "may have jobs adopted only for the workspaces that the agent's key names; ask an administrator for that",
            ),
            Self::OtherName => f.write_str("may submit jobs in no name but their own; leave the user out"),
        }
    }
}

impl std::error::Error for Denied {}

/// What is not allowed, in words.
fn deed(operation: Operation, relation: Relation) -> String {
    let job = match relation {
        Relation::Own => "their own job",
        Relation::Workspace => "another member's job",
        Relation::Child | Relation::Sibling | Relation::Parent | Relation::Elsewhere => "a job outside the workspace",
    };
    let workspace = if relation == Relation::Elsewhere { "another workspace" } else { "the workspace" };
    let quota = match relation {
        Relation::Own | Relation::Workspace => "a quota of the workspace",
        Relation::Child => "a child of the workspace's quota",
        Relation::Sibling => "a sibling of the workspace's quota",
        Relation::Parent => "a parent of the workspace's quota",
        Relation::Elsewhere => "a quota outside the workspace",
    };
    match operation {
        Operation::SeeAmounts => "see what is in use".to_owned(),
        Operation::SeeJob => format!("see {job}"),
        Operation::SeeWorkspace => format!("see {workspace}"),
        Operation::SubmitJob => format!("submit to {quota}"),
        Operation::CancelJob => format!("cancel {job}"),
        Operation::SetPriority => format!("change the priority of {job}"),
        Operation::ResizeJob => format!("change the number of pods of {job}"),
        Operation::ReportJob => format!("report on {job}"),
        Operation::RemoveMember if relation == Relation::Own => format!("leave {workspace}"),
        Operation::RemoveMember => format!("remove a member of {workspace}"),
        Operation::PutMember if relation == Relation::Own => "change their own roles".to_owned(),
        Operation::PutMember => format!("change the roles of a member of {workspace}"),
        Operation::UpdateWorkspace => format!("change {workspace}"),
        Operation::DeleteWorkspace => format!("delete {workspace}"),
        Operation::CreateWorkspace => "create a workspace".to_owned(),
        Operation::UpdateQuota => format!("change the settings of {quota}"),
        Operation::ShapeQuota => format!("create, scale or delete {quota}"),
        Operation::AttachQuota => format!("attach or detach {quota}"),
        Operation::SeeLog => "see how the cluster is kept".to_owned(),
        Operation::ManageKey if relation == Relation::Own => "manage their own keys".to_owned(),
        Operation::ManageKey => "manage keys of others".to_owned(),
        Operation::RunCluster => "change machines or offers, or run rounds".to_owned(),
    }
}
