//! The cheapest of a class on nodes (rules 5.4), for a gang of equal pods.
//!
//! How many pods a node takes depends on what is freed there alone, so nodes are gone through one after the other, and
//! each once. What counts after some of them is what is missing still: pods without room, and amounts. Of all choices
//! that leave the same missing the cheapest is kept, since costs add up.
//!
//! Two things are left out: who runs in several pods, and what the books say beyond amounts. The search holds the
//! choice against the books; where they agree it is the cheapest, for nothing cheaper suffices even without them.

use std::cmp::Ordering;

use crate::job::phase::Charge;
use crate::job::phase::PodAt;
use crate::placement::NodeUse;
use crate::schedule::victims::candidate::Candidate;
use crate::schedule::victims::cost::Cost;
use crate::schedule::victims::cost::Worth;
use crate::schedule::victims::need::Freed;
use crate::schedule::victims::need::is_open;
use crate::schedule::victims::search::ByNode;
use crate::unit::amount::Amount;
use crate::unit::amount::GPU;
use crate::unit::id::NodeNo;
use crate::unit::slots::Slots;
use crate::unit::sort;

/// What may be missing at once: pods, and dimensions of both amounts.
const LANES: usize = 8;
/// The lane of the pods.
const PODS: usize = 0;
/// Choices that are looked at, at most. Then the best one so far stands.
const STEPS_MAX: u32 = 100_000;
/// Choices on one node that are looked at, at most.
const WAYS_MAX: usize = 512;

/// A number for each thing that is missing; zero where nothing is.
type Lanes = [i64; LANES];

/// The cheapest of these that suffice, none of which is taken; what is known if nothing is cheaper.
pub(super) fn cheapest(freed: &Freed<'_>, list: &[Candidate<'_>], open: &[usize], known: &[usize]) -> Option<ByNode> {
    let cost = known.iter().fold(Cost::default(), |cost, at| cost.and(list[*at].worth.lost));
    let gaps = Gaps::of(freed)?;
    let best = (cost, known.to_vec());
    let mut search = Search { freed, list, gaps, steps: 0, is_complete: true, choices: Vec::new(), best };
    search.go_through(open);
    Some(ByNode { choice: search.best.1, is_cheapest: search.is_complete })
}

/// What is missing with nothing of the class taken.
struct Gaps {
    missing: Lanes,
    /// Which dimension of which amount each lane behind the pods' is.
    of: Vec<(Charge, usize)>,
}

impl Gaps {
    /// Nothing if there are more than lanes, or pods are not counted.
    fn of(freed: &Freed<'_>) -> Option<Self> {
        let need = freed.need;
        let role = need.role.as_ref()?;
        let mut gaps = Self { missing: [0; LANES], of: Vec::new() };
        gaps.missing[PODS] = (need.pods_short(freed.trial, role) - freed.slots).max(0);
        let quota = need.quota.minus(&freed.quota).positive();
        let floor = need.floor.minus(&freed.floor).positive();
        for (charge, short) in [(Charge::InQuota, quota), (Charge::Idle, floor)] {
            for dimension in short.dimensions() {
                gaps.of.push((charge, dimension));
                *gaps.missing.get_mut(gaps.of.len())? = short[dimension];
            }
        }
        Some(gaps)
    }

    /// What somebody frees of it, but for room.
    fn freed_by(&self, candidate: &Candidate<'_>) -> Lanes {
        let (amount, mut lanes) = (candidate.amount(), [0; LANES]);
        for (lane, (charge, dimension)) in lanes[1..].iter_mut().zip(&self.of) {
            let counts = *charge == Charge::Idle || candidate.charge == Charge::InQuota;
            *lane = if counts { amount[*dimension] } else { 0 };
        }
        lanes
    }
}

/// One of the class, by what it frees: those that free the same on a node are interchangeable but for their cost.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Member {
    amount: Amount,
    charge: Charge,
    /// The GPU of which it has a share.
    shared: u16,
    at: usize,
}

impl Member {
    fn is_like(&self, other: &Self) -> bool {
        (self.amount, self.charge, self.shared) == (other.amount, other.charge, other.shared)
    }
}

/// A choice on one node.
#[derive(Clone)]
struct Way {
    node: Option<NodeUse>,
    frees: Lanes,
    cost: Cost,
    members: Vec<usize>,
}

