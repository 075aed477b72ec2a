//! Where each quota's GPUs are: the parts of its bar, which add up to what it is guaranteed.
//!
//! All numbers come from the engine's ledger. A loan inside a quota's own subtree is use by its children, and a loan
//! that crosses its border is lent or borrowed, so that no part of a bar is counted twice.

use std::collections::BTreeMap;

use engine::ledger::is_within;
use engine::ledger::loans::Loan;
use engine::ledger::loans::loans;
use engine::state::world::State;
use engine::unit::id::DomainNo;
use engine::unit::id::QuotaNo;

/// The parts of a quota's bar, in the engine's unit (thousandths of a GPU).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Book {
    /// What it is guaranteed.
    pub guaranteed: i64,
    /// In-quota use of jobs submitted to it.
    pub own: i64,
    /// Use of its descendants' jobs, loans among them included.
    pub children: i64,
    /// What jobs outside its subtree hold of it.
    pub lent: i64,
    /// What jobs of its ancestors hold of what its subtree leaves unused.
    pub above: i64,
    /// What its subtree's jobs hold of others.
    pub borrowed: i64,
    /// What nobody uses.
    pub idle: i64,
    /// What waiting jobs of its subtree ask for.
    pub waiting: i64,
    /// How many jobs of its subtree wait.
    pub n_waiting: u32,
    /// How many jobs of its subtree hold GPUs.
    pub n_running: u32,
}

impl Book {
    /// The length of the bar.
    #[must_use]
    pub fn extent(&self) -> i64 {
        self.guaranteed.max(self.used()) + self.borrowed
    }

    /// What is used of the guaranteed amount, by whomever.
    #[must_use]
    pub fn used(&self) -> i64 {
        self.own + self.children + self.lent + self.above
    }
}

/// The books of all quotas, by number, and their sum.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Books {
    by_quota: Vec<Book>,
    /// All roots together.
    pub total: Book,
    /// The longest bar.
    pub longest: i64,
}

impl Books {
    /// The books of a state.
    pub fn of(state: &State) -> Self {
        let mut books = Self { by_quota: vec![Book::default(); state.quotas.len()], ..Self::default() };
        for (no, quota) in state.live_quotas() {
            let entry = &state.ledger.quotas[no.at()];
            let own = state.cluster.gpus(&entry.own_jobs);
            let used = state.cluster.gpus(&entry.used);
            let book = &mut books.by_quota[no.at()];
            book.guaranteed = state.cluster.gpus(&quota.min.amount);
            book.own = own;
            book.children = used - own;
        }
        for at in 0..state.domains.list.len() {
            for loan in loans(state, DomainNo::from_index(at)) {
                books.book_loan(state, &loan);
            }
        }
        books.count_jobs(state);
        books.settle_idle(state);
        books.longest = books.by_quota.iter().map(Book::extent).max().unwrap_or(0);
        books.total = books.sum_of_roots(state);
        books
    }

    /// The book of a quota.
    #[must_use]
    pub fn get(&self, no: QuotaNo) -> Book {
        self.by_quota.get(no.at()).copied().unwrap_or_default()
    }

    fn book_loan(&mut self, state: &State, loan: &Loan) {
        let gpus = state.cluster.gpus(&loan.amount);
        self.total.lent += gpus;
        let borrower = state.jobs[loan.job].spec.quota;
        for no in chain(state, loan.lender) {
            let book = &mut self.by_quota[no.at()];
            if !is_within(&state.quotas, borrower, no) {
                book.lent += gpus;
            } else if borrower == no {
                book.own += gpus;
            } else {
                book.children += gpus;
            }
        }
        for no in chain(state, borrower).filter(|no| !is_within(&state.quotas, loan.lender, *no)) {
            self.by_quota[no.at()].borrowed += gpus;
        }
    }

    /// A subtree cannot leave more idle than its parent does: the rest is in the hands of the parent's own jobs.
    fn settle_idle(&mut self, state: &State) {
        let mut open: Vec<(QuotaNo, i64)> =
            state.live_quotas().filter(|(_, quota)| quota.parent.is_none()).map(|(no, _)| (no, i64::MAX)).collect();
        let mut children: BTreeMap<QuotaNo, Vec<QuotaNo>> = BTreeMap::new();
        for (no, quota) in state.live_quotas() {
            if let Some(parent) = quota.parent {
                children.entry(parent).or_default().push(no);
            }
        }
        while let Some((no, idle_above)) = open.pop() {
            let book = &mut self.by_quota[no.at()];
            let unused = (book.guaranteed - book.used()).max(0);
            book.idle = unused.min(idle_above);
            book.above = unused - book.idle;
            let idle = book.idle;
            open.extend(children.get(&no).into_iter().flatten().map(|child| (*child, idle)));
        }
    }

