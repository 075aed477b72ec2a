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
use std::collections::BTreeSet;

use crate::job::hold::Blocker;
use crate::job::phase::Charge;
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

/// Up to so many candidates of one class on nodes the search is exact: there each stands for itself, and looking at
/// one means looking at its machines. In pools there is no such limit.
pub const EXACT_ON_NODES_MAX: usize = 12;

/// Subsets that the exact search looks at in one class, at most.
pub const STEPS_MAX: u32 = 20_000;

/// The cheapest victims for a job, or why there are none.
pub fn cheapest(
    trial: &Trial<'_>,
    quest: &Quest<'_>,
    need: &Need,
    candidates: &Candidates,
) -> Result<Vec<Victim>, Blocker> {
    if need.is_met_by_nothing() {
        return Ok(Vec::new());
    }
    let list = &candidates.list;
    let Some(mut chosen) = choose(trial, need, list) else {
        return Err(blocker(trial, quest, need, candidates));
    };
    settle(trial, quest, list, &mut chosen);
    // Loans that were made in this round cannot be ended in it.
    if !is_legal(trial, quest, list, &chosen) {
        return Err(blocker(trial, quest, need, candidates));
    }
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

/// Takes in the order of cost until it is enough, then spares from the most valuable on, whole jobs before pods.
fn heuristic(trial: &Trial<'_>, need: &Need, list: &[Candidate]) -> Option<Vec<bool>> {
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

fn spare(list: &[Candidate], freed: &mut Freed<'_>, chosen: &mut [bool], is_meant: impl Fn(&Candidate) -> bool) {
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
struct Bound(BTreeSet<JobNo>);

impl Bound {
    fn of(list: &[Candidate], chosen: &[bool]) -> Self {
        if list.iter().all(|candidate| candidate.pod.is_none()) {
            return Self(BTreeSet::new());
        }
        let gangs = list.iter().zip(chosen).filter(|(candidate, is_chosen)| **is_chosen && candidate.pod.is_none());
        Self(gangs.map(|(candidate, _)| candidate.job).collect())
    }

    fn contains(&self, list: &[Candidate], at: usize) -> bool {
        list[at].pod.is_some() && self.0.contains(&list[at].job)
    }
}

/// Replaces the choice in each class by the cheapest one.
fn improve(trial: &Trial<'_>, need: &Need, list: &[Candidate], chosen: &mut [bool]) {
    let Some(top) = (0..list.len()).rev().find(|&at| chosen[at]) else { return };
    let mut end = list.partition_point(|candidate| candidate.class <= list[top].class);
    while end > 0 {
        // The list is in the order of the classes: this one is list[start..end].
        let start = list.partition_point(|candidate| candidate.class < list[end - 1].class);
        let mut freed = Freed::nothing(trial, need);
        let above = (end..list.len()).filter(|&at| chosen[at]);
        for at in above.chain(0..start) {
            freed.take(&list[at]);
        }
        let bound = Bound::of(list, chosen);
        let (tied, open): (Vec<usize>, Vec<usize>) = (start..end).partition(|&at| bound.contains(list, at));
        for &at in &tied {
            freed.take(&list[at]);
            chosen[at] = true;
        }
        let current: Vec<usize> = open.iter().copied().filter(|&at| chosen[at]).collect();
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
type Frees<'a> = (Amount, bool, &'a [(PodAt, Amount)]);

struct Search<'a, 't> {
    list: &'a [Candidate],
    kinds: Vec<Kind>,
    freed: Freed<'t>,
    choice: Vec<usize>,
    steps: u32,
    best: (Cost, Vec<usize>),
}

impl<'a, 't> Search<'a, 't> {
    /// The cheapest sufficient subset of `open`, if it is cheaper than `current`.
    fn run(list: &'a [Candidate], open: &[usize], mut freed: Freed<'t>, current: &[usize]) -> Option<Vec<usize>> {
        let is_on_nodes = open.iter().any(|&at| !list[at].pods.is_empty());
        if current.is_empty() || (is_on_nodes && open.len() > EXACT_ON_NODES_MAX) {
            return None;
        }
        let mut kinds: BTreeMap<Frees<'_>, Kind> = BTreeMap::new();
        for &at in open {
            freed.take(&list[at]);
            let candidate = &list[at];
            kinds.entry((candidate.amount, candidate.charge == Charge::InQuota, &candidate.pods)).or_default().push(at);
        }
        let mut kinds: Vec<Kind> = kinds.into_values().collect();
        kinds.sort_by_key(|kind| kind[0]);
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

fn cost(list: &[Candidate], choice: &[usize]) -> Cost {
    (choice.iter().fold(0i64, |sum, &at| sum.saturating_add(list[at].worth.lost)), choice.len())
}

/// Among choices of equal cost: whether this one takes who started later, then by name.
fn is_first(list: &[Candidate], choice: &[usize], other: &[usize]) -> bool {
    let who = |choice: &[usize]| {
        let mut who: Vec<_> =
            choice.iter().map(|&at| (list[at].worth.started, &list[at].worth.id, list[at].worth.pod)).collect();
        who.sort();
        who
    };
    who(choice) < who(other)
}

/// Holds the choice against the books themselves: amounts add up differently where a victim's quota does not lend.
fn settle(trial: &Trial<'_>, quest: &Quest<'_>, list: &[Candidate], chosen: &mut [bool]) {
    let mut next = 0;
    while !is_legal(trial, quest, list, chosen) && next < list.len() {
        chosen[next] = true;
        next += 1;
    }
    for at in (0..list.len()).rev() {
        let bound = Bound::of(list, chosen);
        if chosen[at] && !bound.contains(list, at) {
            chosen[at] = false;
            if !is_legal(trial, quest, list, chosen) {
                chosen[at] = true;
            }
        }
    }
}

fn is_legal(trial: &Trial<'_>, quest: &Quest<'_>, list: &[Candidate], chosen: &[bool]) -> bool {
    let mut after = trial.fork();
    let mut in_quota = Amount::ZERO;
    for victim in victims(list, chosen) {
        after.evict(&victim);
    }
    for (candidate, _) in
        list.iter().zip(chosen).filter(|(candidate, is_chosen)| **is_chosen && candidate.charge == Charge::InQuota)
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
        None if quest.job.shape.roles().len() > 1 => Blocker::NotSolved { quota, steps: 1 },
        None => {
            let mut after = trial.fork();
            for victim in victims(&candidates.list, &vec![true; candidates.list.len()]) {
                after.evict(&victim);
            }
            let domain = trial.state.domains.of_group(quest.placed.home);
            find_room(&after, domain, &quest.job.shape).err().unwrap_or(Blocker::NoVictim { quota, considered })
        }
    }
}