/// What may be taken on a node, the cheapest first, and the least work that is lost for each pod that gets room.
struct Site {
    ways: Vec<Way>,
    lost_per_pod: i64,
}

/// A choice on some of the nodes.
#[derive(Clone, Copy)]
struct Choice {
    missing: Lanes,
    cost: Cost,
    /// Where the members of its last node and the choice before it are noted.
    last: Option<usize>,
}

struct Search<'s, 'a, 't> {
    freed: &'s Freed<'t>,
    list: &'s [Candidate<'a>],
    gaps: Gaps,
    steps: u32,
    /// Whether nothing was left out that might be cheaper.
    is_complete: bool,
    /// Members on a node, and the choice to which they were added.
    choices: Vec<(Vec<usize>, Option<usize>)>,
    best: (Cost, Vec<usize>),
}

impl Search<'_, '_, '_> {
    fn go_through(&mut self, open: &[usize]) {
        if self.gaps.missing == [0; LANES] {
            self.best = (Cost::default(), Vec::new());
            return;
        }
        let mut front = vec![Choice { missing: self.gaps.missing, cost: Cost::default(), last: None }];
        for site in self.sites(open) {
            let mut added = Vec::new();
            for choice in &front {
                let least = choice.missing[PODS].saturating_mul(site.lost_per_pod);
                if choice.cost.lost().saturating_add(least) > self.best.0.lost() {
                    continue;
                }
                for way in &site.ways {
                    let cost = choice.cost.plus(way.cost);
                    self.steps += 1;
                    if self.steps > STEPS_MAX {
                        self.is_complete = false;
                        return;
                    }
                    if cost > self.best.0 {
                        break;
                    }
                    added.extend(self.add(choice, way, cost));
                }
            }
            if !added.is_empty() {
                front.append(&mut added);
                self.reduce(&mut front);
            }
        }
    }

    /// A choice with what is taken on one more node, unless it is complete: then it may be the best.
    fn add(&mut self, choice: &Choice, way: &Way, cost: Cost) -> Option<Choice> {
        let missing = std::array::from_fn(|lane| (choice.missing[lane] - way.frees[lane]).max(0));
        if missing == choice.missing {
            return None;
        }
        if missing != [0; LANES] {
            self.choices.push((way.members.clone(), choice.last));
            return Some(Choice { missing, cost, last: Some(self.choices.len() - 1) });
        }
        let mut members = self.members(choice.last);
        members.extend(&way.members);
        sort::by_key(&mut members, |at| *at);
        if cost < self.best.0 || self.by_turns(&members, &self.best.1).is_lt() {
            self.best = (cost, members);
        }
        None
    }

    /// Of choices that leave the same missing the cheapest stays.
    fn reduce(&self, front: &mut Vec<Choice>) {
        let by_turns = |a: &Choice, b: &Choice| self.by_turns(&self.members(a.last), &self.members(b.last));
        sort::by(front, |a, b| a.missing.cmp(&b.missing).then(a.cost.cmp(&b.cost)).then_with(|| by_turns(a, b)));
        front.dedup_by(|later, first| later.missing == first.missing);
        front.retain(|choice| choice.cost <= self.best.0);
    }

    /// Who is taken in a choice.
    fn members(&self, mut last: Option<usize>) -> Vec<usize> {
        let mut all = Vec::new();
        while let Some((members, before)) = last.map(|at| &self.choices[at]) {
            all.extend(members);
            last = *before;
        }
        all
    }

    /// The order of choices of equal cost.
    fn by_turns(&self, a: &[usize], b: &[usize]) -> Ordering {
        let turns = |choice: &[usize]| Worth::turns(choice.iter().map(|at| self.list[*at].worth));
        turns(a).cmp(&turns(b))
    }

    /// The nodes with those of the class who run there, first where pods get room at the least cost.
    fn sites(&mut self, open: &[usize]) -> Vec<Site> {
        let mut by_node: Vec<(NodeNo, Member)> = Vec::new();
        for at in open.iter().copied().filter(|at| self.list[*at].worth.lost <= self.best.0.lost()) {
            match self.list[at].places {
                [place] => by_node.push((place.node, self.member(at, *place))),
                _ => self.is_complete = false,
            }
        }
        sort::by_key(&mut by_node, |it| *it);
        let sites = by_node.chunk_by(|(a, _), (b, _)| a == b).map(|members| self.site(members));
        let mut sites: Vec<Site> = sites.filter(|site| !site.ways.is_empty()).collect();
        sort::by_key(&mut sites, |site| site.lost_per_pod);
        sites
    }

    /// What may be taken of these on their node: every choice that frees more than all cheaper ones.
    fn site(&mut self, members: &[(NodeNo, Member)]) -> Site {
        let node = members.first().map(|(node, _)| *node).filter(|node| self.counts_on(*node));
        let node = node.map(|node| *self.freed.nodes.get(node.at()));
        if self.gaps.of.is_empty() && self.is_without_room(node.as_ref(), members) {
            return Site { ways: Vec::new(), lost_per_pod: i64::MAX };
        }
        let mut ways = vec![Way { node, frees: [0; LANES], cost: Cost::default(), members: Vec::new() }];
        for kind in members.chunk_by(|(_, a), (_, b)| a.is_like(b)) {
            for before in 0..ways.len() {
                let mut way = ways[before].clone();
                for (_, member) in kind {
                    way = self.with(way, member.at);
                    if way.cost > self.best.0 {
                        break;
                    }
                    if ways.len() == WAYS_MAX {
                        self.is_complete = false;
                        break;
                    }
                    ways.push(way.clone());
                }
            }
        }
        sort::by(&mut ways, |a, b| a.cost.cmp(&b.cost).then_with(|| self.by_turns(&a.members, &b.members)));
        let mut kept: Vec<Way> = Vec::new();
        let mut lost_per_pod = i64::MAX;
        for way in ways.into_iter().map(|way| self.with_room(way, node.as_ref())) {
            let is_useless = way.frees.iter().all(|frees| *frees <= 0);
            let is_less = |other: &Way| way.frees.iter().zip(&other.frees).all(|(mine, others)| mine <= others);
            if is_useless || kept.iter().any(is_less) {
                continue;
            }
            if way.frees[PODS] > 0 {
                lost_per_pod = lost_per_pod.min(way.cost.lost() / way.frees[PODS]);
            }
            kept.push(way);
        }
        Site { ways: kept, lost_per_pod }
    }

    /// Whether no pod has room on a node even if all of these go.
    fn is_without_room(&self, node: Option<&NodeUse>, members: &[(NodeNo, Member)]) -> bool {
        let all = Way { node: node.copied(), frees: [0; LANES], cost: Cost::default(), members: Vec::new() };
        let all = members.iter().fold(all, |way, (_, member)| self.with(way, member.at));
        self.with_room(all, node).frees[PODS] <= 0
    }

    fn member(&self, at: usize, place: PodAt) -> Member {
        let (amount, charge) = (self.list[at].amount(), self.list[at].charge);
        let gpus = self.freed.nodes.get(place.node.at()).gpu_dimension.map_or(0, |gpu| amount[gpu]);
        Member { amount, charge, shared: if gpus < GPU { place.gpus } else { 0 }, at }
    }

    /// Whether what is free on a node helps the pods.
    fn counts_on(&self, node: NodeNo) -> bool {
        let choice = self.freed.need.shape.as_ref().map(|shape| shape.nodes());
        choice.is_some_and(|choice| is_open(self.freed.trial, choice, node))
    }

    fn with(&self, mut way: Way, at: usize) -> Way {
        let candidate = &self.list[at];
        if let Some(node) = &mut way.node {
            candidate.for_each_pod(|place, amount| node.give(amount, place.gpus));
        }
        for (sum, more) in way.frees.iter_mut().zip(self.gaps.freed_by(candidate)) {
            *sum += more;
        }
        way.cost = way.cost.and(candidate.worth.lost);
        way.members.push(at);
        way
    }

    /// What it frees of what is missing, with the pods that have room on the node then.
    fn with_room(&self, mut way: Way, before: Option<&NodeUse>) -> Way {
        let pod = self.freed.need.role.as_ref().map_or(Amount::ZERO, |role| role.amount);
        if let Some((before, after)) = before.zip(way.node) {
            way.frees[PODS] = after.slots(&pod) - before.slots(&pod);
        }
        way.frees = std::array::from_fn(|lane| way.frees[lane].min(self.gaps.missing[lane]));
        way
    }
}
