//! Workspaces, their members and their quotas (rules 9.1). Who may is judged before, by
//! [`crate::transition::authorise`]. Nothing of it is inlined: a module without people leaves it out by its names.

use crate::message::command::people::AttachQuota;
use crate::message::command::people::DeleteWorkspace;
use crate::message::command::people::DetachQuota;
use crate::message::command::people::PutMember;
use crate::message::command::people::PutWorkspace;
use crate::message::command::people::RemoveMember;
use crate::message::event::Event;
use crate::message::rejection::Noun;
use crate::message::rejection::Rejection;
use crate::state::jobs::Job;
use crate::state::world::State;
use crate::transition::names;
use crate::unit::id::QuotaNo;
use crate::unit::id::WorkspaceId;
use crate::unit::limit;
use crate::unit::time::Timestamp;
use crate::workspace::role::Role;
use crate::workspace::space::Member;
use crate::workspace::space::Workspace;

#[inline(never)]
pub(super) fn put(state: &State, command: &PutWorkspace, now: Timestamp) -> Result<Vec<Event>, Rejection> {
    let PutWorkspace { workspace: id, name, description } = command;
    for (what, text) in [("name", name), ("description", description)] {
        let bytes = text.as_ref().map_or(0, |text| text.len());
        names::within_limit(format_args!("bytes in the {what} of workspace {id}"), bytes, limit::TEXT_BYTES_MAX)?;
    }
    match state.workspaces.get(id) {
        Some(before) if before.name == *name && before.description == *description => return Ok(Vec::new()),
        Some(_) => {}
        None => names::within_limit("workspaces", state.workspaces.len() + 1, limit::WORKSPACES_MAX)?,
    }
    let (name, description) = (name.clone(), description.clone());
    Ok(vec![Event::WorkspacePut { workspace: id.clone(), at: now, name, description }])
}

#[inline(never)]
pub(super) fn delete(state: &State, command: &DeleteWorkspace) -> Result<Vec<Event>, Rejection> {
    let DeleteWorkspace { workspace: id } = command;
    names::workspace(state, id)?;
    if let Some(job) = unfinished(state, id, |_| true) {
        let reason = format!("has the job {}, which has not ended; cancel it or wait for it", job.spec.id);
        return Err(Rejection::NotNow { noun: Noun::Workspace, name: id.to_string(), reason });
    }
    Ok(vec![Event::WorkspaceDeleted { workspace: id.clone() }])
}

#[inline(never)]
pub(super) fn attach(state: &State, command: &AttachQuota) -> Result<Vec<Event>, Rejection> {
    let AttachQuota { workspace: id, quota } = command;
    let workspace = names::workspace(state, id)?;
    let no = names::quota(state, quota)?;
    if workspace.quotas.contains(&no) {
        return Ok(Vec::new());
    }
    Ok(vec![Event::QuotaAttached { workspace: id.clone(), quota: no }])
}

#[inline(never)]
pub(super) fn detach(state: &State, command: &DetachQuota) -> Result<Vec<Event>, Rejection> {
    let DetachQuota { workspace: id, quota } = command;
    let workspace = names::workspace(state, id)?;
    let no = names::quota(state, quota)?;
    if !workspace.quotas.contains(&no) {
        return Ok(Vec::new());
    }
    if let Some(job) = unfinished(state, id, |job| job.spec.quota == no) {
        let reason =
            format!("has the job {} of workspace {id}, which has not ended; cancel it or wait for it", job.spec.id);
        return Err(Rejection::NotNow { noun: Noun::Quota, name: quota.to_string(), reason });
    }
    Ok(vec![Event::QuotaDetached { workspace: id.clone(), quota: no }])
}

/// A job of the workspace that has not ended.
fn unfinished<'a>(state: &'a State, id: &WorkspaceId, is_meant: impl Fn(&Job) -> bool) -> Option<&'a Job> {
    let is_one = |job: &&Job| job.spec.workspace.as_ref() == Some(id) && !job.is_ended() && is_meant(job);
    state.jobs.iter().map(|(_, job)| job).find(is_one)
}

