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

use std::collections::BTreeMap;

use crate::job::hold::Blocker;
use crate::job::phase::PodAt;
use crate::job::phase::Source;
use crate::schedule::decision::Victim;
use crate::schedule::source::find_room;
use crate::schedule::source::reclaim::loan_excess;
use crate::schedule::trial::Trial;
use crate::schedule::victims::Quest;
use crate::schedule::victims::candidate::Candidate;
use crate::schedule::victims::candidate::Candidates;
use crate::schedule::victims::need::Freed;
use crate::schedule::victims::need::Need;
use crate::unit::amount::Amount;
use crate::unit::id::JobNo;

/// Subsets that the exact search looks at in one class, at most.
pub const STEPS_MAX: u32 = 20_000;

/// The cheapest victims for a job, or why there are none.
pub fn cheapest(trial: &Trial<'_>, quest: &Quest<'_>, candidates: &Candidates) -> Result<Vec<Victim>, Blocker> {
    let need = Need::of(trial, quest);
    if need.is_met_by_nothing() {
        return Ok(Vec::new());
    }
    let list = &candidates.list;
    let Some(mut chosen) = choose(trial, &need, list) else {
        return Err(blocker(trial, quest, &need, candidates));
    };
    settle(trial, quest, list, &mut chosen);
    Ok(victims(list, &chosen))
}

/// The cheapest victims that free given amounts of use in quota, and of loans.
#[must_use]
pub fn cheapest_cover(trial: &Trial<'_>, need: &Need, list: &[Candidate]) -> Option<Vec<Victim>> {
    choose(trial, need, list).map(|chosen| victims(list, &chosen))
}

fn choose(trial: &Trial<'_>, need: &Need, list: &[Candidate]) -> Option<Vec<bool>> {
    let mut chosen = heuristic(trial, need, list)?;
    improve(trial, need, list, &mut chosen);
    Some(chosen)
}

/// Whether taking everybody would be enough.
#[must_use]
pub fn is_enough(trial: &Trial<'_>, quest: &Quest<'_>, candidates: &Candidates) -> bool {
    let need = Need::of(trial, quest);
    let mut freed = Freed::nothing(trial, &need);
    for candidate in &candidates.list {
        freed.take(candidate);
    }
    freed.is_enough()
}

/// Takes in the order of cost until it is enough, then spares from the most valuable on.
fn heuristic(trial: &Trial<'_>, need: &Need, list: &[Candidate]) -> Option<Vec<bool>> {
    let mut chosen = vec![false; list.len()];
    let mut freed = Freed::nothing(trial, need);
    let mut taken = 0;
    while !freed.is_enough() {
        freed.take(list.get(taken)?);
        chosen[taken] = true;
        taken += 1;
    }
    // Pods of a gang that goes have to go with it.
    let mut forced = Forced::of(list, &chosen);
    for at in (0..list.len()).filter(|&at| !chosen[at] && forced.contains(list, at)).collect::<Vec<_>>() {
        freed.take(&list[at]);
        chosen[at] = true;
    }
    for at in (0..list.len())
        .rev()
        .filter(|&at| list[at].pod.is_none())
        .chain((0..list.len()).rev().filter(|&at| list[at].pod.is_some()))
    {
        if !chosen[at] || forced.contains(list, at) {
            continue;
        }
        freed.spare(&list[at]);
        if freed.is_enough() {
            chosen[at] = false;
            forced = Forced::of(list, &chosen);
        } else {
            freed.take(&list[at]);
        }
    }
    Some(chosen)
}

/// Jobs whose gang goes: their extra pods go as well.
struct Forced(std::collections::BTreeSet<JobNo>);

impl Forced {
    fn of(list: &[Candidate], chosen: &[bool]) -> Self {
        Self(
            list.iter()
                .zip(chosen)
                .filter(|(candidate, is_chosen)| **is_chosen && candidate.pod.is_none())
                .map(|(candidate, _)| candidate.job)
                .collect(),
        )
    }

    fn contains(&self, list: &[Candidate], at: usize) -> bool {
        list[at].pod.is_some() && self.0.contains(&list[at].job)
    }
}

