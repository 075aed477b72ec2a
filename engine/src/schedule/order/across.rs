//! The next jobs of the quotas, in the order across quotas.
//!
//! When a level is reached, those of many quotas take their places together. They are sorted at once, which costs less
//! than a heap that gives them back one by one. Who takes a place while others have theirs goes to a heap.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::schedule::order::rank::Rank;
use crate::unit::sort;

/// A quota's next job: its place, and the number of the quota's queue.
pub(super) type QueuePlace<'s> = (Rank<'s>, u32);

/// The next jobs of the quotas. A quota may have several places here, of which only the last one given counts.
#[derive(Default)]
pub(super) struct Across<'s> {
    /// Positions among those who took their places together, the next one last: places are too long to be moved often.
    sorted: Vec<usize>,
    arranged: Vec<QueuePlace<'s>>,
    rest: BinaryHeap<Reverse<QueuePlace<'s>>>,
    /// Those who are about to take their places together, in any order.
    gathered: Vec<QueuePlace<'s>>,
}

impl<'s> Across<'s> {
    pub(super) fn peek(&self) -> Option<&QueuePlace<'s>> {
        let first = self.sorted.last().map(|at| &self.arranged[*at]);
        first.into_iter().chain(self.rest.peek().map(|Reverse(place)| place)).min()
    }

    pub(super) fn pop(&mut self) -> Option<QueuePlace<'s>> {
        let first = self.sorted.last().map(|at| self.arranged[*at]);
        let is_later = |place: QueuePlace<'s>| self.rest.peek().is_some_and(|Reverse(other)| *other < place);
        if first.is_none_or(is_later) {
            return self.rest.pop().map(|Reverse(place)| place);
        }
        self.sorted.pop();
        first
    }

    pub(super) fn push(&mut self, place: QueuePlace<'s>) {
        self.rest.push(Reverse(place));
    }

    /// Adds one of those who take their places together: they have them after [`Self::arrange`].
    pub(super) fn gather(&mut self, place: QueuePlace<'s>) {
        self.gathered.push(place);
    }

    /// Gives those their places who have been gathered.
    pub(super) fn arrange(&mut self) {
        if self.sorted.is_empty() {
            std::mem::swap(&mut self.arranged, &mut self.gathered);
            self.gathered.clear();
            let places = &self.arranged;
            self.sorted.extend(0..places.len());
            sort::by(&mut self.sorted, |a, b| places[*b].cmp(&places[*a]));
        } else {
            self.rest.extend(self.gathered.drain(..).map(Reverse));
        }
    }
}
