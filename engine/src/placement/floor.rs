//! The floor: what is free on every node and in every pool, ordered so that the fullest node is found at once.

use crate::placement::NodeUse;
use crate::state::cluster::Cluster;
use crate::state::cluster::Node;
use crate::state::domain::Domains;
use crate::unit::amount::Amount;
use crate::unit::amount::DIMENSIONS_MAX;
use crate::unit::id::DomainNo;
use crate::unit::id::NodeNo;
use crate::unit::ordered::Set;
use crate::unit::sort;

/// A node's place by name, among all nodes. Between two neighbours there is room for more.
pub(super) type Rank = i64;

/// How far apart neighbours are when all have been put in order.
const APART: Rank = 1 << 32;

/// Ready nodes of one domain with GPUs of one dimension, by free GPUs, then by name.
type ByFree = Set<(i64, Rank, NodeNo)>;

/// What is free where.
#[derive(Clone, Debug, Default)]
pub struct Floor {
    /// By node number.
    pub nodes: Vec<NodeUse>,
    /// What is free in each domain that is a pool, by domain number.
    pub pools: Vec<Amount>,
    order: Vec<Ordered>,
    by_free: Vec<[ByFree; DIMENSIONS_MAX + 1]>,
}

/// Where a node stands in the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ordered {
    rank: Rank,
    domain: DomainNo,
    lane: usize,
    is_ready: bool,
}

impl Floor {
    /// The floor of machines on which nothing runs.
    #[must_use]
    pub fn empty(cluster: &Cluster, nodes: &[Node], domains: &Domains) -> Self {
        let mut by_name: Vec<usize> = (0..nodes.len()).collect();
        sort::by(&mut by_name, |&a, &b| nodes[a].id.cmp(&nodes[b].id));
        let mut rank = vec![0; nodes.len()];
        for (place, &at) in (0..).zip(&by_name) {
            rank[at] = place * APART;
        }
        let mut floor = Self {
            nodes: nodes.iter().map(|node| NodeUse::empty(cluster, &node.amount)).collect(),
            pools: domains.list.iter().map(|domain| domain.amount).collect(),
            order: Vec::new(),
            by_free: domains.list.iter().map(|_| Default::default()).collect(),
        };
        for (node, rank) in nodes.iter().zip(rank) {
            floor.put_in_order(node, domains.of_group(node.group), rank);
        }
        floor
    }

    /// Adds a node on which nothing runs, whose name comes between those of two others; whether there is room for it in
    /// their order. If not, it has to be made anew.
    pub fn add(&mut self, cluster: &Cluster, node: &Node, domain: DomainNo, beside: [Option<NodeNo>; 2]) -> bool {
        let rank = match beside.map(|no| no.map(|no| self.order[no.at()].rank)) {
            [None, None] => Some(0),
            [Some(before), None] => before.checked_add(APART),
            [None, Some(after)] => after.checked_sub(APART),
            [Some(before), Some(after)] => Some(before.midpoint(after)).filter(|between| *between > before),
        };
        let Some(rank) = rank else { return false };
        self.nodes.push(NodeUse::empty(cluster, &node.amount));
        self.pools[domain.at()] += node.amount;
        self.put_in_order(node, domain, rank);
        true
    }

    /// Puts the next node in its place in the order.
    fn put_in_order(&mut self, node: &Node, domain: DomainNo, rank: Rank) {
        let no = NodeNo::from_index(self.order.len());
        let lane = self.nodes[no.at()].gpu_dimension.unwrap_or(DIMENSIONS_MAX);
        self.order.push(Ordered { rank, domain, lane, is_ready: node.is_open() });
        self.list(no);
    }

    fn key(&self, no: NodeNo) -> (i64, Rank, NodeNo) {
        (self.nodes[no.at()].free_gpus(), self.order[no.at()].rank, no)
    }

    fn list(&mut self, no: NodeNo) {
        let Ordered { domain, lane, is_ready, .. } = self.order[no.at()];
        if is_ready {
            let key = self.key(no);
            self.by_free[domain.at()][lane].insert(key);
        }
    }

    /// Takes what a pod needs on a node.
    pub fn take(&mut self, no: NodeNo, pod: &Amount, gpus: u16) {
        self.change(no, |node| node.take(pod, gpus));
    }

    /// Gives back what a pod held on a node.
    pub fn give(&mut self, no: NodeNo, pod: &Amount, gpus: u16) {
        self.change(no, |node| node.give(pod, gpus));
    }

    fn change(&mut self, no: NodeNo, change: impl FnOnce(&mut NodeUse)) {
        let Ordered { domain, lane, .. } = self.order[no.at()];
        let before = self.key(no);
        change(&mut self.nodes[no.at()]);
        if before.0 != self.key(no).0 {
            self.by_free[domain.at()][lane].remove(&before);
            self.list(no);
        }
    }

    /// Ready nodes of a domain that may take a pod which asks for `gpus` in lane `lane`, the fullest first.
    pub(super) fn candidates(
        &self,
        domain: DomainNo,
        lane: usize,
        gpus: i64,
    ) -> impl DoubleEndedIterator<Item = (i64, Rank, NodeNo)> + '_ {
        self.by_free[domain.at()][lane].range_from(&(gpus, Rank::MIN, NodeNo(0))).copied()
    }

    /// A node's place by name, among all nodes.
    pub(super) fn rank(&self, no: NodeNo) -> Rank {
        self.order[no.at()].rank
    }

    /// Whether new pods of this domain may start on a node.
    #[must_use]
    pub fn is_open(&self, no: NodeNo, domain: DomainNo) -> bool {
        self.order[no.at()].is_ready && self.order[no.at()].domain == domain
    }
}

/// The same machines with the same things free, in the same order: how far apart they are in it does not matter.
impl PartialEq for Floor {
    fn eq(&self, other: &Self) -> bool {
        let order = |floor: &Self| -> Vec<Vec<NodeNo>> {
            floor.by_free.iter().flatten().map(|nodes| nodes.iter().map(|(_, _, no)| *no).collect()).collect()
        };
        (&self.nodes, &self.pools, order(self)) == (&other.nodes, &other.pools, order(other))
    }
}

impl Eq for Floor {}
