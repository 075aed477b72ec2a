//! The ledger: who uses what of which quota (semantics sections 2 and 4).
//!
//! For every quota it keeps what its own jobs use, what its subtree uses, what its children claim of it, and what
//! of it can be lent. A change walks from the quota to its root, so it costs the depth of the tree, not its size.
//!
//! A child's *claim* is its guarantee or its use, whichever is larger: what is guaranteed is claimed whether it is
//! used or not. A quota's own jobs have what its children do not claim.

pub mod check;
pub mod loans;

use crate::quota::tree::Quota;
use crate::state::domain::Domains;
use crate::unit::amount::Amount;
use crate::unit::amount::DIMENSIONS_MAX;
use crate::unit::id::DomainNo;
use crate::unit::id::QuotaNo;
use crate::unit::slots::Slots;

/// What the ledger keeps of a quota.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QuotaUse {
    /// In-quota use of jobs submitted to the quota itself.
    pub own_jobs: Amount,
    /// In-quota use of the quota and its descendants.
    pub used: Amount,
    /// What its children claim.
    pub claimed: Amount,
    /// What its children's subtrees can lend.
    pub children_lend: Amount,
    /// What its subtree can lend: guaranteed, not used, and not kept from lending.
    pub lend: Amount,
    /// The sum of its children's guarantees.
    pub children_min: Amount,
}

/// What the ledger keeps of a domain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DomainUse {
    /// What idle jobs use.
    pub idle: Amount,
    /// What its roots can lend.
    pub lend: Amount,
    /// The dimensions that its roots state, in which lending is limited.
    pub stated: u8,
}

impl DomainUse {
    /// What is idle and not lent yet; negative when too much is lent. Unlimited dimensions are left out.
    #[must_use]
    pub fn unlent(&self) -> Amount {
        self.lend.minus(&self.idle)
    }
}

/// The quotas' and domains' books.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    /// By quota number.
    pub quotas: Vec<QuotaUse>,
    /// By domain number.
    pub domains: Vec<DomainUse>,
}

impl Ledger {
    /// Books without any use for these quotas and domains.
    #[must_use]
    pub fn empty(tree: &[Quota], domains: &Domains) -> Self {
        let mut ledger = Self {
            quotas: vec![QuotaUse::default(); tree.len()],
            domains: vec![DomainUse::default(); domains.list.len()],
        };
        for quota in tree.iter().filter(|quota| !quota.is_deleted) {
            if let Some(parent) = quota.parent {
                ledger.quotas[parent.at()].children_min += quota.min.amount;
                ledger.quotas[parent.at()].claimed += quota.min.amount;
            }
        }
        for no in bottom_up(tree) {
            let quota = &tree[no.at()];
            ledger.quotas[no.at()].lend = lend(quota, &ledger.quotas[no.at()]);
            let lent = ledger.quotas[no.at()].lend;
            if let Some(parent) = quota.parent {
                ledger.quotas[parent.at()].children_lend += lent;
            } else {
                let domain = &mut ledger.domains[domains.of_quota(no).at()];
                domain.lend += lent;
                domain.stated |= quota.min.stated;
            }
        }
        ledger
    }
}

/// The live quotas, children before their parents. A parent may have a higher number than its child.
fn bottom_up(tree: &[Quota]) -> Vec<QuotaNo> {
    let depth = |mut no: QuotaNo| {
        let mut depth = 0u32;
        while let Some(parent) = tree[no.at()].parent {
            no = parent;
            depth += 1;
        }
        depth
    };
    let mut order: Vec<QuotaNo> = (0..tree.len()).filter(|&at| !tree[at].is_deleted).map(QuotaNo::from_index).collect();
    order.sort_by_key(|&no| (std::cmp::Reverse(depth(no)), no));
    order
}

/// Which way a booking goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// More use.
    Add,
    /// Less use.
    Remove,
}

impl Sign {
    fn apply(self, to: &mut Amount, amount: Amount) {
        match self {
            Self::Add => *to += amount,
            Self::Remove => *to -= amount,
        }
    }
}

/// Books in-quota use of a job of quota `no`.
pub fn book_in_quota(
    tree: &[Quota],
    quotas: &mut impl Slots<QuotaUse>,
    domain: &mut DomainUse,
    no: QuotaNo,
    amount: Amount,
    sign: Sign,
) {
    sign.apply(&mut quotas.get_mut(no.at()).own_jobs, amount);
    let mut change = Change::default();
    let mut next = Some(no);
    while let Some(at) = next {
        let quota = &tree[at.at()];
        change = change.pass(quota, quotas.get_mut(at.at()), amount, sign);
        next = quota.parent;
    }
    domain.lend += change.lend;
}

/// By how much loans in a domain would exceed what is idle there if a job of quota `no` took `asked` in quota.
#[must_use]
pub fn loan_excess(
    tree: &[Quota],
    quotas: &impl Slots<QuotaUse>,
    domain: &DomainUse,
    no: QuotaNo,
    asked: &Amount,
) -> Amount {
    if domain.idle.is_zero() || asked.fits_in(&domain.unlent()) {
        return Amount::ZERO;
    }
    let mut change = Change::default();
    let mut next = Some(no);
    while let Some(at) = next {
        let quota = &tree[at.at()];
        let mut book = quotas.get(at.at()).clone();
        if at == no {
            book.own_jobs += *asked;
        }
        change = change.pass(quota, &mut book, *asked, Sign::Add);
        next = quota.parent;
    }
    let unlent = domain.lend.plus(&change.lend).minus(&domain.idle);
    let mut excess = Amount::ZERO;
    for at in (0..DIMENSIONS_MAX).filter(|at| domain.stated & (1 << at) != 0) {
        excess[at] = unlent[at].min(0).saturating_neg();
    }
    excess
}