/// Replaces the choice in each class by the cheapest one.
fn improve(trial: &Trial<'_>, need: &Need, list: &[Candidate], chosen: &mut [bool]) {
    let Some(top) = (0..list.len()).rev().find(|&at| chosen[at]) else { return };
    let mut class = list[top].class;
    loop {
        let members: Vec<usize> = (0..list.len()).filter(|&at| list[at].class == class).collect();
        let mut freed = Freed::nothing(trial, need);
        let above = (0..list.len()).filter(|&at| list[at].class > class && chosen[at]);
        let below = (0..list.len()).filter(|&at| list[at].class < class);
        above.chain(below).for_each(|at| freed.take(&list[at]));
        let forced = Forced::of(list, chosen);
        let (bound, open): (Vec<usize>, Vec<usize>) = members.iter().partition(|&&at| forced.contains(list, at));
        for &at in &bound {
            freed.take(&list[at]);
        }
        let current: Vec<usize> = open.iter().copied().filter(|&at| chosen[at]).collect();
        if let Some(better) = Search::run(list, &open, freed, current) {
            for &at in &open {
                chosen[at] = better.contains(&at);
            }
            // A cheaper choice here may need other ones below; those are searched next, with everything at hand.
            (0..list.len()).filter(|&at| list[at].class < class).for_each(|at| chosen[at] = true);
        }
        for &at in &bound {
            chosen[at] = true;
        }
        match list.iter().rev().map(|candidate| candidate.class).find(|lower| *lower < class) {
            Some(lower) => class = lower,
            None => return,
        }
    }
}

/// The cost of a choice within one class: unsaved work, number, and then who.
type Cost = (i64, usize, Vec<usize>);

/// Members of a class that free the same, the cheapest first.
type Kind = Vec<usize>;

/// What a victim frees: how much, whether in quota, and where.
type Frees = (Amount, bool, Vec<(PodAt, Amount)>);

struct Search<'a, 't> {
    list: &'a [Candidate],
    kinds: Vec<Kind>,
    freed: Freed<'t>,
    steps: u32,
    best: Option<(Cost, Vec<usize>)>,
}

impl<'a, 't> Search<'a, 't> {
    /// The cheapest sufficient subset of `open`, if it is cheaper than `current`.
    fn run(list: &'a [Candidate], open: &[usize], freed: Freed<'t>, current: Vec<usize>) -> Option<Vec<usize>> {
        let mut kinds: BTreeMap<Frees, Kind> = BTreeMap::new();
        for &at in open {
            let candidate = &list[at];
            let is_in_quota = candidate.charge == crate::job::phase::Charge::InQuota;
            kinds.entry((candidate.amount, is_in_quota, candidate.pods.clone())).or_default().push(at);
        }
        let before = Self::cost(list, &current);
        let mut search =
            Self { list, kinds: kinds.into_values().collect(), freed, steps: 0, best: Some((before.clone(), current)) };
        search.kinds.sort_by_key(|kind| kind[0]);
        for at in open {
            search.freed.take(&list[*at]);
        }
        let everything = search.freed.clone();
        search.descend(0, &mut Vec::new(), &everything);
        search.best.filter(|(cost, _)| *cost < before).map(|(_, choice)| choice)
    }

    /// The lower the better; among equals who started last is taken, then by name.
    fn cost(list: &[Candidate], choice: &[usize]) -> Cost {
        let unsaved = choice.iter().fold(0i64, |sum, &at| sum.saturating_add(list[at].worth.lost));
        let mut who = choice.to_vec();
        who.sort_by(|&a, &b| {
            let key = |at: usize| (list[at].worth.started, &list[at].worth.id, list[at].worth.pod);
            key(a).cmp(&key(b))
        });
        (unsaved, choice.len(), who)
    }

    fn is_better(&self, cost: &Cost) -> bool {
        let Some((best, _)) = &self.best else { return true };
        let by_amount = (cost.0, cost.1).cmp(&(best.0, best.1));
        let by_name = || {
            let key =
                |at: &usize| (self.list[*at].worth.started, self.list[*at].worth.id.clone(), self.list[*at].worth.pod);
            cost.2.iter().map(key).cmp(best.2.iter().map(key))
        };
        by_amount.then_with(by_name).is_lt()
    }

