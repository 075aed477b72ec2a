//! Source 4: child-level preemption (rules 5.1).
//!
//! A job submitted to a parent uses what its descendants leave unused of their guarantees, and then amounts of their
//! running jobs whose priority and module the policy names. The preemptor's own priority does not matter.

use crate::job::cause::Cause;
use crate::job::hold::Blocker;
use crate::job::phase::Charge;
use crate::job::phase::Placed;
use crate::job::phase::Source;
use crate::job::spec::IdlePolicy;
use crate::job::spec::JobSpec;
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
    if !state.has_children(job.quota) {
        return Err(Blocker::NoChildren { quota: quota.id.clone() });
    }
    let Some(policy) = &quota.settings.child_level else {
        return Err(Blocker::ChildLevelOff { quota: quota.id.clone() });
    };
    let home = state.domains.list[state.domains.of_quota(job.quota).at()].home;
    let placed = Placed { source: Source::ChildLevel, charge: Charge::InQuota, home, pods: Box::default() };
    let preemptor =
        Preemptor { job, placed, rule: Rule::ChildLevel(policy), right: Right::Subtree, policy_quota: job.quota };
    victims::find(trial, &preemptor, Cause::ChildLevel { quota: quota.id.clone(), by: job.id.clone() })
}
