//! The order of the queue (rules 3.2).
//!
//! Each quota orders its own queue by its strategy. Across quotas the heads come by effective priority; among equals
//! whoever waits longer, then the higher declared priority, then the name.

mod across;
pub(super) mod rank;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::job::spec::IdlePolicy;
use crate::quota::settings::QueueStrategy;
use crate::schedule::order::across::Across;
use crate::schedule::order::across::QueuePlace;
use crate::schedule::order::rank::Rank;
use crate::schedule::order::rank::Turn;
use crate::state::class::ClassKey;
use crate::state::world::State;
use crate::unit::id::ClassNo;
use crate::unit::id::JobNo;
use crate::unit::id::QuotaNo;
use crate::unit::priority::Priority;
use crate::unit::sparse::Sparse;
use crate::unit::time::Millis;
use crate::unit::time::Timestamp;

/// Ageing adds a point an hour, up to this priority: it never passes a job that declared as much and waits as long.
const AGEING_MAX: i64 = 6;

/// The priority by which a waiting job is ordered: with ageing in quotas that use it. Jobs that use nothing but idle
/// amounts never age. Policies never look at it.
#[must_use]
pub fn effective_priority(
    strategy: QueueStrategy,
    idle: IdlePolicy,
    priority: Priority,
    waiting_since: Timestamp,
    now: Timestamp,
) -> i64 {
    let declared = i64::from(priority);
    if strategy != QueueStrategy::Intelligent || idle == IdlePolicy::Only {
        return declared;
    }
    let hours = ((now - waiting_since).0 / Millis::HOUR.0).max(0);
    declared.max(declared.saturating_add(hours).min(AGEING_MAX))
}

/// Whether the head of a quota's queue speaks for the rest.
pub(super) fn is_strict(state: &State, quota: QuotaNo) -> bool {
    state.quotas[quota.at()].settings.strategy == QueueStrategy::StrictFifo
}

/// The level of classes that may stand in front of others whatever their priority.
const EVERYBODY: u8 = 10;
const LEVELS: usize = 11;

/// Room for so many classes of a level at once: more are rare, and make more room as they come.
const FEW: usize = 64;

/// A job's place among others of its level. Where a queue goes by submission alone, priorities do not count.
pub(super) fn turn(state: &State, no: JobNo) -> Turn<'_> {
    let job = &state.jobs[no];
    let strategy = state.quotas[job.spec.quota.at()].settings.strategy;
    let priority = if is_by_priority(strategy) { job.spec.priority } else { Priority::LOWEST };
    let (since, name) = job.place();
    (since, Reverse(priority), name)
}

/// A job's place in its quota's queue.
pub(super) fn rank(state: &State, now: Timestamp, no: JobNo) -> Rank<'_> {
    let (spec, turn) = (&state.jobs[no].spec, turn(state, no));
    let strategy = state.quotas[spec.quota.at()].settings.strategy;
    let is_by_priority = is_by_priority(strategy);
    let level = if is_by_priority { effective_priority(strategy, spec.idle, spec.priority, turn.0, now) } else { 0 };
    (Reverse(level), turn)
}

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

/// A head with its place in its quota's queue.
type Member<'s> = (Rank<'s>, Head);

/// The classes of a quota with their heads. The next one is kept apart: most quotas have no other.
#[derive(Default)]
struct InQuota<'s> {
    next: Option<Member<'s>>,
    rest: BinaryHeap<Reverse<Member<'s>>>,
}

impl<'s> InQuota<'s> {
    /// Adds a head; whether it is the next one.
    fn push(&mut self, member: Member<'s>) -> bool {
        let is_next = self.next.is_none_or(|next| member < next);
        let later = if is_next { self.next.replace(member) } else { Some(member) };
        self.rest.extend(later.map(Reverse));
        is_next
    }

    fn pop(&mut self) -> Option<Head> {
        let (_, head) = self.next.take()?;
        self.next = self.rest.pop().map(|Reverse(member)| member);
        Some(head)
    }

    /// All of them, the next one first.
    fn in_order(self) -> impl Iterator<Item = Head> {
        let rest = self.rest.into_sorted_vec().into_iter().rev();
        self.next.into_iter().chain(rest.map(|Reverse(member)| member)).map(|(_, head)| head)
    }
}