    /// Spares more and more of each kind, the dearest first. `freed` is what everything not spared yet frees.
    fn descend(&mut self, kind: usize, choice: &mut Vec<usize>, freed: &Freed<'t>) {
        self.steps += 1;
        if self.steps > STEPS_MAX || !freed.is_enough() {
            return;
        }
        let lost: i64 = choice.iter().fold(0, |sum, &at| sum.saturating_add(self.list[at].worth.lost));
        if self.best.as_ref().is_some_and(|(best, _)| (lost, choice.len()) > (best.0, best.1)) {
            return;
        }
        let Some(members) = self.kinds.get(kind).cloned() else {
            let cost = Self::cost(self.list, choice);
            if self.is_better(&cost) {
                self.best = Some((cost, choice.clone()));
            }
            return;
        };
        let before = choice.len();
        let mut left = freed.clone();
        for &at in &members {
            left.spare(&self.list[at]);
        }
        for taken in 0..=members.len() {
            if taken > 0 {
                left.take(&self.list[members[taken - 1]]);
                choice.push(members[taken - 1]);
            }
            self.descend(kind + 1, choice, &left);
        }
        choice.truncate(before);
    }
}

/// Holds the choice against the books themselves: amounts add up differently where a victim's quota does not lend.
fn settle(trial: &Trial<'_>, quest: &Quest<'_>, list: &[Candidate], chosen: &mut [bool]) {
    let mut next = 0;
    while !is_legal(trial, quest, list, chosen) && next < list.len() {
        chosen[next] = true;
        next += 1;
    }
    for at in (0..list.len()).rev() {
        let forced = Forced::of(list, chosen);
        if chosen[at] && !forced.contains(list, at) {
            chosen[at] = false;
            if !is_legal(trial, quest, list, chosen) {
                chosen[at] = true;
            }
        }
    }
}

fn is_legal(trial: &Trial<'_>, quest: &Quest<'_>, list: &[Candidate], chosen: &[bool]) -> bool {
    let mut after = trial.clone();
    let mut in_quota = Amount::ZERO;
    for victim in victims(list, chosen) {
        after.evict(&victim);
    }
    for (candidate, _) in list
        .iter()
        .zip(chosen)
        .filter(|(candidate, is_chosen)| **is_chosen && candidate.charge == crate::job::phase::Charge::InQuota)
    {
        in_quota += candidate.amount;
    }
    let domain = trial.state.domains.of_group(quest.placed.home);
    quest.quota_need.fits_in(&in_quota)
        && loan_excess(&after, quest.job.quota, domain, &quest.job.shape.gang_amount()).is_zero()
        && find_room(&after, domain, &quest.job.shape).is_ok()
}

/// The chosen as victims: whole jobs, or pods of elastic ones.
fn victims(list: &[Candidate], chosen: &[bool]) -> Vec<Victim> {
    let mut jobs: BTreeMap<JobNo, Option<Vec<u32>>> = BTreeMap::new();
    for (candidate, _) in list.iter().zip(chosen).filter(|(_, is_chosen)| **is_chosen) {
        match candidate.pod {
            None => {
                jobs.insert(candidate.job, None);
            }
            Some(pod) => {
                if let Some(pods) = jobs.entry(candidate.job).or_insert_with(|| Some(Vec::new())) {
                    pods.push(pod);
                }
            }
        }
    }
    let victim = |(job, pods): (JobNo, Option<Vec<u32>>)| match pods {
        None => Victim::Job(job),
        Some(mut pods) => {
            pods.sort_unstable();
            Victim::Pods(job, pods)
        }
    };
    jobs.into_iter().map(victim).collect()
}

/// Why even everybody is not enough.
fn blocker(trial: &Trial<'_>, quest: &Quest<'_>, need: &Need, candidates: &Candidates) -> Blocker {
    let quota = trial.state.quotas[quest.policy_quota.at()].id.clone();
    let considered = candidates.considered;
    if candidates.list.is_empty() {
        let is_reclaim = quest.placed.source == Source::Reclaim;
        return if is_reclaim { Blocker::NothingLent } else { Blocker::NoVictim { quota, considered } };
    }
    let mut freed = Freed::nothing(trial, need);
    for candidate in &candidates.list {
        freed.take(candidate);
    }
    match freed.first_short() {
        Some((at, missing, could_free)) => {
            let dimension = u8::try_from(at).unwrap_or(u8::MAX);
            Blocker::VictimsTooFew { quota, dimension, missing, could_free, considered }
        }
        None if quest.job.shape.roles.len() > 1 => Blocker::NotSolved { quota, steps: 1 },
        None => {
            let mut after = trial.clone();
            for victim in victims(&candidates.list, &vec![true; candidates.list.len()]) {
                after.evict(&victim);
            }
            let domain = trial.state.domains.of_group(quest.placed.home);
            find_room(&after, domain, &quest.job.shape).err().unwrap_or(Blocker::NoVictim { quota, considered })
        }
    }
}
