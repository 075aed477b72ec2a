//! The cheapest set of victims (semantics section 5).
//!
//! First the documented heuristic: victims are taken in the order of their cost until the job fits, and then spared
//! from the most valuable on while it still fits. Nothing more valuable than the last one taken is ever needed.
//!
//! Then the exact search, class by class from the most valuable that was used: among the subsets of the class which
//! suffice when everything less valuable is taken as well, the cheapest. Victims that free the same are
//! interchangeable but for their cost, so only how many of them are taken is searched. Comparing classes in this
//! order is comparing whole sets, since costs compare class by class. A step budget bounds it; when it is used up,
//! the best set found so far stands, which is never worse than the heuristic's.

use crate::job::hold::Blocker;
use crate::job::phase::Charge;
use crate::job::phase::PodAt;
use crate::job::phase::Source;
use crate::job::shape::Shape;
use crate::ledger;
use crate::ledger::Sign;
use crate::schedule::decision::Victim;
use crate::schedule::trial::Trial;
use crate::schedule::victims::Quest;
use crate::schedule::victims::candidate::Candidate;
use crate::schedule::victims::candidate::Candidates;
use crate::schedule::victims::need::Freed;
use crate::schedule::victims::need::Need;
use crate::unit::amount::Amount;
use crate::unit::id::JobNo;
use crate::unit::ordered::Map;
use crate::unit::ordered::Set;
use crate::unit::slots::Slots;
use crate::unit::sort;

/// Up to so many candidates of one class on nodes the search is exact: there each stands for itself, and looking at
/// one means looking at its machines. In pools there is no such limit.
pub const EXACT_ON_NODES_MAX: usize = 12;

/// Subsets that the exact search looks at in one class, at most.
pub const STEPS_MAX: u32 = 20_000;

/// Victims, and where the job's pods run once they have gone.
pub type Found = (Vec<Victim>, Box<[PodAt]>);

/// The cheapest victims for a job among these, if they leave no loan uncovered.
#[must_use]
pub fn cheapest(trial: &Trial<'_>, quest: &Quest<'_>, need: &Need, list: &[Candidate<'_>]) -> Option<Found> {
    let choice = Choice::new(trial, quest, need, list, choose(trial, need, list)?);
    choice.is_legal().then(|| choice.spare()).flatten()
}

/// The cheapest victims for a job among all. Amounts add up differently where a victim's quota does not lend; then more
/// of them have to go.
#[must_use]
pub fn cheapest_covered(
    trial: &Trial<'_>,
    quest: &Quest<'_>,
    need: &Need,
    candidates: &Candidates<'_>,
) -> Option<Found> {
    let list = &candidates.list;
    let mut choice = Choice::new(trial, quest, need, list, choose(trial, need, list)?);
    choice.widen();
    choice.spare()
}

/// The cheapest victims that free given amounts of use in quota, and of loans.
#[must_use]
pub fn cheapest_cover(trial: &Trial<'_>, need: &Need, list: &[Candidate<'_>]) -> Option<Vec<Victim>> {
    choose(trial, need, list).map(|chosen| victims(list, &chosen))
}

fn choose(trial: &Trial<'_>, need: &Need, list: &[Candidate<'_>]) -> Option<Vec<bool>> {
    let mut chosen = heuristic(trial, need, list)?;
    improve(trial, need, list, &mut chosen);
    Some(chosen)
}

/// Takes in the order of cost until it is enough, then spares from the most valuable on, whole jobs before pods.
fn heuristic(trial: &Trial<'_>, need: &Need, list: &[Candidate<'_>]) -> Option<Vec<bool>> {
    let mut chosen = vec![false; list.len()];
    let mut freed = Freed::nothing(trial, need);
    for at in 0..list.len() {
        if freed.is_enough() {
            break;
        }
        freed.take(&list[at]);
        chosen[at] = true;
    }
    if !freed.is_enough() {
        return None;
    }
    let bound = Bound::of(list, &chosen);
    for at in 0..list.len() {
        if !chosen[at] && bound.contains(list, at) {
            freed.take(&list[at]);
            chosen[at] = true;
        }
    }
    spare(list, &mut freed, &mut chosen, |candidate| candidate.pod.is_none());
    spare(list, &mut freed, &mut chosen, |candidate| candidate.pod.is_some());
    Some(chosen)
}

