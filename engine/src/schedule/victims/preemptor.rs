//! A job for which somebody has to give way, and whom it may take.

use crate::job::phase::Placed;
use crate::job::spec::JobSpec;
use crate::schedule::victims::right::Right;
use crate::schedule::victims::rule::Rule;
use crate::unit::id::QuotaNo;
use crate::unit::priority::Module;
use crate::unit::priority::Priority;

/// A job that preempts others.
pub struct Preemptor<'a> {
    /// The job.
    pub job: &'a JobSpec,
    /// What it would hold, its pods' places excepted.
    pub placed: Placed,
    /// Whom it may take.
    pub rule: Rule<'a>,
    /// Which amounts it may count on.
    pub right: Right,
    /// The quota with the policy.
    pub policy_quota: QuotaNo,
}

impl Preemptor<'_> {
    /// Whether the rule lets the job take in-quota jobs of this priority and module. Equals never are victims at the
    /// same level.
    pub(super) fn may_take(&self, priority: Priority, module: Module) -> bool {
        let is_lower = priority < self.job.priority || !matches!(self.rule, Rule::SelfLevel(_));
        is_lower && self.rule.may_take(priority, module)
    }
}
