//! The ledger: who uses what of which quota (rules 2.2 and 4.1).
//!
//! For every quota it keeps what its own jobs use, what its subtree uses, what its children claim of it, and what
//! of it can be lent. A change walks from the quota to its root, so it costs the depth of the tree, not its size.
//!
//! A child's *claim* is its guarantee or its use, whichever is larger: what is guaranteed is claimed whether it is
//! used or not. A quota's own jobs have what its children do not claim.

pub mod check;
pub mod guaranteed;
pub mod loans;

use crate::quota::tree::Quota;
use crate::state::domain::Domains;
use crate::unit::amount::Amount;
use crate::unit::amount::DIMENSIONS_MAX;
use crate::unit::amount::Guarantee;
use crate::unit::id::DomainNo;
use crate::unit::id::QuotaNo;
use crate::unit::slots::Slots;
use crate::unit::sort;

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
            let book = &mut ledger.quotas[no.at()];
            book.lend = Amount::each(|at| lend(quota, book, at));
            let lent = book.lend;
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

    /// Adds a quota of which nobody uses anything, to those of its parent.
    pub fn add_child(&mut self, tree: &[Quota], no: QuotaNo, domain: DomainNo) {
        let child = &tree[no.at()];
        let lent = Amount::each(|at| lend(child, &QuotaUse::default(), at));
        self.quotas.push(QuotaUse { lend: lent, ..QuotaUse::default() });
        let Some(parent) = child.parent else { return };
        self.quotas[parent.at()].children_min += child.min.amount;
        let mut change = Change { own_jobs: Amount::ZERO, used: Amount::ZERO, claim: child.min.amount, lend: lent };
        let mut next = Some(parent);
        while let Some(at) = next {
            let quota = &tree[at.at()];
            for dimension in 0..DIMENSIONS_MAX {
                change.pass(quota, &mut self.quotas[at.at()], dimension);
            }
            next = quota.parent;
        }
        self.domains[domain.at()].lend += change.lend;
    }
}

