//! Which amounts a job may count on under a source, and by how much they are short.

use crate::ledger::QuotaUse;
use crate::quota::tree::Quota;
use crate::schedule::trial::Trial;
use crate::state::world::State;
use crate::unit::amount::Amount;
use crate::unit::amount::Guarantee;
use crate::unit::id::QuotaNo;
use crate::unit::slots::Slots;

/// Which amounts a job may count on.
#[derive(Clone, Copy, Debug)]
pub enum Right {
    /// What its quota has for its own jobs.
    Own,
    /// What its quota and its descendants leave unused: child-level preemption.
    Subtree,
    /// What the children of one quota leave unused, but for what they keep: self-level preemption.
    Level {
        /// The quota.
        parent: QuotaNo,
        /// What they leave unused and keep.
        kept: Amount,
    },
}

impl Right {
    /// The right to what the level of a quota leaves unused. A sibling keeps what it does not lend, and the quota's own
    /// children keep what they are guaranteed.
    #[must_use]
    pub fn to_level(trial: &Trial<'_>, quota: QuotaNo, parent: QuotaNo) -> Self {
        let mut kept = Amount::ZERO;
        for (no, sibling) in trial.state.children(parent) {
            let book = trial.quotas.get(no.at());
            kept += if no == quota {
                book.own_jobs.plus(&book.claimed).minus(&book.used).positive()
            } else {
                let lent = if sibling.settings.lends { book.lend } else { Amount::ZERO };
                sibling.min.amount.minus(&book.used).positive().minus(&lent).positive()
            };
        }
        Self::Level { parent, kept }
    }

    /// By how much amounts are short for a job of quota `no` that asks for `asked`. Dimensions in which it asks for
    /// nothing never are.
    #[must_use]
    pub fn shortage(&self, state: &State, quotas: &impl Slots<QuotaUse>, no: QuotaNo, asked: &Amount) -> Amount {
        let tree = &state.quotas;
        let book = quotas.get(no.at());
        match self {
            Self::Own => {
                let used = book.own_jobs.plus(&book.claimed);
                over(&tree[no.at()].min, &used, asked).greater(&above(tree, quotas, no, asked))
            }
            Self::Subtree => over(&tree[no.at()].min, &book.used, asked).greater(&above(tree, quotas, no, asked)),
            Self::Level { parent, kept } => {
                let min = &tree[parent.at()].min;
                let above_min = |sum: Amount, no: QuotaNo, quota: &Quota| {
                    sum.plus(&quotas.get(no.at()).used).minus(&quota.min.amount)
                };
                let used = state.children(*parent).fold(*kept, |sum, (no, quota)| above_min(sum, no, quota));
                let level = over(&Guarantee { amount: Amount::ZERO, stated: min.stated }, &used, asked);
                let whole = over(min, &quotas.get(parent.at()).used, asked);
                level.greater(&whole).greater(&above(tree, quotas, *parent, asked))
            }
        }
    }
}

/// By how much a guarantee would be exceeded.
fn over(min: &Guarantee, used: &Amount, asked: &Amount) -> Amount {
    let mut over = Amount::ZERO;
    for at in asked.dimensions().filter(|&at| asked[at] > 0 && min.states(at)) {
        over[at] = used[at].saturating_add(asked[at]).saturating_sub(min.amount[at]).max(0);
    }
    over
}

/// By how much the ancestors of a quota would be exceeded, in all or in what they have for their own jobs.
fn above(tree: &[Quota], quotas: &impl Slots<QuotaUse>, no: QuotaNo, asked: &Amount) -> Amount {
    let mut short = Amount::ZERO;
    let (mut quota, mut book) = (&tree[no.at()], quotas.get(no.at()));
    while let Some(at) = quota.parent {
        let claim = |used: &Amount| quota.min.amount.greater(used);
        let claim_change = claim(&book.used.plus(asked)).minus(&claim(&book.used));
        (quota, book) = (&tree[at.at()], quotas.get(at.at()));
        short = short.greater(&over(&quota.min, &book.used, asked));
        // Once the child claims no more than before, what is claimed above the parent's amount already is nobody's fault.
        let of_own = over(&quota.min, &book.own_jobs.plus(&book.claimed), &claim_change);
        short = short.greater(&of_own.lesser(&claim_change));
    }
    short
}
