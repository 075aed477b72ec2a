//! What it costs to take something (rules 5.4).

use std::cmp::Reverse;

use crate::unit::id::JobId;
use crate::unit::priority::Priority;
use crate::unit::sort;
use crate::unit::time::Timestamp;

/// What a victim stands on, the least valuable first. No priority makes up for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Standing {
    /// Idle amounts of lenders.
    Lent,
    /// More than is owed: what a quota holds above its amount since it was scaled down; in a scale with `evict`, pods
    /// above a minimum.
    Above,
    /// Its quota.
    InQuota,
    /// A sibling's quota, for a preemptor that looks there only as far as its own quota does not suffice.
    InSibling,
}

/// How valuable something's class is: on the market the bid; in quotas what it stands on; then the priority; then
/// whole jobs above pods that an elastic job can spare.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ValueClass {
    bid: i64,
    standing: Standing,
    priority: Priority,
    is_whole: bool,
}

impl ValueClass {
    /// The class of a victim.
    #[must_use]
    pub fn of(standing: Standing, priority: Priority, is_whole: bool) -> Self {
        Self { bid: 0, standing, priority, is_whole }
    }

    /// The class of whoever runs on the market.
    #[must_use]
    pub fn of_bid(bid: i64, priority: Priority) -> Self {
        Self { bid, standing: Standing::InQuota, priority, is_whole: true }
    }
}

/// The order in which victims of one class are taken, the first first: least unsaved work, newest start, name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Worth<'a> {
    /// Unsaved work, in GPU-milliseconds.
    pub lost: i64,
    /// When it started; the newest is taken first.
    pub started: Reverse<Timestamp>,
    /// The job.
    pub id: &'a JobId,
    /// The position of an extra pod, the last first; nothing for a whole job.
    pub pod: Reverse<Option<u32>>,
}

/// When somebody comes among those who lose the same: start, job and pod.
pub type Turn<'a> = (Reverse<Timestamp>, &'a JobId, Reverse<Option<u32>>);

impl<'a> Worth<'a> {
    /// Who is taken in a choice, the newest first: of choices that cost the same the first in this order is taken.
    #[must_use]
    pub fn turns(choice: impl Iterator<Item = Self>) -> Vec<Turn<'a>> {
        let mut turns: Vec<Turn<'_>> = choice.map(|worth| (worth.started, worth.id, worth.pod)).collect();
        sort::by_key(&mut turns, |turn| *turn);
        turns
    }
}

/// What a choice costs within one class, before it is asked who: unsaved work, then number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cost {
    lost: i64,
    count: u32,
}

impl Cost {
    /// The cost with one more that loses so much.
    #[must_use]
    pub fn and(self, lost: i64) -> Self {
        self.plus(Self { lost, count: 1 })
    }

    /// What two choices cost together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self { lost: self.lost.saturating_add(other.lost), count: self.count.saturating_add(other.count) }
    }

    /// The work that is lost.
    #[must_use]
    pub fn lost(self) -> i64 {
        self.lost
    }
}
