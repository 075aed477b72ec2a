//! The order of the queue (semantics section 3).
//!
//! Each quota orders its own queue by its strategy. Across quotas the heads come by effective priority, then by
//! waiting time, then by name.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::collections::BinaryHeap;
use std::collections::btree_set;

use crate::quota::settings::QueueStrategy;
use crate::state::queue::Class;
use crate::state::queue::Place;
use crate::state::world::State;
use crate::unit::id::ClassNo;
use crate::unit::id::JobId;
use crate::unit::id::JobNo;
use crate::unit::id::QuotaNo;
use crate::unit::priority::Priority;
use crate::unit::time::Millis;
use crate::unit::time::Timestamp;

/// How many points ageing adds at most, one an hour.
const AGEING_MAX: i64 = 6;

/// From this priority on a job keeps its own.
const AGEING_BELOW: u8 = 6;

/// The priority by which a waiting job is ordered: with ageing in quotas that use it. Policies never look at it.
#[must_use]
pub fn effective_priority(
    strategy: QueueStrategy,
    priority: Priority,
    waiting_since: Timestamp,
    now: Timestamp,
) -> i64 {
    let declared = i64::from(priority);
    let ages = strategy == QueueStrategy::Intelligent && priority.get() < AGEING_BELOW;
    let hours = ((now - waiting_since).0 / Millis::HOUR.0).clamp(0, AGEING_MAX);
    if ages { declared + hours } else { declared }
}

/// A place in the order: the smallest comes first.
type Rank<'s> = (Reverse<i64>, Timestamp, &'s JobId);

/// The head of a class inside its quota's queue.
type InQuota<'s> = Reverse<(Rank<'s>, ClassNo, JobNo, Timestamp)>;

/// Waiting jobs, the next one first, while the round goes on.
pub struct Heads<'s> {
    state: &'s State,
    now: Timestamp,
    classes: BTreeMap<ClassNo, btree_set::Iter<'s, Place>>,
    of_quota: BTreeMap<QuotaNo, BinaryHeap<InQuota<'s>>>,
    across: BinaryHeap<Reverse<(Rank<'s>, QuotaNo)>>,
}

impl<'s> Heads<'s> {
    /// The waiting jobs of these classes.
    #[must_use]
    pub fn of(state: &'s State, now: Timestamp, classes: impl IntoIterator<Item = ClassNo>) -> Self {
        let mut heads =
            Self { state, now, classes: BTreeMap::new(), of_quota: BTreeMap::new(), across: BinaryHeap::new() };
        for no in classes {
            heads.classes.insert(no, state.queue.classes[no.at()].waiting.iter());
            heads.move_up(no);
        }
        let quotas: Vec<QuotaNo> = heads.of_quota.keys().copied().collect();
        for quota in quotas {
            heads.offer(quota);
        }
        heads
    }

    /// The next job, with its class. The caller then says what becomes of it: [`Self::pass`], [`Self::close`] or
    /// [`Self::close_quota`].
    pub fn head(&mut self) -> Option<(ClassNo, JobNo)> {
        let Reverse((_, quota)) = self.across.pop()?;
        let Reverse((_, class, job, _)) = self.of_quota.get_mut(&quota)?.pop()?;
        Some((class, job))
    }

    /// The next one of the class moves up.
    pub fn pass(&mut self, class: ClassNo) {
        self.move_up(class);
        self.offer(self.quota_of(class));
    }

    /// Nobody else of this class is looked at.
    pub fn close(&mut self, class: ClassNo) {
        self.offer(self.quota_of(class));
    }

    /// Nobody else of this class's quota is looked at; the other classes with somebody waiting, in the order of who
    /// comes first. Their numbers say nothing: a restored state has others.
    pub fn close_quota(&mut self, class: ClassNo) -> Vec<ClassNo> {
        let closed = self.of_quota.remove(&self.quota_of(class)).unwrap_or_default();
        closed.into_sorted_vec().into_iter().rev().map(|Reverse((_, no, _, _))| no).collect()
    }

    fn quota_of(&self, class: ClassNo) -> QuotaNo {
        self.state.queue.classes[class.at()].key.quota
    }

    /// Puts the class's next job into its quota's queue.
    fn move_up(&mut self, no: ClassNo) {
        let class = &self.state.queue.classes[no.at()];
        if let Some((since, id, job)) = self.classes.get_mut(&no).and_then(Iterator::next) {
            let strategy = self.state.quotas[class.key.quota.at()].settings.strategy;
            let rank = rank_in_quota(strategy, class, *since, id, self.now);
            self.of_quota.entry(class.key.quota).or_default().push(Reverse((rank, no, *job, *since)));
        }
    }

    /// Puts the quota's next job among the others.
    fn offer(&mut self, quota: QuotaNo) {
        if let Some(Reverse(((_, _, id), class, _, since))) = self.of_quota.get(&quota).and_then(BinaryHeap::peek) {
            let strategy = self.state.quotas[quota.at()].settings.strategy;
            let priority = self.state.queue.classes[class.at()].key.priority;
            let effective = effective_priority(strategy, priority, *since, self.now);
            self.across.push(Reverse(((Reverse(effective), *since, id), quota)));
        }
    }
}

fn rank_in_quota<'s>(
    strategy: QueueStrategy,
    class: &Class,
    since: Timestamp,
    id: &'s JobId,
    now: Timestamp,
) -> Rank<'s> {
    match strategy {
        QueueStrategy::Intelligent | QueueStrategy::Balance => {
            (Reverse(effective_priority(strategy, class.key.priority, since, now)), since, id)
        }
        QueueStrategy::StrictFifo | QueueStrategy::RoundRobin => (Reverse(0), since, id),
    }
}

/// The queue of a quota in the order in which it is judged; jobs in backoff are left out.
#[must_use]
pub fn positions(state: &State, quota: QuotaNo, now: Timestamp) -> Vec<JobNo> {
    let classes = state.queue.of_quota.get(&quota).cloned().unwrap_or_default();
    let mut heads = Heads::of(state, now, classes);
    let mut order = Vec::new();
    while let Some((class, job)) = heads.head() {
        order.push(job);
        heads.pass(class);
    }
    order
}