/// What changes for a parent when a child's use does.
#[derive(Clone, Copy, Default)]
struct Change {
    claim: Amount,
    lend: Amount,
}

impl Change {
    /// Takes the change of a child and of the use into a quota's book; the change for its parent.
    fn pass(self, quota: &Quota, book: &mut QuotaUse, amount: Amount, sign: Sign) -> Self {
        book.claimed += self.claim;
        book.children_lend += self.lend;
        let (claim_before, lend_before) = (claim(quota, book), book.lend);
        sign.apply(&mut book.used, amount);
        book.lend = lend(quota, book);
        Self { claim: claim(quota, book).minus(&claim_before), lend: book.lend.minus(&lend_before) }
    }
}

/// What a quota claims of its parent: its guarantee, or its use where that is more.
fn claim(quota: &Quota, book: &QuotaUse) -> Amount {
    quota.min.amount.greater(&book.used)
}

/// What the quota guarantees to its own jobs: its amount without its children's.
#[must_use]
pub fn own_min(quota: &Quota, book: &QuotaUse) -> Amount {
    quota.min.masked(&quota.min.amount.minus(&book.children_min)).positive()
}

/// What a quota's own jobs leave unused of its own part, whether it lends or not.
#[must_use]
pub fn own_idle(quota: &Quota, book: &QuotaUse) -> Amount {
    own_min(quota, book).minus(&book.own_jobs).positive()
}

/// What a quota's subtree can lend: its own unused part if it lends, and its children's; but never more than the
/// subtree leaves unused as a whole, since a parent's job may use what a child leaves idle.
fn lend(quota: &Quota, book: &QuotaUse) -> Amount {
    let own = if quota.settings.lends { own_idle(quota, book) } else { Amount::ZERO };
    let sum = own.plus(&book.children_lend);
    let unused = quota.min.amount.minus(&book.used).positive();
    let mut result = sum;
    for dimension in 0..DIMENSIONS_MAX {
        if quota.min.states(dimension) {
            result[dimension] = sum[dimension].min(unused[dimension]);
        }
    }
    result
}

/// Where a request does not fit: the quota, the dimension, and what is free there for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Short {
    /// The quota whose amount is short.
    pub quota: QuotaNo,
    /// The dimension.
    pub dimension: usize,
    /// What is free there; may be negative.
    pub free: i64,
}

/// Which part of a quota's amount a job may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// What its children do not claim.
    Own,
    /// Everything that the subtree leaves unused: child-level preemption.
    Subtree,
}

/// Whether a job of quota `no` that asks for `asked` fits in the quota and all its ancestors.
pub fn fits_in_quota(
    tree: &[Quota],
    quotas: &impl Slots<QuotaUse>,
    no: QuotaNo,
    asked: &Amount,
    reach: Reach,
) -> Result<(), Short> {
    let book = quotas.get(no.at());
    let own_use = match reach {
        Reach::Own => book.own_jobs.plus(&book.claimed),
        Reach::Subtree => book.used,
    };
    exceeded(tree, no, &own_use, asked)?;
    fits_above(tree, quotas, no, asked)
}

/// Whether a job of quota `no` fits in all the ancestors of that quota, whatever the quota itself says.
pub fn fits_above(tree: &[Quota], quotas: &impl Slots<QuotaUse>, no: QuotaNo, asked: &Amount) -> Result<(), Short> {
    let book = quotas.get(no.at());
    let quota = &tree[no.at()];
    let mut claim_change = quota.min.amount.greater(&book.used.plus(asked)).minus(&claim(quota, book));
    let mut next = quota.parent;
    while let Some(at) = next {
        let book = quotas.get(at.at());
        exceeded(tree, at, &book.used, asked)?;
        // A child that states no amount, or is already above it, eats into what its parent has for itself.
        exceeded(tree, at, &book.own_jobs.plus(&book.claimed), &claim_change)?;
        let quota = &tree[at.at()];
        claim_change = quota.min.amount.greater(&book.used.plus(asked)).minus(&claim(quota, book));
        next = quota.parent;
    }
    Ok(())
}

fn exceeded(tree: &[Quota], no: QuotaNo, used: &Amount, asked: &Amount) -> Result<(), Short> {
    let min = &tree[no.at()].min;
    match min.first_exceeded(used, asked) {
        Some(dimension) => {
            Err(Short { quota: no, dimension, free: min.amount[dimension].saturating_sub(used[dimension]) })
        }
        None => Ok(()),
    }
}

/// Whether idle amounts of a domain cover `asked`: the first dimension in which they do not, with what is idle.
pub fn fits_in_idle(book: &DomainUse, asked: &Amount) -> Result<(), (usize, i64)> {
    let unlent = book.unlent();
    let short = (0..DIMENSIONS_MAX).find(|&at| book.stated & (1 << at) != 0 && asked[at] > 0 && asked[at] > unlent[at]);
    short.map_or(Ok(()), |at| Err((at, unlent[at])))
}

/// Whether `ancestor` is `no` or an ancestor of it.
#[must_use]
pub fn is_within(tree: &[Quota], no: QuotaNo, ancestor: QuotaNo) -> bool {
    let mut next = Some(no);
    while let Some(at) = next {
        if at == ancestor {
            return true;
        }
        next = tree[at.at()].parent;
    }
    false
}

/// Books idle use in a domain.
pub fn book_idle(domains: &mut impl Slots<DomainUse>, no: DomainNo, amount: Amount, sign: Sign) {
    sign.apply(&mut domains.get_mut(no.at()).idle, amount);
}
