//! What people name, looked up; what is not there is refused in the engine's words.

use engine::message::rejection::Noun;
use engine::message::rejection::Rejection;
use engine::state::world::State;
use engine::unit::id::JobId;
use engine::unit::id::JobNo;
use engine::unit::id::NodeId;
use engine::unit::id::NodeNo;
use engine::unit::id::QuotaId;
use engine::unit::id::QuotaNo;
use engine::unit::id::WorkspaceId;

use crate::shell::failure::Failure;

/// A job.
pub fn job(state: &State, name: &str, place: &str) -> Result<JobNo, Failure> {
    let found = JobId::new(name).ok().and_then(|id| state.jobs.find(&id));
    found.ok_or_else(|| unknown(Noun::Job, name, place, "`tidegate jobs --all`"))
}

/// A quota.
pub fn quota(state: &State, name: &str, place: &str) -> Result<QuotaNo, Failure> {
    let found = QuotaId::new(name).ok().and_then(|id| state.quota_no(&id));
    found.ok_or_else(|| unknown(Noun::Quota, name, place, "`tidegate quotas`"))
}

/// A workspace.
pub fn workspace(state: &State, name: &str, place: &str) -> Result<WorkspaceId, Failure> {
    let found = WorkspaceId::new(name).ok().filter(|id| state.workspaces.contains_key(id));
    found.ok_or_else(|| unknown(Noun::Workspace, name, place, "`tidegate export`"))
}

/// A node.
pub fn node(state: &State, name: &str, place: &str) -> Result<NodeNo, Failure> {
    let found = NodeId::new(name).ok().and_then(|id| state.node_no(&id));
    found.ok_or_else(|| unknown(Noun::Node, name, place, "`tidegate nodes`"))
}

/// That there is no such offer.
#[must_use]
pub fn unknown_offer(name: &str, place: &str) -> Failure {
    unknown(Noun::Offer, name, place, "`tidegate offers`")
}

/// One of several choices, by its name.
pub fn one_of<T: Copy, const N: usize>(all: [T; N], name: fn(T) -> &'static str, text: &str) -> Result<T, String> {
    let found = all.into_iter().find(|one| name(*one) == text);
    found.ok_or_else(|| format!("write one of {}", all.map(name).join(", ")))
}

fn unknown(noun: Noun, name: &str, place: &str, list: &str) -> Failure {
    let rejection = Rejection::Unknown { noun, name: name.to_owned() };
    Failure::refused(format!("{place}: {rejection}; {list} lists what you may see"))
}
