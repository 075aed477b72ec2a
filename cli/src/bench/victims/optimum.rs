//! The cheapest victims for equal pods on nodes, exactly: written apart from the engine, which is held against it.
//!
//! A dynamic program over the nodes. What counts after some of them is how many pods they take and how much of the
//! quota's shortage their victims cover; of all ways there only the cheapest is kept, since costs add up.

use std::collections::BTreeMap;
use std::ops::AddAssign;

/// Classes of value that are told apart, the most valuable first.
pub const CLASSES: usize = 8;
/// GPUs of a node, and so the most jobs on it.
const NODE_GPUS: usize = 16;

/// What victims cost, class by class: the unsaved work that is lost, then how many they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cost([(i64, u32); CLASSES]);

impl Cost {
    /// The cost of one victim.
    #[must_use]
    pub fn of(victim: &Candidate) -> Self {
        let mut cost = Self::default();
        cost.0[victim.class] = (victim.lost, 1);
        cost
    }

    /// How many victims there are.
    #[must_use]
    pub fn victims(&self) -> u32 {
        self.0.iter().map(|(_, victims)| victims).sum()
    }

    /// The unsaved work of all classes together.
    #[must_use]
    pub fn lost(&self) -> i64 {
        self.0.iter().map(|(lost, _)| lost).sum()
    }
}

impl AddAssign for Cost {
    fn add_assign(&mut self, other: Self) {
        for (mine, more) in self.0.iter_mut().zip(other.0) {
            mine.0 += more.0;
            mine.1 += more.1;
        }
    }
}

/// A running job of one pod that may be taken.
#[derive(Clone, Copy, Debug)]
pub struct Candidate {
    pub gpus: usize,
    /// Below [`CLASSES`]; 0 is the most valuable one.
    pub class: usize,
    /// Unsaved work, in GPU-milliseconds.
    pub lost: i64,
    /// Whether it counts against the quota of the job that asks.
    pub is_in_quota: bool,
}

/// A machine.
#[derive(Clone, Debug, Default)]
pub struct Node {
    pub free: usize,
    /// What may be taken on it; whatever else runs there stays.
    pub candidates: Vec<Candidate>,
}

/// Who asks, and where.
#[derive(Clone, Debug)]
pub struct Question {
    pub nodes: Vec<Node>,
    pub pods: usize,
    /// GPUs of each pod.
    pub each: usize,
    /// GPUs that the quota lacks.
    pub short: usize,
}

/// Pods that have a place, and GPUs of the shortage that are covered.
type Point = (usize, usize);

/// The least that victims cost after whose release all pods fit, on the nodes and in the quota.
#[must_use]
pub fn cheapest(question: &Question) -> Option<Cost> {
    let mut best: BTreeMap<Point, Cost> = BTreeMap::from([((0, 0), Cost::default())]);
    for node in &question.nodes {
        let ways = ways(question, node);
        let mut next = BTreeMap::new();
        for ((pods, covered), cost) in &best {
            for ((more_pods, more_covered), more) in &ways {
                let point = (question.pods.min(pods + more_pods), question.short.min(covered + more_covered));
                let mut sum = *cost;
                sum += *more;
                keep(&mut next, point, sum);
            }
        }
        best = next;
    }
    best.get(&(question.pods, question.short)).copied()
}

/// What can be done on a node, each at its least cost.
fn ways(question: &Question, node: &Node) -> BTreeMap<Point, Cost> {
    let mut ways = BTreeMap::new();
    for taken in 0..1u32 << node.candidates.len().min(NODE_GPUS) {
        let taken = node.candidates.iter().enumerate().filter(|(at, _)| taken >> at & 1 == 1);
        let (mut free, mut covered, mut cost) = (node.free, 0, Cost::default());
        for (_, victim) in taken {
            free += victim.gpus;
            covered += if victim.is_in_quota { victim.gpus } else { 0 };
            cost += Cost::of(victim);
        }
        keep(&mut ways, (question.pods.min(free / question.each), question.short.min(covered)), cost);
    }
    ways
}

fn keep(best: &mut BTreeMap<Point, Cost>, point: Point, cost: Cost) {
    let known = best.entry(point).or_insert(cost);
    *known = cost.min(*known);
}

#[cfg(test)]
mod tests {
    use super::CLASSES;
    use super::Candidate;
    use super::Cost;
    use super::Node;
    use super::Question;
    use super::cheapest;
    use crate::workload::Random;

    fn pick(random: &mut Random, limit: usize) -> usize {
        usize::try_from(random.below(limit as u64)).unwrap()
    }

    fn question(random: &mut Random) -> Question {
        let node = |random: &mut Random| {
            let candidate = |random: &mut Random| Candidate {
                gpus: 1 + pick(random, 3),
                class: pick(random, CLASSES),
                lost: i64::try_from(pick(random, 4)).unwrap(),
                is_in_quota: pick(random, 3) > 0,
            };
            let candidates = (0..pick(random, 4)).map(|_| candidate(random)).collect();
            Node { free: pick(random, 3), candidates }
        };
        let nodes = (0..=pick(random, 3)).map(|_| node(random)).collect();
        Question { nodes, pods: 1 + pick(random, 3), each: 1 + pick(random, 4), short: pick(random, 6) }
    }

    /// Every set of candidates, one after the other.
    fn by_trying_all(question: &Question) -> Option<Cost> {
        let all: Vec<(usize, Candidate)> =
            (0..).zip(&question.nodes).flat_map(|(no, node)| node.candidates.iter().map(move |it| (no, *it))).collect();
        let mut best: Option<Cost> = None;
        for set in 0..1u32 << all.len() {
            let taken: Vec<(usize, Candidate)> =
                (0..).zip(&all).filter(|(at, _)| set & (1 << at) != 0).map(|(_, it)| *it).collect();
            let room = |no: usize| {
                let freed: usize = taken.iter().filter(|(on, _)| *on == no).map(|(_, it)| it.gpus).sum();
                (question.nodes[no].free + freed) / question.each
            };
            let pods: usize = (0..question.nodes.len()).map(room).sum();
            let covered: usize = taken.iter().filter(|(_, it)| it.is_in_quota).map(|(_, it)| it.gpus).sum();
            if pods < question.pods || covered < question.short {
                continue;
            }
            let mut cost = Cost::default();
            for (_, it) in &taken {
                cost += Cost::of(it);
            }
            best = Some(best.map_or(cost, |known| known.min(cost)));
        }
        best
    }

    #[test]
    fn it_is_the_cheapest_of_all_sets() {
        let mut random = Random::of(11);
        let (mut served, mut unserved) = (0, 0);
        for at in 0..3000 {
            let question = question(&mut random);
            let expected = by_trying_all(&question);
            assert_eq!(cheapest(&question), expected, "question {at}: {question:?}");
            *if expected.is_some() { &mut served } else { &mut unserved } += 1;
        }
        assert!(served > 500 && unserved > 500, "{served} served, {unserved} not");
    }

    #[test]
    fn a_valuable_victim_outweighs_all_others() {
        let victim = |class, lost, gpus| Candidate { gpus, class, lost, is_in_quota: true };
        let nodes = vec![
            Node { free: 0, candidates: vec![victim(0, 1, 2)] },
            Node { free: 0, candidates: vec![victim(1, 900, 1), victim(1, 900, 1)] },
        ];
        let cost = cheapest(&Question { nodes, pods: 1, each: 2, short: 0 }).unwrap();
        assert_eq!((cost.lost(), cost.victims()), (1800, 2));
    }
}
