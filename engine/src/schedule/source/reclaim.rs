//! Source 3: taking back what the job's quota has lent to idle jobs (semantics section 4).
//!
//! There is no priority clause: what is lent is owed. Loans are fungible, so an idle job gives way only when what is
//! idle no longer covers all loans, or when it stands on machines that the owner's pods need. What a quota holds
//! above its amount since it was scaled down is owed as well (section 8).

use crate::job::hold::Blocker;
use crate::job::phase::Charge;
use crate::job::phase::Placed;
use crate::job::phase::Source;
use crate::job::spec::JobSpec;
use crate::job::story::Cause;
use crate::ledger;
use crate::schedule::decision::Offer;
use crate::schedule::source::own;
use crate::schedule::trial::Trial;
use crate::schedule::victims;
use crate::schedule::victims::Quest;
use crate::schedule::victims::Rule;
use crate::unit::amount::Amount;
use crate::unit::id::DomainNo;
use crate::unit::id::QuotaNo;
use crate::unit::slots::Slots;

pub(super) fn offer(trial: &Trial<'_>, job: &JobSpec) -> Result<Offer, Blocker> {
    let overdue = match own::fits(trial, job) {
        Ok(()) => Amount::ZERO,
        // Nothing is owed to a job that never uses its quota.
        Err(blocker @ Blocker::IdleOnly) => return Err(blocker),
        Err(blocker) => overdue_above(trial, job).ok_or(blocker)?,
    };
    let domain = trial.state.domains.of_quota(job.quota);
    if trial.domains.get(domain.at()).idle.is_zero() && trial.state.over.is_empty() {
        return Err(Blocker::NothingLent);
    }
    let quota = &trial.state.quotas[job.quota.at()];
    let placed = Placed {
        source: Source::Reclaim,
        charge: Charge::InQuota,
        home: trial.state.domains.list[domain.at()].home,
        pods: Box::default(),
    };
    let quest = Quest { job, placed, rule: Rule::Reclaim, quota_need: overdue, policy_quota: job.quota };
    victims::find(trial, &quest, Cause::Reclaimed { quota: quota.id.clone(), by: job.id.clone() })
}

/// A job that fits in its own quota may be kept out by a relative that was scaled below its use. What it would take
/// above an ancestor's amount is then owed to it.
fn overdue_above(trial: &Trial<'_>, job: &JobSpec) -> Option<Amount> {
    let tree = &trial.state.quotas;
    let asked = job.shape.gang_amount();
    let book = trial.quotas.get(job.quota.at());
    if tree[job.quota.at()].min.first_exceeded(&book.own_jobs.plus(&book.claimed), &asked).is_some() {
        return None;
    }
    let short = ledger::fits_above(tree, &trial.quotas, job.quota, &asked).err()?;
    victims::is_any_draining(trial, short.quota).then(|| above_ancestors(trial, job.quota, &asked))
}

/// By how much the ancestors of a quota would exceed their amounts if `asked` were added.
pub(super) fn above_ancestors(trial: &Trial<'_>, quota: QuotaNo, asked: &Amount) -> Amount {
    let tree = &trial.state.quotas;
    let mut above = Amount::ZERO;
    let mut next = tree[quota.at()].parent;
    while let Some(at) = next {
        let min = &tree[at.at()].min;
        let over = trial.quotas.get(at.at()).used.plus(asked).minus(&min.amount);
        above = above.greater(&min.masked(&over).positive());
        next = tree[at.at()].parent;
    }
    above
}

/// By how much loans would exceed what is idle in a domain if a job of `quota` took `asked` in quota.
#[must_use]
pub fn loan_excess(trial: &Trial<'_>, quota: QuotaNo, domain: DomainNo, asked: &Amount) -> Amount {
    ledger::loan_excess(&trial.state.quotas, &trial.quotas, trial.domains.get(domain.at()), quota, asked)
}
