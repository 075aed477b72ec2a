//! Source 5: self-level preemption (semantics section 5).
//!
//! A job of a High priority takes what its siblings leave idle, and amounts of running Low jobs of the quota itself
//! and of its siblings. It may then run above its own quota's amount; the parent's total still holds.

use crate::job::hold::Blocker;
use crate::job::phase::Charge;
use crate::job::phase::Placed;
use crate::job::phase::Source;
use crate::job::spec::IdlePolicy;
use crate::job::spec::JobSpec;
use crate::job::story::Cause;
use crate::quota::policy::Scope;
use crate::schedule::decision::Offer;
use crate::schedule::source::reclaim::above_ancestors;
use crate::schedule::trial::Trial;
use crate::schedule::victims;
use crate::schedule::victims::Quest;
use crate::schedule::victims::Rule;
use crate::unit::amount::Amount;
use crate::unit::id::QuotaNo;
use crate::unit::slots::Slots;

pub(super) fn offer(trial: &Trial<'_>, job: &JobSpec) -> Result<Offer, Blocker> {
    let state = trial.state;
    let quota = &state.quotas[job.quota.at()];
    if job.idle == IdlePolicy::Only {
        return Err(Blocker::IdleOnly);
    }
    let Some(policy) = &quota.settings.self_level else {
        return Err(Blocker::SelfLevelOff { quota: quota.id.clone() });
    };
    if !policy.high.contains(job.priority) {
        return Err(Blocker::PriorityNotHigh { quota: quota.id.clone(), priority: job.priority, high: policy.high });
    }
    let asked = job.shape.gang_amount();
    let level = match (policy.scope, quota.parent) {
        (Scope::Own, _) | (_, None) => above_own(trial, job.quota, &asked),
        (Scope::SameLevel | Scope::SiblingsIdle, Some(parent)) => above_level(trial, parent, &asked),
    };
    let quota_need = level.greater(&above_ancestors(trial, job.quota, &asked));
    let home = state.domains.list[state.domains.of_quota(job.quota).at()].home;
    let placed = Placed { source: Source::SelfLevel, charge: Charge::InQuota, home, pods: Box::default() };
    let quest = Quest { job, placed, rule: Rule::SelfLevel(policy), quota_need, policy_quota: job.quota };
    victims::find(trial, &quest, Cause::SelfLevel { quota: quota.id.clone(), by: job.id.clone() })
}

/// By how much the quota would exceed what it has for its own jobs.
fn above_own(trial: &Trial<'_>, quota: QuotaNo, asked: &Amount) -> Amount {
    let book = trial.quotas.get(quota.at());
    let min = &trial.state.quotas[quota.at()].min;
    min.masked(&book.own_jobs.plus(&book.claimed).plus(asked).minus(&min.amount)).positive()
}

/// By how much the quotas of one level would together exceed their amounts.
fn above_level(trial: &Trial<'_>, parent: QuotaNo, asked: &Amount) -> Amount {
    let mut over = *asked;
    for (no, sibling) in trial.state.children(parent) {
        over += trial.quotas.get(no.at()).used.minus(&sibling.min.amount);
    }
    trial.state.quotas[parent.at()].min.masked(&over).positive()
}
