//! What is guaranteed to the jobs of a quota (rules 3.3).
//!
//! It is the quota's own part, its amount without its children's; with child-level preemption its descendants' amounts
//! as well. What a quota does not state is not constrained by it: its jobs then share what the next quota above has
//! for itself.

use crate::ledger::QuotaUse;
use crate::ledger::own_min;
use crate::quota::tree::Quota;
use crate::unit::amount::Amount;
use crate::unit::id::QuotaNo;
use crate::unit::slots::Slots;

/// What is guaranteed to jobs of quota `no` in a dimension; nothing where no quota limits it.
#[must_use]
pub fn guaranteed(tree: &[Quota], quotas: &impl Slots<QuotaUse>, no: QuotaNo, at: usize) -> Option<i64> {
    let quota = &tree[no.at()];
    if quota.min.states(at) && quota.settings.child_level.is_some() {
        return Some(quota.min.amount[at]);
    }
    let above = std::iter::successors(Some(no), |no| tree[no.at()].parent);
    let stating = above.into_iter().find(|no| tree[no.at()].min.states(at));
    stating.map(|no| own_min(&tree[no.at()], quotas.get(no.at()), at))
}

/// Whether a job of quota `no` that asks for `asked` fits in what is guaranteed to it.
#[must_use]
pub fn is_guaranteed(tree: &[Quota], quotas: &impl Slots<QuotaUse>, no: QuotaNo, asked: &Amount) -> bool {
    asked.dimensions().all(|at| guaranteed(tree, quotas, no, at).is_none_or(|amount| asked[at] <= amount))
}