#[inline(never)]
pub(super) fn put_member(state: &State, command: &PutMember, now: Timestamp) -> Result<Vec<Event>, Rejection> {
    let PutMember { workspace: id, user, roles } = command;
    let workspace = names::workspace(state, id)?;
    if roles.is_empty() {
        return Err(Rejection::Structure {
            reason: format!("{user} would have no role in workspace {id}; give at least one, or remove the member"),
        });
    }
    if roles.contains(Role::ClusterAdministrator) {
        return Err(Rejection::Structure {
            reason: format!("the role {} is nobody's in a workspace; give another one", Role::ClusterAdministrator),
        });
    }
    match workspace.members.get(user) {
        Some(before) if before.roles == *roles => return Ok(Vec::new()),
        Some(_) => {}
        None => {
            let what = format_args!("members of workspace {id}");
            names::within_limit(what, workspace.members.len() + 1, limit::MEMBERS_MAX)?;
        }
    }
    Ok(vec![Event::MemberPut { workspace: id.clone(), user: user.clone(), at: now, roles: *roles }])
}

#[inline(never)]
pub(super) fn remove_member(state: &State, command: &RemoveMember) -> Result<Vec<Event>, Rejection> {
    let RemoveMember { workspace: id, user } = command;
    let workspace = names::workspace(state, id)?;
    if !workspace.members.contains_key(user) {
        return Err(Rejection::Unknown { noun: Noun::Member, name: user.to_string() });
    }
    Ok(vec![Event::MemberRemoved { workspace: id.clone(), user: user.clone() }])
}

/// Whether a workspace's jobs may be submitted to a quota; bids on the spot market have none.
#[inline(never)]
pub(super) fn check_submission(state: &State, id: &WorkspaceId, quota: QuotaNo) -> Result<(), Rejection> {
    let workspace = names::workspace(state, id)?;
    if quota == QuotaNo::NONE || workspace.quotas.contains(&quota) {
        return Ok(());
    }
    let reason = format!("is not attached to workspace {id}; attach it, or submit to a quota that is");
    Err(Rejection::NotNow { noun: Noun::Quota, name: state.quotas[quota.at()].id.to_string(), reason })
}

/// Applies what has happened to a workspace.
#[inline(never)]
pub(super) fn apply(state: &mut State, event: &Event) {
    match event {
        Event::WorkspacePut { workspace, at, name, description } => {
            let workspace = state.workspaces.or_insert_with(workspace.clone(), || Workspace::new(*at));
            workspace.name.clone_from(name);
            workspace.description.clone_from(description);
        }
        Event::WorkspaceDeleted { workspace } => {
            state.workspaces.remove(workspace);
        }
        Event::QuotaAttached { workspace, quota } => change(state, workspace, |workspace| {
            workspace.quotas.insert(*quota);
        }),
        Event::QuotaDetached { workspace, quota } => change(state, workspace, |workspace| {
            workspace.quotas.remove(quota);
        }),
        Event::MemberPut { workspace, user, at, roles } => change(state, workspace, |workspace| {
            let member = workspace.members.or_insert_with(user.clone(), || Member { since: *at, roles: *roles });
            member.roles = *roles;
        }),
        Event::MemberRemoved { workspace, user } => change(state, workspace, |workspace| {
            workspace.members.remove(user);
        }),
        Event::ClusterCreated { .. }
        | Event::GroupPut { .. }
        | Event::KeyPut { .. }
        | Event::KeyForgotten { .. }
        | Event::Redacted
        | Event::NodePut { .. }
        | Event::Node { .. }
        | Event::ClusterUpdated { .. }
        | Event::QuotaCreated { .. }
        | Event::QuotaUpdated { .. }
        | Event::QuotasScaled { .. }
        | Event::QuotaDeleted { .. }
        | Event::JobSubmitted { .. }
        | Event::OfferCreated { .. }
        | Event::OfferUpdated { .. }
        | Event::OfferDeleted { .. }
        | Event::InventorySet { .. }
        | Event::Priced { .. }
        | Event::Billed { .. }
        | Event::CancelledBy { .. }
        | Event::PriorityChanged { .. }
        | Event::Promoted { .. }
        | Event::Evicted { .. }
        | Event::Shrunk { .. }
        | Event::Granted { .. }
        | Event::Started { .. }
        | Event::Run { .. }
        | Event::Grown { .. }
        | Event::Stopped { .. }
        | Event::Returned { .. }
        | Event::Checkpointed { .. }
        | Event::Ended { .. }
        | Event::Held { .. }
        | Event::Forgotten { .. }
        | Event::Resized { .. }
        | Event::Rounded { .. } => {}
    }
}

fn change(state: &mut State, id: &WorkspaceId, change: impl FnOnce(&mut Workspace)) {
    if let Some(workspace) = state.workspaces.get_mut(id) {
        change(workspace);
    }
}
