//! The order of the queue (semantics section 3).
//!
//! Each quota orders its own queue by its strategy. Across quotas the heads come by effective priority, then by
//! waiting time, then by name.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::collections::BinaryHeap;
use std::collections::btree_set;
use std::iter::Peekable;

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

/// Waiting jobs, the next one first, while the round goes on.
pub struct Heads<'s> {
    state: &'s State,
    now: Timestamp,
    classes: BTreeMap<ClassNo, Peekable<btree_set::Iter<'s, Place>>>,
    of_quota: BTreeMap<QuotaNo, BTreeSet<ClassNo>>,
    heap: BinaryHeap<Reverse<(Rank<'s>, QuotaNo, ClassNo, JobNo)>>,
}

impl<'s> Heads<'s> {
    /// The waiting jobs of these classes.
    #[must_use]
    pub fn of(state: &'s State, now: Timestamp, classes: impl IntoIterator<Item = ClassNo>) -> Self {
        let mut heads =
            Self { state, now, classes: BTreeMap::new(), of_quota: BTreeMap::new(), heap: BinaryHeap::new() };
        for no in classes {
            let class = &state.queue.classes[no.at()];
            heads.classes.insert(no, class.waiting.iter().peekable());
            heads.of_quota.entry(class.key.quota).or_default().insert(no);
        }
        let quotas: Vec<QuotaNo> = heads.of_quota.keys().copied().collect();
        for quota in quotas {
            heads.offer(quota);
        }
        heads
    }

    /// The next job, with its class. It stays the head of its class until [`Self::pass`] or [`Self::close`].
    pub fn head(&mut self) -> Option<(ClassNo, JobNo)> {
        self.heap.pop().map(|Reverse((_, _, class, job))| (class, job))
    }

    /// The head of the class is done with; the next one of its class moves up.
    pub fn pass(&mut self, class: ClassNo) {
        if let Some(waiting) = self.classes.get_mut(&class) {
            waiting.next();
        }
        self.offer(self.quota_of(class));
    }

    /// Nobody else of this class is looked at.
    pub fn close(&mut self, class: ClassNo) {
        let quota = self.quota_of(class);
        self.classes.remove(&class);
        if let Some(classes) = self.of_quota.get_mut(&quota) {
            classes.remove(&class);
        }
        self.offer(quota);
    }

    /// Nobody else of this class's quota is looked at; the other classes with somebody waiting.
    pub fn close_quota(&mut self, class: ClassNo) -> Vec<ClassNo> {
        let closed = self.of_quota.remove(&self.quota_of(class)).unwrap_or_default();
        let is_waiting =
            |no: &ClassNo| *no != class && self.classes.get_mut(no).is_some_and(|waiting| waiting.peek().is_some());
        closed.into_iter().filter(is_waiting).collect()
    }

    fn quota_of(&self, class: ClassNo) -> QuotaNo {
        self.state.queue.classes[class.at()].key.quota
    }

    /// Puts the quota's next job among the others.
    fn offer(&mut self, quota: QuotaNo) {
        let Some(classes) = self.of_quota.get(&quota) else { return };
        let strategy = self.state.quotas[quota.at()].settings.strategy;
        let mut best: Option<((Rank<'s>, Rank<'s>), ClassNo, JobNo)> = None;
        for no in classes {
            let Some((since, id, job)) = self.classes.get_mut(no).and_then(|waiting| waiting.peek().copied()) else {
                continue;
            };
            let key = rank_in_quota(strategy, &self.state.queue.classes[no.at()], *since, id, self.now);
            if best.as_ref().is_none_or(|(other, _, _)| key.0 < other.0) {
                best = Some((key, *no, *job));
            }
        }
        if let Some(((_, across), class, job)) = best {
            self.heap.push(Reverse((across, quota, class, job)));
        }
    }
}

/// A job's rank inside its quota, and its rank among the heads of all quotas.
fn rank_in_quota<'s>(
    strategy: QueueStrategy,
    class: &Class,
    since: Timestamp,
    id: &'s JobId,
    now: Timestamp,
) -> (Rank<'s>, Rank<'s>) {
    let effective = Reverse(effective_priority(strategy, class.key.priority, since, now));
    let across = (effective, since, id);
    let inside = match strategy {
        QueueStrategy::Intelligent | QueueStrategy::Balance => across,
        QueueStrategy::StrictFifo | QueueStrategy::RoundRobin => (Reverse(0), since, id),
    };
    (inside, across)
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
