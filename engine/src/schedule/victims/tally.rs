//! What is freed by those of a list that are taken: the books of A job in search of victims.

use std::cmp::Ordering;

use crate::job::phase::Charge;
use crate::schedule::victims::by_node;
use crate::schedule::victims::candidate::Candidate;
use crate::schedule::victims::need::Freed;
use crate::schedule::victims::need::times;
use crate::schedule::victims::search::Books;
use crate::schedule::victims::search::ByNode;
use crate::unit::amount::Amount;

/// What is freed by those of a list that are taken.
pub struct Tally<'c, 'a, 't> {
    /// The list.
    pub list: &'c [Candidate<'a>],
    /// What is freed.
    pub freed: Freed<'t>,
}

impl Books for Tally<'_, '_, '_> {
    fn take(&mut self, at: usize) {
        self.freed.take(&self.list[at]);
    }

    fn spare(&mut self, at: usize) {
        self.freed.spare(&self.list[at]);
    }

    fn is_enough(&self) -> bool {
        self.freed.is_enough()
    }

    fn is_only_unpacked(&self) -> bool {
        self.freed.is_only_unpacked()
    }

    fn least(&self, among: &[usize]) -> usize {
        let (freed, need) = (&self.freed, self.freed.need);
        let all = among.iter().map(|&at| &self.list[at]);
        let in_quota = all.clone().filter(|candidate| candidate.charge == Charge::InQuota);
        let largest = |list: &mut dyn Iterator<Item = &Candidate<'_>>| {
            list.fold(Amount::ZERO, |most, candidate| most.greater(&candidate.amount()))
        };
        let quota = times(&largest(&mut in_quota.into_iter()), &need.quota.minus(&freed.quota));
        let floor = times(&largest(&mut all.clone()), &need.floor.minus(&freed.floor));
        let room = freed.least_for_room(all);
        usize::from(!freed.is_enough()).max(quota).max(floor).max(room)
    }

    fn by_freed(&self, a: usize, b: usize) -> Ordering {
        let frees = |at: usize| {
            let candidate = &self.list[at];
            let quota = self.freed.books.as_ref().map(|_| candidate.quota);
            let shape = (!candidate.places.is_empty()).then_some(candidate.shape);
            (candidate.amount(), candidate.charge, quota, candidate.places, shape)
        };
        frees(a).cmp(&frees(b))
    }

    fn are_on_nodes(&self) -> bool {
        self.freed.need.is_on_nodes()
    }

    fn cheapest_by_node(&self, open: &[usize], known: &[usize]) -> Option<ByNode> {
        by_node::cheapest(&self.freed, self.list, open, known)
    }
}
