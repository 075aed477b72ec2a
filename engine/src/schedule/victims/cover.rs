//! Sets that free given amounts, wherever the machines are: what quotas hold above their amounts, or loans that have
//! to end.

use std::cmp::Ordering;

use crate::schedule::victims::candidate::Candidate;
use crate::schedule::victims::candidate::items;
use crate::schedule::victims::search;
use crate::schedule::victims::search::Books;
use crate::unit::amount::Amount;

/// The cheapest of these, the least valuable first, that free what is owed, as a mark for each; nothing if all together
/// do not. `counts_for` says, of each candidate, to which of the debts what it frees counts.
#[must_use]
pub fn cheapest(
    list: &[Candidate<'_>],
    owed: &[Amount],
    counts_for: impl Fn(&Candidate<'_>) -> Vec<usize>,
) -> Option<Vec<bool>> {
    let counts_for = list.iter().map(counts_for).collect();
    let mut cover = Cover { list, owed, counts_for, freed: vec![Amount::ZERO; owed.len()], n_open: 0 };
    cover.n_open = (0..owed.len()).filter(|&debt| !cover.is_paid(debt)).count();
    search::cheapest(&items(list), &mut cover).ok()
}

struct Cover<'c, 'a> {
    list: &'c [Candidate<'a>],
    owed: &'c [Amount],
    /// By candidate: the debts to which it counts.
    counts_for: Vec<Vec<usize>>,
    /// By debt.
    freed: Vec<Amount>,
    /// How many debts are not paid.
    n_open: usize,
}

impl Cover<'_, '_> {
    fn is_paid(&self, debt: usize) -> bool {
        self.owed[debt].fits_in(&self.freed[debt])
    }

    fn shift(&mut self, at: usize, shift: impl Fn(&Amount, &Amount) -> Amount) {
        let amount = self.list[at].amount();
        for which in 0..self.counts_for[at].len() {
            let debt = self.counts_for[at][which];
            self.n_open -= usize::from(!self.is_paid(debt));
            self.freed[debt] = shift(&self.freed[debt], &amount);
            self.n_open += usize::from(!self.is_paid(debt));
        }
    }
}

impl Books for Cover<'_, '_> {
    fn take(&mut self, at: usize) {
        self.shift(at, Amount::plus);
    }

    fn spare(&mut self, at: usize) {
        self.shift(at, Amount::minus);
    }

    fn is_enough(&self) -> bool {
        self.n_open == 0
    }

    fn is_only_unpacked(&self) -> bool {
        false
    }

    fn least(&self, _: &[usize]) -> usize {
        usize::from(!self.is_enough())
    }

    fn by_freed(&self, a: usize, b: usize) -> Ordering {
        let frees = |at: usize| (self.list[at].amount(), &self.counts_for[at]);
        frees(a).cmp(&frees(b))
    }
}
