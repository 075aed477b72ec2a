//! Finding room for a gang: every pod on one node, or none at all.

use crate::job::phase::PodAt;
use crate::job::shape::Role;
use crate::placement::NodeUse;
use crate::placement::floor::Floor;
use crate::state::cluster::Cluster;
use crate::unit::amount::Amount;
use crate::unit::amount::DIMENSIONS_MAX;
use crate::unit::id::DomainNo;
use crate::unit::id::NodeNo;
use crate::unit::slots::Draft;
use crate::unit::slots::Slots;
use crate::unit::sort;

/// How many pods of a gang find room, when not all do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoRoom {
    /// Pods that found room.
    pub fit: u32,
    /// What the first pod without room needs.
    pub pod: Amount,
    /// The steps after which the search for another way was given up; none if there is no way to place the gang.
    pub unsolved: Option<u32>,
}

/// Where the search may place pods.
pub struct Room<'a> {
    /// The floor as it is.
    pub floor: &'a Floor,
    /// The cluster, for its dimensions.
    pub cluster: &'a Cluster,
    /// The domain.
    pub domain: DomainNo,
    /// Nodes that are kept for somebody else or not chosen, sorted.
    pub forbidden: &'a [NodeNo],
}

impl Room<'_> {
    /// Places a gang on the nodes of the draft, and returns the pods' places in the order of the roles: the largest pods
    /// first, each on the fullest node, or where that fails and there are several kinds of pods, in another way that is
    /// found in so many steps. On failure the draft is spoilt: work on a copy.
    pub fn place(&self, nodes: &mut Draft<'_, NodeUse>, roles: &[Role], steps: u32) -> Result<Box<[PodAt]>, NoRoom> {
        // Most gangs are one pod, for which nothing has to be put in order.
        if let [Role { count: 1, amount: pod }] = *roles {
            let place = self.place_pod(nodes, &pod).ok_or(NoRoom { fit: 0, pod, unsolved: None })?;
            return Ok(Box::new([place]));
        }
        let mut order: Vec<usize> = (0..roles.len()).collect();
        sort::by_key(&mut order, |&at| {
            (std::cmp::Reverse(self.cluster.gpus(&roles[at].amount)), std::cmp::Reverse(roles[at].amount), at)
        });
        let mut places: Vec<Vec<PodAt>> = vec![Vec::new(); roles.len()];
        let mut fit = 0;
        for at in &order {
            for _ in 0..roles[*at].count {
                let pod = roles[*at].amount;
                let Some(place) = self.place_pod(nodes, &pod) else {
                    let stuck = NoRoom { fit, pod, unsolved: None };
                    // Of equal pods this way places as many as there is room for.
                    let are_equal = order.first().is_none_or(|first| roles[*first].amount == pod);
                    return if are_equal {
                        Err(stuck)
                    } else {
                        self.place_elsewhere(nodes, roles, &places, steps, stuck)
                    };
                };
                places[*at].push(place);
                fit += 1;
            }
        }
        Ok(places.into_iter().flatten().collect())
    }

    /// Places one pod on the fullest node on which it fits.
    pub fn place_pod(&self, nodes: &mut Draft<'_, NodeUse>, pod: &Amount) -> Option<PodAt> {
        let (node, gpus) = match self.cluster.gpu_dimension(pod) {
            Some(lane) => self.fullest(nodes, pod, lane),
            None => (0..=DIMENSIONS_MAX).rev().find_map(|lane| self.fullest(nodes, pod, lane)),
        }?;
        nodes.get_mut(node.at()).take(pod, gpus);
        Some(PodAt { node, gpus })
    }

    /// The fullest node of a lane: the first unchanged one in the order, or a changed one that is fuller still.
    fn fullest(&self, nodes: &Draft<'_, NodeUse>, pod: &Amount, lane: usize) -> Option<(NodeNo, u16)> {
        let asked = if lane < DIMENSIONS_MAX { pod[lane] } else { 0 };
        let unchanged = self
            .floor
            .candidates(self.domain, lane, asked)
            .filter(|(_, _, no)| !nodes.is_changed(no.at()) && self.is_allowed(*no))
            .find_map(|(free, rank, no)| nodes.get(no.at()).fit(pod).map(|gpus| (free, rank, no, gpus)));
        let changed = self
            .changed(nodes, asked)
            .filter(|(_, node)| node.gpu_dimension.unwrap_or(DIMENSIONS_MAX) == lane)
            .filter_map(|(no, node)| node.fit(pod).map(|gpus| (node.free_gpus(), self.floor.rank(no), no, gpus)))
            .min();
        match (unchanged, changed) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
        .map(|(_, _, no, gpus)| (no, gpus))
    }

    /// How many pods of this amount find room in all. Nodes without enough free GPUs are not even looked at.
    #[must_use]
    pub fn slots(&self, nodes: &Draft<'_, NodeUse>, pod: &Amount) -> i64 {
        let (lanes, asked) = match self.cluster.gpu_dimension(pod) {
            Some(lane) => (lane..=lane, pod[lane]),
            None => (0..=DIMENSIONS_MAX, i64::MIN),
        };
        let unchanged =
            lanes.clone().flat_map(|lane| self.floor.candidates(self.domain, lane, asked)).map(|(_, _, no)| no);
        let unchanged = unchanged
            .filter(|no| !nodes.is_changed(no.at()) && self.is_allowed(*no))
            .map(|no| nodes.get(no.at()).slots(pod));
        let changed = self.changed(nodes, asked).map(|(_, node)| node.slots(pod));
        unchanged.chain(changed).sum()
    }

    /// The most that one node has free for a pod in a dimension; of GPUs, what a pod of this size could take of them.
    #[must_use]
    pub fn most_free(&self, nodes: &Draft<'_, NodeUse>, dimension: usize, pod: &Amount) -> i64 {
        let is_gpus = self.cluster.gpu_dimensions().any(|at| at == dimension);
        let lanes = if is_gpus { dimension..=dimension } else { 0..=DIMENSIONS_MAX };
        let changed = self.changed(nodes, i64::MIN).map(|(_, node)| node.free_for(pod, dimension));
        let mut most = changed.max().unwrap_or(0);
        for (free, _, no) in lanes.flat_map(|lane| self.floor.candidates(self.domain, lane, i64::MIN).rev()) {
            // In the order of free GPUs none that follows has more of them.
            if is_gpus && free <= most {
                break;
            }
            if !nodes.is_changed(no.at()) && self.is_allowed(no) {
                most = most.max(nodes.get(no.at()).free_for(pod, dimension));
            }
        }
        most
    }

    /// The changed nodes that may be used and have so many GPUs free. Most have none: that is looked at first.
    fn changed<'n>(
        &'n self,
        nodes: &'n Draft<'_, NodeUse>,
        asked: i64,
    ) -> impl Iterator<Item = (NodeNo, &'n NodeUse)> + 'n {
        let changed = nodes.changes().filter(move |(_, node)| node.free_gpus().max(0) >= asked);
        let changed = changed.map(|(at, node)| (NodeNo::from_index(at), node));
        changed.filter(|(no, _)| self.floor.is_open(*no, self.domain) && self.is_allowed(*no))
    }

    pub(super) fn is_allowed(&self, no: NodeNo) -> bool {
        self.forbidden.binary_search(&no).is_err()
    }
}