/// How much more a tree lends by a child that is added, if nobody uses anything: the child's amount if it lends, and its
/// parent not that amount any more, if that one lends.
#[must_use]
pub fn lent_by_child(parent: &Quota, child: &Quota) -> Amount {
    let lends = |quota: &Quota| if quota.settings.lends { child.min.amount } else { Amount::ZERO };
    lends(child).minus(&lends(parent))
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
    sort::by_key(&mut order, |&no| (std::cmp::Reverse(depth(no)), no));
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

/// Books in-quota use of a job of quota `no`. Dimensions do not touch each other, so only those of the amount are
/// gone through.
pub fn book_in_quota(
    tree: &[Quota],
    quotas: &mut impl Slots<QuotaUse>,
    domain: &mut DomainUse,
    no: QuotaNo,
    amount: Amount,
    sign: Sign,
) {
    let mut change = Change { own_jobs: Amount::ZERO, used: Amount::ZERO, claim: Amount::ZERO, lend: Amount::ZERO };
    sign.apply(&mut change.used, amount);
    change.own_jobs = change.used;
    let mut next = Some(no);
    while let Some(at) = next {
        let quota = &tree[at.at()];
        let book = quotas.get_mut(at.at());
        for dimension in amount.dimensions() {
            change.pass(quota, book, dimension);
        }
        next = quota.parent;
    }
    domain.lend += change.lend;
}

/// What a booking changes in the book of the quota that it comes to next.
struct Change {
    /// What the quota's own jobs use: only where the job was submitted.
    own_jobs: Amount,
    /// What the subtree uses.
    used: Amount,
    /// What the child that it comes from claims.
    claim: Amount,
    /// What the subtree of that child can lend.
    lend: Amount,
}

impl Change {
    /// Changes a quota's book in one dimension, and becomes the change for its parent.
    fn pass(&mut self, quota: &Quota, book: &mut QuotaUse, at: usize) {
        let (claim_before, lend_before) = (claim(quota, book, at), book.lend[at]);
        let add = |to: &mut i64, change: i64| *to = to.saturating_add(change);
        add(&mut book.own_jobs[at], std::mem::take(&mut self.own_jobs[at]));
        add(&mut book.used[at], self.used[at]);
        add(&mut book.claimed[at], self.claim[at]);
        add(&mut book.children_lend[at], self.lend[at]);
        book.lend[at] = lend(quota, book, at);
        self.claim[at] = claim(quota, book, at).saturating_sub(claim_before);
        self.lend[at] = book.lend[at].saturating_sub(lend_before);
    }
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
    let mut unlent = domain.unlent();
    if domain.idle.is_zero() || asked.fits_in(&unlent) {
        return Amount::ZERO;
    }
    for at in asked.dimensions() {
        unlent[at] = unlent[at].saturating_add(lend_change(tree, quotas, no, asked[at], at));
    }
    let mut excess = Amount::ZERO;
    for at in (0..DIMENSIONS_MAX).filter(|at| domain.stated & (1 << at) != 0) {
        excess[at] = unlent[at].min(0).saturating_neg();
    }
    excess
}

/// By how much what a tree can lend would change if a job of quota `no` took `asked` of a dimension in quota.
fn lend_change(tree: &[Quota], quotas: &impl Slots<QuotaUse>, no: QuotaNo, asked: i64, at: usize) -> i64 {
    let (mut own_jobs, mut change) = (asked, 0i64);
    let mut next = Some(no);
    while let Some(no) = next {
        let (quota, book) = (&tree[no.at()], quotas.get(no.at()));
        let own_idle = own_min(quota, book, at).saturating_sub(book.own_jobs[at].saturating_add(own_jobs));
        let children_lend = book.children_lend[at].saturating_add(change);
        let used = book.used[at].saturating_add(asked);
        change = lend_of(quota, own_idle, children_lend, used, at).saturating_sub(book.lend[at]);
        (own_jobs, next) = (0, quota.parent);
    }
    change
}

/// What a quota claims of its parent in a dimension: its guarantee, or its use where that is more.
fn claim(quota: &Quota, book: &QuotaUse, at: usize) -> i64 {
    quota.min.amount[at].max(book.used[at])
}

/// What the quota guarantees to its own jobs in a dimension: its amount without its children's.
#[must_use]
pub fn own_min(quota: &Quota, book: &QuotaUse, at: usize) -> i64 {
    if quota.min.states(at) { quota.min.amount[at].saturating_sub(book.children_min[at]).max(0) } else { 0 }
}

/// What a quota's own jobs leave unused of its own part, whether it lends or not.
#[must_use]
pub fn own_idle(quota: &Quota, book: &QuotaUse) -> Amount {
    Amount::each(|at| own_min(quota, book, at).saturating_sub(book.own_jobs[at]).max(0))
}

/// What a quota's subtree can lend in a dimension.
fn lend(quota: &Quota, book: &QuotaUse, at: usize) -> i64 {
    let own_idle = own_min(quota, book, at).saturating_sub(book.own_jobs[at]);
    lend_of(quota, own_idle, book.children_lend[at], book.used[at], at)
}

/// What a subtree can lend: its own unused part if it lends, and its children's; but never more than the subtree
/// leaves unused as a whole, since a parent's job may use what a child leaves idle.
fn lend_of(quota: &Quota, own_idle: i64, children_lend: i64, used: i64, at: usize) -> i64 {
    let own = if quota.settings.lends { own_idle.max(0) } else { 0 };
    let sum = own.saturating_add(children_lend);
    let unused = quota.min.amount[at].saturating_sub(used).max(0);
    if quota.min.states(at) { sum.min(unused) } else { sum }
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
    let own_use = |at: usize| match reach {
        Reach::Own => book.own_jobs[at].saturating_add(book.claimed[at]),
        Reach::Subtree => book.used[at],
    };
    exceeded(tree, no, own_use, asked)?;
    fits_above(tree, quotas, no, asked)
}

/// Whether a job of quota `no` fits in all the ancestors of that quota, whatever the quota itself says.
pub fn fits_above(tree: &[Quota], quotas: &impl Slots<QuotaUse>, no: QuotaNo, asked: &Amount) -> Result<(), Short> {
    let (mut quota, mut book) = (&tree[no.at()], quotas.get(no.at()));
    while let Some(at) = quota.parent {
        let mut claim_change = Amount::ZERO;
        for dimension in asked.dimensions() {
            let used = book.used[dimension].saturating_add(asked[dimension]);
            let claimed = quota.min.amount[dimension].max(used);
            claim_change[dimension] = claimed.saturating_sub(claim(quota, book, dimension));
        }
        (quota, book) = (&tree[at.at()], quotas.get(at.at()));
        exceeded(tree, at, |dimension| book.used[dimension], asked)?;
        // A child that states no amount, or is already above it, eats into what its parent has for itself.
        let own_use = |dimension: usize| book.own_jobs[dimension].saturating_add(book.claimed[dimension]);
        exceeded(tree, at, own_use, &claim_change)?;
    }
    Ok(())
}

fn exceeded(tree: &[Quota], no: QuotaNo, used: impl Fn(usize) -> i64, asked: &Amount) -> Result<(), Short> {
    let min = &tree[no.at()].min;
    let is_exceeded =
        |&at: &usize| min.states(at) && asked[at] > 0 && used(at).saturating_add(asked[at]) > min.amount[at];
    match asked.dimensions().find(is_exceeded) {
        Some(dimension) => {
            Err(Short { quota: no, dimension, free: min.amount[dimension].saturating_sub(used(dimension)) })
        }
        None => Ok(()),
    }
}

/// Whether a quota's own books plainly let nobody in who asks for this. An ancestor's would not do, since what stands in
/// the way there may be owed; so may what a child claims above its guarantee, which does not count.
#[must_use]
pub fn is_short_of_own(min: &Guarantee, book: &QuotaUse, asked: &Amount) -> bool {
    let used = |at: usize| book.own_jobs[at].saturating_add(book.children_min[at]);
    let is_short = |at: usize| used(at).saturating_add(asked[at]) > min.amount[at];
    asked.dimensions().any(|at| min.states(at) && is_short(at))
}

/// Whether idle amounts of a domain cover `asked`: the first dimension in which they do not, with what is idle.
pub fn fits_in_idle(book: &DomainUse, asked: &Amount) -> Result<(), (usize, i64)> {
    let unlent = |at: usize| book.lend[at].saturating_sub(book.idle[at]);
    let is_short = |&at: &usize| book.stated & (1 << at) != 0 && asked[at] > 0 && asked[at] > unlent(at);
    asked.dimensions().find(is_short).map_or(Ok(()), |at| Err((at, unlent(at))))
}

/// Whether `ancestor` is `no` or an ancestor of it; nothing is an ancestor of no quota.
#[must_use]
pub fn is_within(tree: &[Quota], no: QuotaNo, ancestor: QuotaNo) -> bool {
    let mut next = Some(no);
    while let Some(at) = next {
        if at == ancestor {
            return true;
        }
        next = tree.get(at.at()).and_then(|quota| quota.parent);
    }
    false
}

/// Books idle use in a domain.
pub fn book_idle(domains: &mut impl Slots<DomainUse>, no: DomainNo, amount: Amount, sign: Sign) {
    sign.apply(&mut domains.get_mut(no.at()).idle, amount);
}
