//! Whether a sender may send a command (rules 9.1). Hosts ask before they let the command be decided.

use crate::message::command::Command;
use crate::message::command::SubmitJob;
use crate::message::envelope::Envelope;
use crate::message::rejection::Noun;
use crate::message::rejection::Rejection;
use crate::state::world::State;
use crate::unit::id::JobId;
use crate::unit::id::QuotaId;
use crate::unit::id::QuotaNo;
use crate::unit::id::UserId;
use crate::unit::id::WorkspaceId;
use crate::workspace::key::KeyId;
use crate::workspace::may::Denied;
use crate::workspace::may::Operation;
use crate::workspace::may::Relation;
use crate::workspace::may::may_change;
use crate::workspace::may::one_may;
use crate::workspace::role::Role;
use crate::workspace::role::RoleSet;
use crate::workspace::space::Workspace;

/// Who sends a command, as whoever let them in knows them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sender {
    /// Their name: what the log says of who it was.
    pub user: UserId,
    /// Whether they administer the cluster. Everybody else may do what their roles allow.
    pub administers: bool,
}

impl Sender {
    /// The envelope as sent by them: theirs is what has no other name on it.
    #[must_use]
    pub fn sign(&self, mut envelope: Envelope) -> Envelope {
        if !self.administers {
            self.own(&mut envelope.command);
        }
        Envelope { by: Some(self.user.clone()), ..envelope }
    }

    fn own(&self, command: &mut Command) {
        if let Command::SubmitJob(command) = command {
            command.user.get_or_insert_with(|| self.user.clone());
        } else if let Command::ApplyPlan(command) = command {
            command.commands.iter_mut().for_each(|command| self.own(command));
        }
    }
}

/// Whether the sender may send the command. What does not exist is left to the decision; what belongs to a workspace
/// that the sender is no member of is treated as if it did not exist.
pub fn authorise(state: &State, sender: &Sender, command: &Command) -> Result<(), Rejection> {
    if sender.administers {
        return Ok(());
    }
    let requester = Requester { state, user: &sender.user };
    match command {
        Command::SubmitJob(command) => requester.submit(command),
        Command::CancelJob(command) => requester.on_job(&command.job, Operation::CancelJob),
        Command::SetPriority(command) => requester.on_job(&command.job, Operation::SetPriority),
        Command::ResizeJob(command) => requester.on_job(&command.job, Operation::ResizeJob),
        Command::Report(command) => requester.on_job(&command.job, Operation::ReportJob),
        Command::UpdateQuota(command) => requester.on_quota(Some(&command.quota), Operation::UpdateQuota),
        Command::CreateQuota(command) => requester.on_quota(command.parent.as_ref(), Operation::ShapeQuota),
        Command::DeleteQuota(command) => requester.on_quota(Some(&command.quota), Operation::ShapeQuota),
        Command::ScaleQuotas(command) => {
            requester.on_quota(command.targets.first().map(|target| &target.quota), Operation::ShapeQuota)
        }
        Command::PutWorkspace(command) if requester.is_member(&command.workspace) => {
            requester.on_workspace(&command.workspace, Operation::UpdateWorkspace)
        }
        Command::PutWorkspace(_) => requester.on_cluster(Operation::CreateWorkspace),
        Command::DeleteWorkspace(command) => requester.on_workspace(&command.workspace, Operation::DeleteWorkspace),
        Command::AttachQuota(command) => requester.on_workspace(&command.workspace, Operation::AttachQuota),
        Command::DetachQuota(command) => requester.on_workspace(&command.workspace, Operation::AttachQuota),
        Command::PutMember(command) => {
            requester.on_member(&command.workspace, &command.user, Operation::PutMember, command.roles)
        }
        Command::RemoveMember(command) => {
            requester.on_member(&command.workspace, &command.user, Operation::RemoveMember, RoleSet::default())
        }
        // What an agent reports counts as seen, whoever made its key.
        Command::CreateKey(command) if !command.serves.is_empty() => requester.on_cluster(Operation::RunCluster),
        Command::CreateKey(command) => requester.on_key(&command.user, command.administers),
        Command::RotateKey(command) => requester.on_known_key(&command.key),
        Command::RevokeKey(command) => requester.on_known_key(&command.key),
        // Whoever may send each of them may send them together.
        Command::ApplyPlan(command) => {
            command.commands.iter().try_for_each(|command| authorise(state, sender, command))
        }
        Command::CreateCluster(_)
        | Command::PutGroup(_)
        | Command::PutNode(_)
        | Command::DeleteNode(_)
        | Command::UpdateCluster(_)
        | Command::NodeSilent(_)
        | Command::NodeHeard(_)
        | Command::CreateOffer(_)
        | Command::UpdateOffer(_)
        | Command::DeleteOffer(_)
        | Command::PublishPrice(_)
        | Command::SetInventory(_)
        | Command::Round(_) => requester.on_cluster(Operation::RunCluster),
    }
}

