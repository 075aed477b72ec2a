//! Whether known reasons hold still, without trying the sources again.
//!
//! Most waiting jobs wait for the same plain reasons round after round: their quota is full, too little is idle. These
//! are looked up in the books at once. Whatever is not plain is tried in full; so this never changes what is decided,
//! only what it costs.

use crate::job::hold::Attempt;
use crate::job::hold::Blocker;
use crate::job::hold::Hold;
use crate::job::phase::Source;
use crate::ledger;
use crate::schedule::trial::Trial;
use crate::state::queue::ClassKey;
use crate::unit::slots::Slots;

/// Whether every reason of a hold plainly holds still for jobs of this class.
#[must_use]
pub fn holds_still(trial: &Trial<'_>, class: &ClassKey, hold: &Hold) -> bool {
    hold.is_for_ever() || hold.attempts.iter().all(|attempt| blocks_still(trial, class, attempt))
}

fn blocks_still(trial: &Trial<'_>, class: &ClassKey, attempt: &Attempt) -> bool {
    let Attempt { source, blocker } = attempt;
    // Settings do not change without the reasons being forgotten.
    let is_fixed = matches!(
        blocker,
        Blocker::IdleOff
            | Blocker::IdleOnly
            | Blocker::ChildLevelOff { .. }
            | Blocker::NoChildren { .. }
            | Blocker::SelfLevelOff { .. }
            | Blocker::PriorityNotHigh { .. }
    );
    let is_short = match (source, blocker) {
        (Source::Own | Source::Reclaim, Blocker::QuotaFull { .. }) => is_own_amount_short(trial, class),
        (Source::Idle, Blocker::IdleShort { .. }) => is_idle_short(trial, class),
        (_, _) => false,
    };
    is_fixed || is_short
}

/// Whether the quota's own amount is used up; an ancestor's would not do, since what stands in the way there may be
/// owed.
fn is_own_amount_short(trial: &Trial<'_>, class: &ClassKey) -> bool {
    let book = trial.quotas.get(class.quota.at());
    let min = &trial.state.quotas[class.quota.at()].min;
    min.first_exceeded(&book.own_jobs.plus(&book.claimed), &class.shape.gang_amount()).is_some()
}

/// Whether too little is idle in the job's own domain, which is the one that is named when it is the only one.
fn is_idle_short(trial: &Trial<'_>, class: &ClassKey) -> bool {
    let domains = &trial.state.domains;
    let own = domains.of_quota(class.quota);
    let is_only =
        domains.list.iter().filter(|domain| domain.resource_type == domains.list[own.at()].resource_type).count() == 1;
    is_only && ledger::fits_in_idle(trial.domains.get(own.at()), &class.shape.gang_amount()).is_err()
}
