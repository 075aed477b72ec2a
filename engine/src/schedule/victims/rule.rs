//! Whom a rule allows to take, and in whose name.

use crate::job::cause::Cause;
use crate::job::phase::Charge;
use crate::job::spec::JobSpec;
use crate::ledger;
use crate::quota::policy::ChildLevelPreemption;
use crate::quota::policy::Scope;
use crate::quota::policy::SelfLevelPreemption;
use crate::state::world::State;
use crate::unit::id::JobNo;
use crate::unit::id::QuotaNo;
use crate::unit::priority::Module;
use crate::unit::priority::Priority;
use crate::unit::priority::PrioritySet;

/// Whom a rule allows to take, besides idle jobs and what quotas hold above their amounts since they were scaled down.
#[derive(Clone, Copy, Debug)]
pub enum Rule<'a> {
    /// Nobody else.
    Reclaim,
    /// Jobs of descendants that the policy names.
    ChildLevel(&'a ChildLevelPreemption),
    /// Jobs of the same level that the policy names.
    SelfLevel(&'a SelfLevelPreemption),
}

impl Rule<'_> {
    /// Whether in-quota jobs of this priority and module may be taken.
    pub(super) fn may_take(&self, priority: Priority, module: Module) -> bool {
        match self {
            Self::Reclaim => false,
            Self::ChildLevel(policy) => policy.may_take(priority, module),
            Self::SelfLevel(policy) => policy.may_take(priority, module),
        }
    }

    /// The priorities of whom it may take, if their modules allow it.
    pub(super) fn priorities(&self) -> PrioritySet {
        match self {
            Self::Reclaim => PrioritySet::default(),
            Self::ChildLevel(policy) => policy.preemptible,
            Self::SelfLevel(policy) => policy.low,
        }
    }

    /// Whether jobs of this module may be taken, if their priority allows it.
    pub(super) fn names(&self, module: Module) -> bool {
        match self {
            Self::Reclaim => true,
            Self::ChildLevel(policy) => policy.modules.contains(module),
            Self::SelfLevel(policy) => policy.modules.contains(module),
        }
    }
}

/// Whether a policy of a job's quota names any of these priorities.
#[must_use]
pub fn may_take_any(state: &State, job: &JobSpec, priorities: PrioritySet) -> bool {
    let settings = &state.quotas[job.quota.at()].settings;
    settings.child_level.as_ref().is_some_and(|policy| policy.preemptible.meets(priorities))
        || settings.self_level.as_ref().is_some_and(|policy| policy.low.meets(priorities) && is_high(state, job))
}

/// Whether a policy of a job's quota lets it take a running job of this description.
#[must_use]
pub fn may_take(state: &State, job: &JobSpec, victim: &JobSpec) -> bool {
    child_level_names(state, job.quota, victim)
        || (victim.priority < job.priority && is_high(state, job) && self_level_names(state, job.quota, victim))
}

fn is_high(state: &State, job: &JobSpec) -> bool {
    let policy = state.quotas[job.quota.at()].settings.self_level.as_ref();
    policy.is_some_and(|policy| policy.high.contains(job.priority))
}

fn child_level_names(state: &State, quota: QuotaNo, victim: &JobSpec) -> bool {
    let is_below = victim.quota != quota && ledger::is_within(&state.quotas, victim.quota, quota);
    let policy = state.quotas[quota.at()].settings.child_level.as_ref();
    is_below && policy.is_some_and(|policy| policy.may_take(victim.priority, victim.module))
}

fn self_level_names(state: &State, quota: QuotaNo, victim: &JobSpec) -> bool {
    state.quotas[quota.at()].settings.self_level.as_ref().is_some_and(|policy| {
        let is_near =
            victim.quota == quota || (policy.scope == Scope::SameLevel && are_siblings(state, victim.quota, quota));
        is_near && policy.may_take(victim.priority, victim.module)
    })
}

/// Why one of several victims goes. Whoever is in quota and not named by the rule stands for what its quota holds above
/// its amount.
#[must_use]
pub fn cause_of(state: &State, victim: JobNo, charge: Charge, cause: &Cause) -> Cause {
    let spec = &state.jobs[victim].spec;
    let is_named = match cause {
        Cause::Reclaimed { .. } => false,
        Cause::ChildLevel { quota, .. } => {
            state.quota_no(quota).is_some_and(|quota| child_level_names(state, quota, spec))
        }
        Cause::SelfLevel { quota, .. } => {
            state.quota_no(quota).is_some_and(|quota| self_level_names(state, quota, spec))
        }
        Cause::OverUse { .. }
        | Cause::LendingEnded
        | Cause::ScaledDown { .. }
        | Cause::Halted(_)
        | Cause::BelowPrice { .. }
        | Cause::BelowAverage { .. }
        | Cause::Outbid { .. }
        | Cause::InventoryShrunk { .. } => true,
    };
    if let Cause::Reclaimed { by, .. } | Cause::ChildLevel { by, .. } | Cause::SelfLevel { by, .. } = cause
        && charge == Charge::InQuota
        && !is_named
    {
        return Cause::OverUse { quota: state.quotas[spec.quota.at()].id.clone(), by: by.clone() };
    }
    cause.clone()
}

fn are_siblings(state: &State, a: QuotaNo, b: QuotaNo) -> bool {
    let parent = |no: QuotaNo| state.quotas[no.at()].parent;
    parent(a).is_some() && parent(a) == parent(b)
}