/// Waiting jobs, the next one first, while the round goes on.
///
/// A class takes its place in its quota's queue only when its level is reached, the level being the effective priority
/// of its first job: after a release many classes could start and few do, and the others need not be put in order.
///
/// A class that is alone takes no place: many rounds are about one.
pub struct Heads<'s> {
    state: &'s State,
    now: Timestamp,
    /// The next job of the class that is alone.
    alone: Option<Head>,
    /// Classes whose turn has not come, by their level.
    later: [Vec<ClassNo>; LEVELS],
    /// No level above this one has any of them.
    highest: u8,
    /// Classes of the level that were settled when it was reached.
    settled: Vec<ClassNo>,
    queues: Vec<InQuota<'s>>,
    /// By quota number.
    queue_of: Sparse<u32>,
    across: Across<'s>,
    /// The last place in the order whose turn has been. Queues by time alone fall back behind it.
    reached: Option<Rank<'s>>,
}

impl<'s> Heads<'s> {
    /// The waiting jobs of these classes.
    #[must_use]
    pub fn of(state: &'s State, now: Timestamp, classes: &[ClassNo]) -> Self {
        let mut heads = Self {
            state,
            now,
            alone: None,
            later: std::array::from_fn(|_| Vec::new()),
            highest: EVERYBODY,
            settled: Vec::new(),
            queues: Vec::new(),
            queue_of: Sparse::default(),
            across: Across::default(),
            reached: None,
        };
        if let [class] = classes {
            heads.alone = heads.nth(*class, 0, 0);
            return heads;
        }
        for no in classes {
            let level = usize::from(heads.level(*no));
            let later = &mut heads.later[level];
            if later.is_empty() {
                later.reserve(classes.len().min(FEW));
            }
            later.push(*no);
        }
        heads.queues.reserve_exact(state.queue.quotas.len().min(classes.len()));
        heads
    }

    /// The next job whose class is not settled by now. The caller then says what becomes of it: [`Self::pass`],
    /// [`Self::close`] or [`Self::close_quota`].
    pub fn head(&mut self, is_settled: impl Fn(ClassNo) -> bool) -> Option<Head> {
        if let Some(alone) = self.alone.take() {
            return Some(alone).filter(|head| !is_settled(head.class));
        }
        loop {
            self.reach_level(&is_settled);
            let (rank, queue) = self.across.pop()?;
            let members = &mut self.queues[queue as usize];
            // A queue that got an earlier head was offered again since.
            if members.next.is_some_and(|((_, turn), _)| turn == rank.1)
                && let Some(head) = members.pop()
            {
                self.reached = self.reached.max(Some(rank));
                if !is_settled(head.class) {
                    return Some(head);
                }
                self.offer(queue);
            }
        }
    }

    /// The next one of the class moves up.
    pub fn pass(&mut self, head: Head) {
        let next = self.nth(head.class, head.place + 1, head.queue);
        if self.queues.is_empty() {
            self.alone = next;
            return;
        }
        if let Some(next) = next {
            self.queues[head.queue as usize].push((rank(self.state, self.now, next.job), next));
        }
        self.offer(head.queue);
    }

    /// Nobody else of this class is looked at.
    pub fn close(&mut self, head: Head) {
        self.offer(head.queue);
    }

    /// Nobody else of this class's quota is looked at; the other classes with somebody waiting, in the order of who
    /// comes first. Their numbers say nothing: a restored state has others.
    pub fn close_quota(&mut self, head: Head) -> Vec<ClassNo> {
        let queue = self.queues.get_mut(head.queue as usize).map(std::mem::take).unwrap_or_default();
        queue.in_order().map(|head| head.class).collect()
    }

    /// Somebody has given way for this head: what was settled when the level was reached may not be any more, nor what
    /// was settled from the beginning, which is given here. Whoever's turn has not been yet is looked at.
    pub fn look_again(&mut self, head: Head, unsettled: Vec<ClassNo>) {
        let mut again = std::mem::take(&mut self.settled);
        again.extend(unsettled);
        if !again.is_empty() && self.queues.is_empty() {
            // Its class is not alone any more.
            self.queue(head.class);
            self.reached = Some(self.rank_across((rank(self.state, self.now, head.job), head)));
        }
        for no in again {
            let level = self.level(no);
            let queue = self.queue(no);
            let member = self.first(no, EVERYBODY, queue);
            let Some(member) = member.filter(|(rank, _)| Some(rank) > self.reached.as_ref()) else { continue };
            if level <= self.highest {
                self.later[usize::from(level)].push(no);
            } else {
                self.queues[queue as usize].push(member);
                self.offer(queue);
            }
        }
    }

