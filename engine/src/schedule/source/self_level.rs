//! Source 5: self-level preemption (rules 5.2 and 5.3).
//!
//! A job of a High priority takes what siblings that lend leave idle, then amounts of running Low jobs of the quota
//! itself, and of its siblings as far as these do not suffice. It may then run above its own quota's amount; the
//! parent's total still holds. A root has no siblings.

use crate::job::cause::Cause;
use crate::job::hold::Blocker;
use crate::job::phase::Charge;
use crate::job::phase::Placed;
use crate::job::phase::Source;
use crate::job::spec::IdlePolicy;
use crate::job::spec::JobSpec;
use crate::quota::policy::Scope;
use crate::schedule::decision::Assignment;
use crate::schedule::trial::Trial;
use crate::schedule::victims;
use crate::schedule::victims::preemptor::Preemptor;
use crate::schedule::victims::right::Right;
use crate::schedule::victims::rule::Rule;

pub(super) fn assign(trial: &Trial<'_>, job: &JobSpec) -> Result<Assignment, Blocker> {
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
    let right = match (policy.scope, quota.parent) {
        (Scope::Own, _) | (_, None) => Right::Own,
        (Scope::SameLevel | Scope::SiblingsIdle, Some(parent)) => Right::to_level(trial, job.quota, parent),
    };
    let home = state.domains.list[state.domains.of_quota(job.quota).at()].home;
    let placed = Placed { source: Source::SelfLevel, charge: Charge::InQuota, home, pods: Box::default() };
    let preemptor = Preemptor { job, placed, rule: Rule::SelfLevel(policy), right, policy_quota: job.quota };
    victims::find(trial, &preemptor, Cause::SelfLevel { quota: quota.id.clone(), by: job.id.clone() })
}