/// Whether an agent that adopts jobs for these workspaces may send this in a user's name: it submits and cancels jobs
/// there, and may do no more than the user may.
pub fn may_adopt(state: &State, adopts: &[WorkspaceId], user: &UserId, command: &Command) -> Result<(), Rejection> {
    let workspace = if let Command::SubmitJob(command) = command {
        command.workspace.as_ref()
    } else if let Command::CancelJob(command) = command {
        state.jobs.find(&command.job).and_then(|no| state.jobs[no].spec.workspace.as_ref())
    } else {
        None
    };
    if !workspace.is_some_and(|workspace| adopts.contains(workspace)) {
        return Err(Rejection::Denied { user: user.to_string(), why: Denied::NotAdopted });
    }
    authorise(state, &Sender { user: user.clone(), administers: false }, command)
}

/// Whether the sender may see a job with its name, its user and its story.
pub fn may_see(state: &State, sender: &Sender, job: &JobId) -> Result<(), Rejection> {
    if sender.administers {
        return Ok(());
    }
    Requester { state, user: &sender.user }.on_job(job, Operation::SeeJob)
}

/// Whether the sender may do what is about the cluster as a whole: see its amounts or its log, run it.
pub fn may_on_cluster(state: &State, sender: &Sender, operation: Operation) -> Result<(), Rejection> {
    if sender.administers {
        return Ok(());
    }
    Requester { state, user: &sender.user }.on_cluster(operation)
}

/// Somebody who is judged by their roles.
struct Requester<'a> {
    state: &'a State,
    user: &'a UserId,
}

