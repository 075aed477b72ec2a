//! What waiting jobs of one class have in common.

use crate::job::spec::IdlePolicy;
use crate::job::spec::JobSpec;
use crate::quota::tree::Quota;
use crate::unit::id::QuotaNo;
use crate::unit::id::ShapeNo;
use crate::unit::priority::Module;
use crate::unit::priority::Priority;

/// All that the rules see of a waiting job beside its times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ClassKey {
    /// Its quota.
    pub quota: QuotaNo,
    /// Its declared priority.
    pub priority: Priority,
    /// Its module.
    pub module: Module,
    /// Its use of idle amounts.
    pub idle: IdlePolicy,
    /// Its pods.
    pub shape: ShapeNo,
}

impl ClassKey {
    pub(super) fn of(spec: &JobSpec, shape: ShapeNo) -> Self {
        Self { quota: spec.quota, priority: spec.priority, module: spec.module, idle: spec.idle, shape }
    }

    /// What the sources see of it. They never look at the module of a job that waits, and at its priority only where
    /// self-level preemption is switched on.
    pub(super) fn seen_in(self, quota: &Quota) -> Self {
        let priority = if quota.settings.self_level.is_some() { self.priority } else { Priority::LOWEST };
        Self { priority, module: Module::default(), ..self }
    }
}
