//! The policy checker: what quotas and their policies will come to that hardly anybody means.
//!
//! Each file knows one kind of finding. It looks for it by the rules, plays an example of it on a small cluster of the
//! quotas that take part, and tries the change that ends it. What its example does not show is not reported, and a
//! change is told only if the finding is gone with it. Only amounts count here: jobs, machines and workspaces of the
//! state are left out, and whoever takes no part in an example is thought of as busy.

pub mod finding;

mod ground;
mod play;
mod scene;

mod held_off;
mod powerless;
mod turns;
mod unusable;

mod blocked;
mod kept;
mod nothing_left;
mod spared;
mod upward;

pub use play::BEGINNING;
pub use play::Played;
pub use play::play;

use crate::check::finding::Finding;
use crate::check::ground::Ground;
use crate::message::command::Command;
use crate::state::world::State;
use crate::unit::id::QuotaId;

/// Everything that the checker finds, faults first.
#[must_use]
pub fn check(state: &State) -> Vec<Finding> {
    find(&Ground::of(state))
}

/// What the checker finds of a quota, alone or together with others.
#[must_use]
pub fn of_quota(state: &State, quota: &QuotaId) -> Vec<Finding> {
    let Some(no) = state.quota_no(quota) else { return Vec::new() };
    about(quota, &Ground::around(state, no))
}

/// The same as it would be after a change, with the quotas after it; nothing if the change is refused.
#[must_use]
pub fn of_quota_after(state: &State, quota: &QuotaId, change: &Command) -> Option<(State, Vec<Finding>)> {
    let ground = Ground::around(state, state.quota_no(quota)?).after(change)?;
    let findings = about(quota, &ground);
    Some((ground.state, findings))
}

fn about(quota: &QuotaId, ground: &Ground) -> Vec<Finding> {
    let mut findings = find(ground);
    findings.retain(|finding| finding.flaw.quotas().contains(&quota));
    findings
}

fn find(ground: &Ground) -> Vec<Finding> {
    let mut findings = turns::find(ground);
    findings.extend(powerless::find(ground));
    findings.extend(unusable::find(ground));
    findings.extend(held_off::find(ground));
    findings.extend(nothing_left::find(ground));
    findings.extend(blocked::find(ground));
    findings.extend(spared::find(ground));
    findings.extend(kept::find(ground));
    findings.extend(upward::find(ground));
    findings
}
