//! The order of the queue (semantics section 3).
//!
//! Each quota orders its own queue by its strategy. Across quotas the heads come by effective priority, then by
//! waiting time, then by name.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::quota::settings::QueueStrategy;
use crate::state::jobs::Place;
use crate::state::queue::Class;
use crate::state::world::State;
use crate::unit::id::ClassNo;
use crate::unit::id::JobNo;
use crate::unit::id::QuotaNo;
use crate::unit::priority::Priority;
use crate::unit::sort;
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
type Rank<'s> = (Reverse<i64>, Place<'s>);

/// Whose turn it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Head {
    /// The job.
    pub job: JobNo,
    /// Its class.
    pub class: ClassNo,
    /// Its place in the line of the class.
    place: u32,
    /// Its quota's queue.
    queue: u32,
}

/// The classes of a quota with their heads, the next one on top.
type InQuota<'s> = BinaryHeap<Reverse<(Rank<'s>, Head)>>;

/// Waiting jobs, the next one first, while the round goes on.
pub struct Heads<'s> {
    state: &'s State,
    now: Timestamp,
    queues: Vec<InQuota<'s>>,
    across: BinaryHeap<Reverse<(Rank<'s>, u32)>>,
}

impl<'s> Heads<'s> {
    /// The waiting jobs of these classes.
    #[must_use]
    pub fn of(state: &'s State, now: Timestamp, mut classes: Vec<ClassNo>) -> Self {
        let quota_of = |class: &ClassNo| state.queue.classes[class.at()].key.quota;
        sort::by_key(&mut classes, quota_of);
        let mut heads = Self { state, now, queues: Vec::new(), across: BinaryHeap::new() };
        for (queue, classes) in (0..).zip(classes.chunk_by(|a, b| quota_of(a) == quota_of(b))) {
            let members = classes.iter().filter_map(|class| heads.member(*class, 0, queue));
            let members = members.collect();
            heads.queues.push(members);
            heads.offer(queue);
        }
        heads
    }

    /// The next job. The caller then says what becomes of it: [`Self::pass`], [`Self::close`] or
    /// [`Self::close_quota`].
    pub fn head(&mut self) -> Option<Head> {
        let Reverse((_, queue)) = self.across.pop()?;
        let Reverse((_, head)) = self.queues[queue as usize].pop()?;
        Some(head)
    }

    /// The next one of the class moves up.
    pub fn pass(&mut self, head: Head) {
        let next = self.member(head.class, head.place + 1, head.queue);
        self.queues[head.queue as usize].extend(next);
        self.offer(head.queue);
    }

    /// Nobody else of this class is looked at.
    pub fn close(&mut self, head: Head) {
        self.offer(head.queue);
    }

    /// Nobody else of this class's quota is looked at; the other classes with somebody waiting, in the order of who
    /// comes first. Their numbers say nothing: a restored state has others.
    pub fn close_quota(&mut self, head: Head) -> Vec<ClassNo> {
        let closed = std::mem::take(&mut self.queues[head.queue as usize]);
        closed.into_sorted_vec().into_iter().rev().map(|Reverse((_, head))| head.class).collect()
    }

    /// A job of a class with its rank, by its place in the line.
    fn member(&self, no: ClassNo, place: u32, queue: u32) -> Option<Reverse<(Rank<'s>, Head)>> {
        let class = &self.state.queue.classes[no.at()];
        let job = class.waiting.get(place as usize)?;
        let waits = self.state.jobs[job].place();
        let strategy = self.state.quotas[class.key.quota.at()].settings.strategy;
        let rank = rank_in_quota(strategy, class, waits, self.now);
        Some(Reverse((rank, Head { job, class: no, place, queue })))
    }

    /// Puts the quota's next job among the others.
    fn offer(&mut self, queue: u32) {
        if let Some(Reverse(((_, waits), head))) = self.queues[queue as usize].peek() {
            let key = &self.state.queue.classes[head.class.at()].key;
            let strategy = self.state.quotas[key.quota.at()].settings.strategy;
            let effective = effective_priority(strategy, key.priority, waits.0, self.now);
            self.across.push(Reverse(((Reverse(effective), *waits), queue)));
        }
    }
}

fn rank_in_quota<'s>(strategy: QueueStrategy, class: &Class, waits: Place<'s>, now: Timestamp) -> Rank<'s> {
    match strategy {
        QueueStrategy::Intelligent | QueueStrategy::Balance => {
            (Reverse(effective_priority(strategy, class.key.priority, waits.0, now)), waits)
        }
        QueueStrategy::StrictFifo | QueueStrategy::RoundRobin => (Reverse(0), waits),
    }
}

/// The queue of a quota in the order in which it is judged; jobs in backoff are left out.
#[must_use]
pub fn positions(state: &State, quota: QuotaNo, now: Timestamp) -> Vec<JobNo> {
    let mut heads = Heads::of(state, now, state.queue.classes_of(quota).collect());
    let mut order = Vec::new();
    while let Some(head) = heads.head() {
        order.push(head.job);
        heads.pass(head);
    }
    order
}