    /// Lets classes take their places, down to the level of the next job.
    fn reach_level(&mut self, is_settled: impl Fn(ClassNo) -> bool) {
        loop {
            while self.highest > 0 && self.later[usize::from(self.highest)].is_empty() {
                self.highest -= 1;
            }
            let level = self.highest;
            let is_reached = |((Reverse(ahead), _), _): &QueuePlace<'_>| *ahead <= i64::from(level);
            if level == 0 || !self.across.peek().is_none_or(is_reached) {
                break;
            }
            self.settled.clear();
            for no in std::mem::take(&mut self.later[usize::from(level)]) {
                if level < EVERYBODY && is_settled(no) {
                    self.settled.push(no);
                    continue;
                }
                let queue = self.queue(no);
                if let Some(member) = self.first(no, level, queue)
                    && self.queues[queue as usize].push(member)
                    && let Some(place) = self.place(queue)
                {
                    self.across.gather(place);
                }
            }
            self.across.arrange();
        }
    }

    /// The effective priority of a class's first job. Where the queue does not go by it, every class counts from the
    /// beginning: any of them may stand in front of the others.
    fn level(&self, no: ClassNo) -> u8 {
        let class = &self.state.queue.classes[no.at()];
        let since = || class.waiting.first().map_or(self.now, |first| self.state.jobs[first].waiting_since);
        let level = is_by_priority(self.strategy(&class.key)).then(|| self.effective_priority(&class.key, since()));
        level.and_then(|level| u8::try_from(level).ok()).unwrap_or(EVERYBODY)
    }

    fn strategy(&self, key: &ClassKey) -> QueueStrategy {
        self.state.quotas[key.quota.at()].settings.strategy
    }

    fn effective_priority(&self, key: &ClassKey, since: Timestamp) -> i64 {
        effective_priority(self.strategy(key), key.idle, key.priority, since, self.now)
    }

    fn queue(&mut self, no: ClassNo) -> u32 {
        let quota = self.state.queue.classes[no.at()].key.quota;
        let queues = &mut self.queues;
        *self.queue_of.slot(quota.at()).get_or_insert_with(|| {
            queues.push(InQuota::default());
            u32::try_from(queues.len() - 1).unwrap_or(u32::MAX)
        })
    }

    /// A job of a class by its place in the line.
    fn nth(&self, class: ClassNo, place: u32, queue: u32) -> Option<Head> {
        let job = self.state.queue.classes[class.at()].waiting.get(place as usize)?;
        Some(Head { job, class, place, queue })
    }

    /// The first job of a class of a level, with its rank.
    fn first(&self, no: ClassNo, level: u8, queue: u32) -> Option<Member<'s>> {
        let head = self.nth(no, 0, queue)?;
        let is_known = level != EVERYBODY;
        let known = || (Reverse(i64::from(level)), turn(self.state, head.job));
        Some((if is_known { known() } else { rank(self.state, self.now, head.job) }, head))
    }

    /// Puts the quota's next job among the others.
    fn offer(&mut self, queue: u32) {
        if let Some(place) = self.place(queue) {
            self.across.push(place);
        }
    }

    /// The place of the quota's next job.
    fn place(&self, queue: u32) -> Option<QueuePlace<'s>> {
        let next = self.queues.get(queue as usize)?.next?;
        Some((self.rank_across(next), queue))
    }

    /// A head's place among those of the other queues.
    fn rank_across(&self, ((level, turn), head): Member<'s>) -> Rank<'s> {
        let key = &self.state.queue.classes[head.class.at()].key;
        // A queue that goes by time alone has one level for all.
        let is_level = is_by_priority(self.strategy(key));
        let level = if is_level { level } else { Reverse(self.effective_priority(key, turn.0)) };
        (level, turn)
    }
}

/// Whether a quota's queue goes by priority rather than by time alone.
fn is_by_priority(strategy: QueueStrategy) -> bool {
    match strategy {
        QueueStrategy::Intelligent | QueueStrategy::Balance => true,
        QueueStrategy::StrictFifo | QueueStrategy::RoundRobin => false,
    }
}

/// The queue of a quota in the order in which it is judged; jobs in backoff are left out.
#[must_use]
pub fn positions(state: &State, quota: QuotaNo, now: Timestamp) -> Vec<JobNo> {
    let classes: Vec<ClassNo> = state.queue.classes_of(quota).collect();
    let mut heads = Heads::of(state, now, &classes);
    let mut order = Vec::new();
    while let Some(head) = heads.head(|_| false) {
        order.push(head.job);
        heads.pass(head);
    }
    order
}
