//! Who gives instances of an offer back so that others can have them: the lowest bids first, then the cost of victims
//! (semantics sections 5 and 6), and nobody who is not needed.
//!
//! Equal bids of one priority form a class; of equal bids the lower priority goes first. As in quotas, a set is
//! compared with another class by class from the most valuable: unsaved work first, then how many, then who started
//! last, then by name. Members of a class that hold as many instances are interchangeable but for that, so only how
//! many of them go is searched; a step budget bounds it, and when it is used up, the best found so far stands.

use std::cmp::Reverse;

use crate::unit::id::JobId;
use crate::unit::id::JobNo;
use crate::unit::ordered::Map;
use crate::unit::priority::Priority;
use crate::unit::sort;
use crate::unit::time::Timestamp;

/// Choices that the search looks at in one class, at most.
const STEPS_MAX: u32 = 20_000;

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

impl Loser<'_> {
    /// Its class. The lowest has to go first.
    fn class(&self) -> (i64, Priority) {
        (self.limit, self.priority)
    }

    /// The order in which they go if each alone would do.
    fn rank(&self) -> ((i64, Priority), i64, Reverse<Timestamp>, &JobId) {
        (self.class(), self.lost, self.started, self.id)
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
    let mut chosen = Vec::new();
    let (mut needed, mut rest) = (needed, losers);
    while let Some(top) = top_class(rest, needed) {
        let (below, class) = (&rest[..top.start], &rest[top]);
        let cheaper: i64 = below.iter().map(|loser| loser.instances).sum();
        let taken = Search::run(class, needed - cheaper);
        needed -= taken.iter().map(|loser| loser.instances).sum::<i64>();
        chosen.extend(taken);
        rest = below;
    }
    sort_losers(&mut chosen);
    chosen
}

/// The class of the most valuable who has to go if the others go first.
fn top_class(losers: &[Loser<'_>], needed: i64) -> Option<std::ops::Range<usize>> {
    let mut missing = needed;
    let last = losers.iter().take_while(|loser| {
        let goes = missing > 0;
        missing -= loser.instances;
        goes
    });
    let class = last.last()?.class();
    let start = losers.partition_point(|loser| loser.class() < class);
    let end = losers.partition_point(|loser| loser.class() <= class);
    Some(start..end)
}

/// What a choice costs within a class, before it is asked who: unsaved work, then number.
type Cost = (i64, usize);

/// Members of a class with as many instances, the cheapest first.
struct Kind<'c, 'a> {
    instances: i64,
    members: Vec<&'c Loser<'a>>,
}

struct Search<'c, 'a> {
    kinds: Vec<Kind<'c, 'a>>,
    choice: Vec<&'c Loser<'a>>,
    best: Option<(Cost, Vec<&'c Loser<'a>>)>,
    steps: u32,
}

impl<'c, 'a> Search<'c, 'a> {
    /// The cheapest of a class that hold so many instances; all of it if that is not enough.
    fn run(class: &'c [Loser<'a>], needed: i64) -> Vec<Loser<'a>> {
        let mut kinds: Map<Reverse<i64>, Vec<&Loser<'_>>> = Map::new();
        for loser in class {
            kinds.or_default(Reverse(loser.instances)).push(loser);
        }
        let kinds = kinds.into_iter().map(|(Reverse(instances), members)| Kind { instances, members }).collect();
        let mut search = Search { kinds, choice: Vec::new(), best: None, steps: 0 };
        search.descend(0, needed, 0);
        search.best.map_or_else(|| class.to_vec(), |(_, choice)| choice.into_iter().copied().collect())
    }

    /// Decides how many of a kind go, from as many as may be needed down to none.
    fn descend(&mut self, at: usize, needed: i64, lost: i64) {
        self.steps += 1;
        let so_far = (lost, self.choice.len());
        let is_worse = self.best.as_ref().is_some_and(|(best, _)| so_far > *best);
        if is_worse || self.steps > STEPS_MAX {
            return;
        }
        if needed <= 0 {
            if self.best.as_ref().is_none_or(|(best, who)| so_far < *best || is_first(&self.choice, who)) {
                self.best = Some((so_far, self.choice.clone()));
            }
            return;
        }
        let Some(kind) = self.kinds.get(at) else { return };
        let (instances, members) = (kind.instances.max(1), kind.members.clone());
        let enough = usize::try_from((needed + instances - 1) / instances).unwrap_or(usize::MAX).min(members.len());
        let before = self.choice.len();
        self.choice.extend(&members[..enough]);
        let mut lost = members[..enough].iter().fold(lost, |sum, loser| sum.saturating_add(loser.lost));
        for count in (0..=enough).rev() {
            let taken = i64::try_from(count).unwrap_or(i64::MAX).saturating_mul(instances);
            self.descend(at + 1, needed - taken, lost);
            if let Some(last) = count.checked_sub(1) {
                self.choice.truncate(before + last);
                lost = lost.saturating_sub(members[last].lost);
            }
        }
    }
}

/// Among choices of equal cost: whether this one takes who started later, then by name.
fn is_first(choice: &[&Loser<'_>], other: &[&Loser<'_>]) -> bool {
    fn who<'l>(choice: &[&'l Loser<'l>]) -> Vec<(Reverse<Timestamp>, &'l JobId)> {
        let mut who: Vec<_> = choice.iter().map(|loser| (loser.started, loser.id)).collect();
        sort::by_key(&mut who, |who| *who);
        who
    }
    who(choice) < who(other)
}
