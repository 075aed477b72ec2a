//! Who gives instances of an offer back so that others can have them: the lowest bids first, then the cost of victims
//! (rules 5.4 and 6.4), and nobody who is not needed.
//!
//! Equal bids of one priority form a class; of equal bids the lower priority goes first. The search is that of all
//! victims; what has to be enough are the instances.

use std::cmp::Ordering;
use std::cmp::Reverse;

use crate::schedule::victims::cost::ValueClass;
use crate::schedule::victims::cost::Worth;
use crate::schedule::victims::search;
use crate::schedule::victims::search::Books;
use crate::schedule::victims::search::Item;
use crate::unit::id::JobId;
use crate::unit::id::JobNo;
use crate::unit::priority::Priority;
use crate::unit::sort;
use crate::unit::time::Timestamp;

/// Somebody who may lose its instances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loser<'a> {
    /// The job.
    pub job: JobNo,
    /// The most that it pays for an instance-minute, in micro-units.
    pub limit: i64,
    /// Its declared priority.
    pub priority: Priority,
    /// How many instances it holds.
    pub instances: i64,
    /// What of its work would be lost, in GPU-milliseconds.
    pub lost: i64,
    /// Since when it holds them.
    pub started: Reverse<Timestamp>,
    /// Its name.
    pub id: &'a JobId,
}

impl<'a> Loser<'a> {
    fn item(&self) -> Item<'a> {
        let Self { job, limit, priority, lost, started, id, .. } = *self;
        let worth = Worth { lost, started, id, pod: Reverse(None) };
        Item { job, pod: None, class: ValueClass::of_bid(limit, priority), worth }
    }

    /// The order in which they go if each alone would do.
    fn rank(&self) -> (ValueClass, Worth<'a>) {
        let Item { class, worth, .. } = self.item();
        (class, worth)
    }
}

/// Puts them in the order in which they go if each alone would do.
pub fn sort_losers(losers: &mut [Loser<'_>]) {
    sort::by(losers, |a, b| a.rank().cmp(&b.rank()));
}

/// The cheapest of these that together hold so many instances; all of them if that is not enough. They come in their
/// order and so does the answer.
#[must_use]
pub fn cheapest<'a>(losers: &[Loser<'a>], needed: i64) -> Vec<Loser<'a>> {
    let items: Vec<Item<'a>> = losers.iter().map(Loser::item).collect();
    let Ok(marks) = search::cheapest(&items, &mut Instances { losers, missing: needed }) else {
        return losers.to_vec();
    };
    losers.iter().zip(marks).filter(|(_, goes)| *goes).map(|(loser, _)| *loser).collect()
}

/// Instances that come free.
struct Instances<'l, 'a> {
    losers: &'l [Loser<'a>],
    missing: i64,
}

impl Books for Instances<'_, '_> {
    fn take(&mut self, at: usize) {
        self.missing -= self.losers[at].instances;
    }

    fn spare(&mut self, at: usize) {
        self.missing += self.losers[at].instances;
    }

    fn is_enough(&self) -> bool {
        self.missing <= 0
    }

    fn is_only_unpacked(&self) -> bool {
        false
    }

    fn least(&self, _: &[usize]) -> usize {
        usize::from(!self.is_enough())
    }

    fn by_freed(&self, a: usize, b: usize) -> Ordering {
        self.losers[a].instances.cmp(&self.losers[b].instances)
    }
}