    fn count_jobs(&mut self, state: &State) {
        let mut of_quota: BTreeMap<QuotaNo, (u32, u32, i64)> = BTreeMap::new();
        for (_, job) in state.jobs.iter().filter(|(_, job)| !job.bids()) {
            let counts = of_quota.entry(job.spec.quota).or_default();
            if job.is_queued() {
                counts.0 += 1;
                counts.2 += state.cluster.gpus(&job.spec.shape.gang_amount());
            } else if job.placed().is_some() {
                counts.1 += 1;
            }
        }
        for (quota, (n_waiting, n_running, waiting)) in of_quota {
            for no in chain(state, quota) {
                let book = &mut self.by_quota[no.at()];
                book.n_waiting += n_waiting;
                book.n_running += n_running;
                book.waiting += waiting;
            }
        }
    }

    /// The roots together. Here every loan counts as lent, also one inside a root: it is not use in quota.
    fn sum_of_roots(&self, state: &State) -> Book {
        let all_lent = self.total.lent;
        let mut sum = Book::default();
        for (no, _) in state.live_quotas().filter(|(_, quota)| quota.parent.is_none()) {
            let book = self.get(no);
            sum.guaranteed += book.guaranteed;
            sum.own += book.own;
            sum.children += book.children + book.lent;
            sum.idle += book.idle;
            sum.waiting += book.waiting;
            sum.n_waiting += book.n_waiting;
            sum.n_running += book.n_running;
        }
        sum.children -= all_lent;
        sum.lent = all_lent;
        sum
    }
}

/// A quota and its ancestors.
pub fn chain(state: &State, no: QuotaNo) -> impl Iterator<Item = QuotaNo> + '_ {
    std::iter::successors(Some(no), |no| state.quotas.get(no.at()).and_then(|quota| quota.parent))
}

#[cfg(test)]
mod tests {
    use engine::job::spec::IdlePolicy;
    use engine::message::command::CancelJob;
    use engine::message::command::Command;
    use engine::message::command::SubmitJob;
    use engine::unit::id::JobId;

    use super::*;
    use crate::example::decide;
    use crate::example::job;
    use crate::example::quota;
    use crate::example::three_teams;

    fn cancel(state: &mut State, name: &str) {
        let job = JobId::new(name).expect("a good name");
        decide(state, &Command::CancelJob(CancelJob { job }));
    }

    fn book(state: &State, name: &str) -> Book {
        Books::of(state).get(quota(state, name))
    }

    #[test]
    fn a_full_cluster_is_in_the_hands_of_its_children() {
        let state = three_teams();
        let Book { guaranteed, own, children, idle, n_running, .. } = book(&state, "Quota1");
        assert_eq!((guaranteed, own, children, idle, n_running), (128_000, 0, 128_000, 0, 8));
        assert_eq!(book(&state, "Quota1.1").own, 48_000);
    }

    #[test]
    fn a_loan_is_lent_below_and_used_above() {
        let mut state = three_teams();
        cancel(&mut state, "development-a");
        let borrower = SubmitJob { idle: IdlePolicy::Acceptable, ..job(&state, "borrower", "Quota1.1", 16) };
        decide(&mut state, &Command::SubmitJob(borrower));
        assert_eq!((book(&state, "Quota1.1").borrowed, book(&state, "Quota1.2").lent), (16_000, 16_000));
        let root = book(&state, "Quota1");
        assert_eq!((root.children, root.lent, root.borrowed, root.idle), (128_000, 0, 0, 0));
        let total = Books::of(&state).total;
        assert_eq!((total.own + total.children, total.lent, total.idle), (112_000, 16_000, 0));
    }

    #[test]
    fn what_the_parents_jobs_hold_is_not_idle_below() {
        let mut state = three_teams();
        cancel(&mut state, "development-a");
        let above = job(&state, "above", "Quota1", 16);
        decide(&mut state, &Command::SubmitJob(above));
        let child = book(&state, "Quota1.2");
        assert_eq!((child.own, child.above, child.idle), (64_000, 16_000, 0));
        assert_eq!(book(&state, "Quota1").own, 16_000);
    }

    #[test]
    fn the_parts_of_a_bar_add_up() {
        let mut state = three_teams();
        cancel(&mut state, "training-a");
        for name in ["Quota1", "Quota1.1", "Quota1.2"] {
            let book = book(&state, name);
            assert_eq!(book.used() + book.idle, book.guaranteed, "{name}");
        }
    }
}