impl Requester<'_> {
    fn submit(&self, command: &SubmitJob) -> Result<(), Rejection> {
        if command.user.as_ref().is_some_and(|user| user != self.user) {
            return self.denied(Denied::OtherName);
        }
        let Some(id) = &command.workspace else { return self.denied(Denied::NoWorkspace) };
        let workspace = self.workspace(id)?;
        let relation = match &command.quota {
            Some(quota) => self.state.quota_no(quota).map(|no| relation(self.state, workspace, no)),
            // Offers belong to nobody: whoever has a workspace may bid for its jobs.
            None => Some(Relation::Workspace),
        };
        self.check(workspace.roles(self.user), Operation::SubmitJob, relation.unwrap_or(Relation::Elsewhere))
    }

    fn on_job(&self, id: &JobId, operation: Operation) -> Result<(), Rejection> {
        let unknown = || Rejection::Unknown { noun: Noun::Job, name: id.to_string() };
        let job = &self.state.jobs[self.state.jobs.find(id).ok_or_else(unknown)?];
        let roles = self.state.workspace_of(job).map(|workspace| workspace.roles(self.user));
        let roles = roles.filter(|roles| !roles.is_empty()).ok_or_else(unknown)?;
        let is_own = job.spec.user.as_ref() == Some(self.user);
        self.check(roles, operation, if is_own { Relation::Own } else { Relation::Workspace })
    }

    /// A quota may be attached to several workspaces; it takes one whose roles allow it.
    fn on_quota(&self, id: Option<&QuotaId>, operation: Operation) -> Result<(), Rejection> {
        let no = id.and_then(|id| self.state.quota_no(id));
        let check = |workspace: &Workspace| {
            let relation = no.map_or(Relation::Elsewhere, |no| relation(self.state, workspace, no));
            one_may(workspace.roles(self.user), operation, relation).map_err(|denied| (relation, denied))
        };
        let mut nearest = None;
        for workspace in self.state.workspaces.values().filter(|workspace| !workspace.roles(self.user).is_empty()) {
            match check(workspace) {
                Ok(()) => return Ok(()),
                Err((relation, denied)) if nearest.is_none_or(|(near, _)| relation < near) => {
                    nearest = Some((relation, denied));
                }
                Err(_) => {}
            }
        }
        match nearest {
            Some((_, denied)) => self.denied(denied),
            None => self.check(RoleSet::default(), operation, Relation::Elsewhere),
        }
    }

    fn on_workspace(&self, id: &WorkspaceId, operation: Operation) -> Result<(), Rejection> {
        self.check(self.workspace(id)?.roles(self.user), operation, Relation::Workspace)
    }

    fn on_member(
        &self,
        id: &WorkspaceId,
        member: &UserId,
        operation: Operation,
        after: RoleSet,
    ) -> Result<(), Rejection> {
        let workspace = self.workspace(id)?;
        let own = workspace.roles(self.user);
        self.check(own, operation, if member == self.user { Relation::Own } else { Relation::Workspace })?;
        may_change(own, workspace.roles(member), after).or_else(|denied| self.denied(denied))
    }

    /// Whatever roles somebody has somewhere, none of them is one of the cluster.
    fn on_cluster(&self, operation: Operation) -> Result<(), Rejection> {
        self.check(self.all_roles(), operation, Relation::Elsewhere)
    }

    fn on_key(&self, owner: &UserId, administers: bool) -> Result<(), Rejection> {
        let relation = if owner == self.user { Relation::Own } else { Relation::Elsewhere };
        self.check(self.all_roles(), Operation::ManageKey, relation)?;
        if administers {
            let (role, highest) = (Role::ClusterAdministrator, self.all_roles().highest());
            return self.denied(Denied::AboveOwn { role, highest });
        }
        Ok(())
    }

    /// Keys of others and of agents are treated as if they did not exist.
    fn on_known_key(&self, id: &KeyId) -> Result<(), Rejection> {
        let key = self.state.keys.get(id).filter(|key| key.owner == *self.user && !key.is_agent());
        let key = key.ok_or_else(|| Rejection::Unknown { noun: Noun::Key, name: id.to_string() })?;
        self.on_key(&key.owner, key.administers)
    }

    fn all_roles(&self) -> RoleSet {
        self.state.workspaces.values().flat_map(|workspace| workspace.roles(self.user).iter()).collect()
    }

    fn check(&self, roles: RoleSet, operation: Operation, relation: Relation) -> Result<(), Rejection> {
        one_may(roles, operation, relation).or_else(|denied| self.denied(denied))
    }

    fn denied(&self, why: Denied) -> Result<(), Rejection> {
        Err(Rejection::Denied { user: self.user.to_string(), why })
    }

    fn is_member(&self, id: &WorkspaceId) -> bool {
        self.workspace(id).is_ok()
    }

    /// A workspace that the user is a member of.
    fn workspace(&self, id: &WorkspaceId) -> Result<&Workspace, Rejection> {
        let workspace = self.state.workspaces.get(id).filter(|workspace| !workspace.roles(self.user).is_empty());
        workspace.ok_or_else(|| Rejection::Unknown { noun: Noun::Workspace, name: id.to_string() })
    }
}

/// How a quota relates to those of a workspace.
fn relation(state: &State, workspace: &Workspace, no: QuotaNo) -> Relation {
    let parent = |no: QuotaNo| state.quotas[no.at()].parent;
    let is_above = |ancestor: QuotaNo, no: QuotaNo| {
        std::iter::successors(parent(no), |no| parent(*no)).any(|above| above == ancestor)
    };
    let of_one = |attached: QuotaNo| {
        if attached == no {
            Relation::Workspace
        } else if is_above(attached, no) {
            Relation::Child
        } else if parent(no).is_some() && parent(attached) == parent(no) {
            Relation::Sibling
        } else if is_above(no, attached) {
            Relation::Parent
        } else {
            Relation::Elsewhere
        }
    };
    workspace.quotas.iter().map(|attached| of_one(*attached)).min().unwrap_or(Relation::Elsewhere)
}
