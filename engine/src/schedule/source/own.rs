//! Source 1: free amount of the job's own quota.

use crate::job::hold::Blocker;
use crate::job::phase::Charge;
use crate::job::phase::Placed;
use crate::job::phase::Source;
use crate::job::spec::IdlePolicy;
use crate::job::spec::JobSpec;
use crate::ledger;
use crate::ledger::Reach;
use crate::ledger::Short;
use crate::schedule::decision::Assignment;
use crate::schedule::source::room::dimension;
use crate::schedule::source::room::find_room;
use crate::schedule::trial::Trial;
use crate::unit::id::DomainNo;
use crate::unit::id::QuotaNo;
use crate::unit::slots::Slots;

pub(super) fn assign(trial: &Trial<'_>, job: &JobSpec) -> Result<Assignment, Blocker> {
    fits(trial, job)?;
    let domain = trial.state.domains.of_quota(job.quota);
    let pods = find_room(trial, domain, &job.shape)?;
    within_loans(trial, job, domain)?;
    let home = trial.state.domains.list[domain.at()].home;
    let placed = Placed { source: Source::Own, charge: Charge::InQuota, home, pods };
    Ok(Assignment { placed, promoted: Vec::new(), victims: Vec::new(), cause: None })
}

/// Whether the job may use its quota, and fits in what the quota has for its own jobs.
pub fn fits(trial: &Trial<'_>, job: &JobSpec) -> Result<(), Blocker> {
    if job.idle == IdlePolicy::Only {
        return Err(Blocker::IdleOnly);
    }
    let asked = job.shape.gang_amount();
    ledger::fits_in_quota(&trial.state.quotas, &trial.quotas, job.quota, &asked, Reach::Own)
        .map_err(|short| quota_full(trial, job.quota, short, asked[short.dimension]))
}

/// What is short for a job of a quota, with the numbers.
#[must_use]
pub fn quota_full(trial: &Trial<'_>, of: QuotaNo, short: Short, asked: i64) -> Blocker {
    let quota = &trial.state.quotas[short.quota.at()];
    let book = trial.quotas.get(short.quota.at());
    let all = quota.min.amount[short.dimension];
    // Of an ancestor, what all of its descendants use counts; then its whole amount is what that is held against.
    let is_of_all = short.free == all.saturating_sub(book.used[short.dimension]) && asked > short.free;
    let own = if is_of_all && short.quota != of { all } else { ledger::own_min(quota, book, short.dimension) };
    Blocker::QuotaFull { quota: quota.id.clone(), dimension: dimension(short.dimension), asked, free: short.free, own }
}

/// Idle jobs may hold no more than is idle. Where machines are free that no quota guarantees, this is the limit that
/// an owner meets first, and it has to take its amount back.
fn within_loans(trial: &Trial<'_>, job: &JobSpec, domain: DomainNo) -> Result<(), Blocker> {
    let excess = trial.loan_excess(job.quota, domain, &job.shape.gang_amount());
    let short = excess.values().position(|value| value > 0);
    short.map_or(Ok(()), |at| {
        let asked = job.shape.gang_amount()[at];
        Err(Blocker::NoRoom {
            pods: job.shape.gang_pods(),
            fit: 0,
            dimension: dimension(at),
            asked,
            free: asked - excess[at],
            unsolved: None,
        })
    })
}