fn spare(
    list: &[Candidate<'_>],
    freed: &mut Freed<'_>,
    chosen: &mut [bool],
    is_meant: impl Fn(&Candidate<'_>) -> bool,
) {
    let bound = Bound::of(list, chosen);
    for at in (0..list.len()).rev().filter(|&at| is_meant(&list[at])) {
        if !chosen[at] || bound.contains(list, at) {
            continue;
        }
        freed.spare(&list[at]);
        if freed.is_enough() {
            chosen[at] = false;
        } else {
            freed.take(&list[at]);
        }
    }
}

/// Jobs whose gang goes: their extra pods are bound to go with it.
struct Bound(Set<JobNo>);

impl Bound {
    fn of(list: &[Candidate<'_>], chosen: &[bool]) -> Self {
        if list.iter().all(|candidate| candidate.pod.is_none()) {
            return Self(Set::new());
        }
        let gangs = list.iter().zip(chosen).filter(|(candidate, is_chosen)| **is_chosen && candidate.pod.is_none());
        Self(gangs.map(|(candidate, _)| candidate.job).collect())
    }

    fn contains(&self, list: &[Candidate<'_>], at: usize) -> bool {
        list[at].pod.is_some() && self.0.contains(&list[at].job)
    }
}

/// Replaces the choice in each class by the cheapest one.
fn improve(trial: &Trial<'_>, need: &Need, list: &[Candidate<'_>], chosen: &mut [bool]) {
    let Some(top) = (0..list.len()).rev().find(|&at| chosen[at]) else { return };
    let mut end = list.partition_point(|candidate| candidate.class <= list[top].class);
    while end > 0 {
        // The list is in the order of the classes: this one is list[start..end].
        let start = list.partition_point(|candidate| candidate.class < list[end - 1].class);
        let bound = Bound::of(list, chosen);
        let (tied, open): (Vec<usize>, Vec<usize>) = (start..end).partition(|&at| bound.contains(list, at));
        for &at in &tied {
            chosen[at] = true;
        }
        let current: Vec<usize> = open.iter().copied().filter(|&at| chosen[at]).collect();
        let is_on_nodes = open.iter().any(|&at| !list[at].places.is_empty());
        if current.is_empty() || (is_on_nodes && open.len() > EXACT_ON_NODES_MAX) {
            end = start;
            continue;
        }
        let mut freed = Freed::nothing(trial, need);
        let above = (end..list.len()).filter(|&at| chosen[at]);
        above.chain(0..start).chain(tied).for_each(|at| freed.take(&list[at]));
        if let Some(better) = Search::run(list, &open, freed, &current) {
            for &at in &open {
                chosen[at] = better.contains(&at);
            }
            // A cheaper choice here may need other ones below; those are searched next, with everything at hand.
            chosen[..start].fill(true);
        }
        end = start;
    }
}

/// What a choice costs within one class, before it is asked who: unsaved work, then number.
type Cost = (i64, usize);

/// Members of a class that free the same, the cheapest first.
type Kind = Vec<usize>;

/// What a victim frees: how much, whether in quota, and where.
type Frees<'a> = (Amount, bool, &'a [PodAt], Option<&'a Shape>);

struct Search<'a, 't> {
    list: &'a [Candidate<'a>],
    kinds: Vec<Kind>,
    freed: Freed<'t>,
    choice: Vec<usize>,
    steps: u32,
    best: (Cost, Vec<usize>),
}

impl<'a, 't> Search<'a, 't> {
    /// The cheapest sufficient subset of `open`, if it is cheaper than `current`.
    fn run(list: &'a [Candidate<'a>], open: &[usize], mut freed: Freed<'t>, current: &[usize]) -> Option<Vec<usize>> {
        let mut kinds: Map<Frees<'_>, Kind> = Map::new();
        for &at in open {
            freed.take(&list[at]);
            let candidate = &list[at];
            let gang = (!candidate.places.is_empty()).then_some(candidate.shape);
            let kind = (candidate.amount(), candidate.charge == Charge::InQuota, candidate.places, gang);
            kinds.or_default(kind).push(at);
        }
        let mut kinds: Vec<Kind> = kinds.into_values().collect();
        sort::by_key(&mut kinds, |kind| kind[0]);
        let best = (cost(list, current), current.to_vec());
        let mut search = Self { list, kinds, freed, choice: Vec::new(), steps: 0, best };
        search.descend(0);
        let Self { best: (_, choice), .. } = search;
        (choice != current).then_some(choice)
    }

    /// Decides how many of a kind are taken, from none on; what is not decided yet counts as taken.
    fn descend(&mut self, kind: usize) {
        self.steps += 1;
        let so_far = cost(self.list, &self.choice);
        if self.steps > STEPS_MAX || so_far > self.best.0 || !self.freed.is_enough() {
            return;
        }
        if kind == self.kinds.len() {
            if so_far < self.best.0 || is_first(self.list, &self.choice, &self.best.1) {
                self.best = (so_far, self.choice.clone());
            }
            return;
        }
        let count = self.kinds[kind].len();
        for at in 0..count {
            self.freed.spare(&self.list[self.kinds[kind][at]]);
        }
        self.descend(kind + 1);
        let mut taken = 0;
        while taken < count && cost(self.list, &self.choice) <= self.best.0 {
            let member = self.kinds[kind][taken];
            self.freed.take(&self.list[member]);
            self.choice.push(member);
            taken += 1;
            self.descend(kind + 1);
        }
        for at in taken..count {
            self.freed.take(&self.list[self.kinds[kind][at]]);
        }
        self.choice.truncate(self.choice.len() - taken);
    }
}

fn cost(list: &[Candidate<'_>], choice: &[usize]) -> Cost {
    (choice.iter().fold(0i64, |sum, &at| sum.saturating_add(list[at].worth.lost)), choice.len())
}

/// Among choices of equal cost: whether this one takes who started later, then by name.
fn is_first(list: &[Candidate<'_>], choice: &[usize], other: &[usize]) -> bool {
    let who = |choice: &[usize]| {
        let mut who: Vec<_> =
            choice.iter().map(|&at| (list[at].worth.started, list[at].worth.id, list[at].worth.pod)).collect();
        sort::by_key(&mut who, |who| *who);
        who
    };
    who(choice) < who(other)
}

/// A choice that is held against the books themselves.
struct Choice<'c, 't> {
    trial: &'t Trial<'t>,
    quest: &'c Quest<'c>,
    list: &'c [Candidate<'c>],
    chosen: Vec<bool>,
    freed: Freed<'t>,
}

impl<'c, 't> Choice<'c, 't> {
    fn new(
        trial: &'t Trial<'t>,
        quest: &'c Quest<'c>,
        need: &'t Need,
        list: &'c [Candidate<'c>],
        chosen: Vec<bool>,
    ) -> Self {
        let mut freed = Freed::nothing(trial, need);
        for (candidate, _) in list.iter().zip(&chosen).filter(|(_, is_chosen)| **is_chosen) {
            freed.take(candidate);
        }
        Self { trial, quest, list, chosen, freed }
    }

    fn is_legal(&self) -> bool {
        self.freed.is_enough() && self.is_covered()
    }

    /// Whether what is idle covers all loans once the chosen are gone and the job has its amount. Loans that were made
    /// in this round cannot be ended in it.
    fn is_covered(&self) -> bool {
        let (trial, quest) = (self.trial, self.quest);
        let tree = &trial.state.quotas;
        let mut book = trial.domains.get(trial.state.domains.of_group(quest.placed.home).at()).clone();
        let mut quotas = trial.quotas.fork();
        for (victim, _) in self.list.iter().zip(&self.chosen).filter(|(_, is_chosen)| **is_chosen) {
            match victim.charge {
                Charge::Idle => book.idle -= victim.amount(),
                Charge::InQuota if book.idle.is_zero() => {}
                Charge::Spot => {}
                Charge::InQuota => {
                    ledger::book_in_quota(tree, &mut quotas, &mut book, victim.quota, victim.amount(), Sign::Remove);
                }
            }
        }
        ledger::loan_excess(tree, &quotas, &book, quest.job.quota, &quest.job.shape.gang_amount()).is_zero()
    }

    fn set(&mut self, at: usize, is_chosen: bool) {
        self.chosen[at] = is_chosen;
        if is_chosen {
            self.freed.take(&self.list[at]);
        } else {
            self.freed.spare(&self.list[at]);
        }
    }

    /// Chooses more, the least valuable first, until it is legal.
    fn widen(&mut self) {
        for at in 0..self.list.len() {
            if self.is_legal() {
                break;
            }
            if !self.chosen[at] {
                self.set(at, true);
            }
        }
    }

    /// Spares the most valuable first, as long as it is legal; what is left if it is.
    fn spare(mut self) -> Option<Found> {
        for at in (0..self.list.len()).rev() {
            if self.chosen[at] && !Bound::of(self.list, &self.chosen).contains(self.list, at) {
                self.set(at, false);
                if !self.is_legal() {
                    self.set(at, true);
                }
            }
        }
        let pods = self.freed.room().ok()?;
        self.is_legal().then(|| (victims(self.list, &self.chosen), pods))
    }
}

/// The chosen as victims: whole jobs, or pods of elastic ones.
fn victims(list: &[Candidate<'_>], chosen: &[bool]) -> Vec<Victim> {
    let mut jobs: Map<JobNo, Option<Vec<u32>>> = Map::new();
    for (candidate, _) in list.iter().zip(chosen).filter(|(_, is_chosen)| **is_chosen) {
        match candidate.pod {
            None => {
                jobs.insert(candidate.job, None);
            }
            Some(pod) => {
                if let Some(pods) = jobs.or_insert_with(candidate.job, || Some(Vec::new())) {
                    pods.push(pod);
                }
            }
        }
    }
    let victim = |(job, pods): (JobNo, Option<Vec<u32>>)| match pods {
        None => Victim::Job(job),
        Some(mut pods) => {
            sort::by_key(&mut pods, |pod| *pod);
            Victim::Pods(job, pods)
        }
    };
    jobs.into_iter().map(victim).collect()
}

/// Why even everybody is not enough, of whom all is freed.
#[must_use]
pub fn blocker(trial: &Trial<'_>, quest: &Quest<'_>, candidates: &Candidates<'_>, freed: &Freed<'_>) -> Blocker {
    let quota = trial.state.quotas[quest.policy_quota.at()].id.clone();
    let considered = candidates.considered;
    if candidates.list.is_empty() {
        let is_reclaim = quest.placed.source == Source::Reclaim;
        return if is_reclaim { Blocker::NothingLent } else { Blocker::NoVictim { quota, considered } };
    }
    match freed.first_short() {
        Some((at, missing, could_free)) => {
            let dimension = u8::try_from(at).unwrap_or(u8::MAX);
            Blocker::VictimsTooFew { quota, dimension, missing, could_free, considered }
        }
        None if quest.job.shape.roles().len() > 1 => Blocker::NotSolved { quota, steps: 1 },
        None => freed.room().err().unwrap_or(Blocker::NoVictim { quota, considered }),
    }
}
