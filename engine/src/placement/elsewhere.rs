//! Another way to place a gang: what the fullest node and the largest pod first have missed.

use crate::job::phase::PodAt;
use crate::job::shape::Role;
use crate::placement::NodeUse;
use crate::placement::fill::Filler;
use crate::placement::floor::Rank;
use crate::placement::gang::NoRoom;
use crate::placement::gang::Room;
use crate::placement::pack::pack;
use crate::placement::packing::Bin;
use crate::placement::packing::Load;
use crate::placement::packing::OutOfSteps;
use crate::placement::packing::Packing;
use crate::placement::packing::Steps;
use crate::placement::pod_kind::PodKind;
use crate::unit::amount::Amount;
use crate::unit::amount::DIMENSIONS_MAX;
use crate::unit::id::NodeNo;
use crate::unit::limit::NODE_GPUS_MAX;
use crate::unit::slots::Draft;
use crate::unit::slots::Slots;
use crate::unit::sort;

/// Nodes among which another way is looked for, at most: on so many the first way rarely fails.
const NODES_MAX: usize = 2_000;

/// Nodes that have the same free.
struct Equals {
    bin: Bin,
    nodes: Vec<NodeNo>,
}

/// A node with all that tells it from others, in the order in which nodes are filled.
type Key = (std::cmp::Reverse<usize>, i64, Amount, [i16; NODE_GPUS_MAX], Rank, NodeNo);

impl Room<'_> {
    /// Places a gang in another way than the first, which got stuck after these places.
    pub(super) fn place_elsewhere(
        &self,
        nodes: &mut Draft<'_, NodeUse>,
        roles: &[Role],
        stuck_at: &[Vec<PodAt>],
        steps: u32,
        stuck: NoRoom,
    ) -> Result<Box<[PodAt]>, NoRoom> {
        let stuck_at =
            || roles.iter().zip(stuck_at).flat_map(|(role, places)| places.iter().map(|at| (role.amount, *at)));
        for (amount, at) in stuck_at() {
            nodes.get_mut(at.node.at()).give(&amount, at.gpus);
        }
        let kinds = PodKind::of(self.cluster, roles);
        let mut steps = Steps::new(steps);
        match self.search(nodes, &kinds, &mut steps) {
            Ok(Some(mut places)) => {
                let mut of_role = |role: &Role| -> Option<Vec<PodAt>> {
                    let Some(kind) = kinds.iter().position(|kind| kind.amount == role.amount) else {
                        return (0..role.count).map(|_| self.place_pod(nodes, &role.amount)).collect();
                    };
                    let rest = places[kind].split_off(role.count as usize);
                    let taken = std::mem::replace(&mut places[kind], rest);
                    for at in &taken {
                        nodes.get_mut(at.node.at()).take(&role.amount, at.gpus);
                    }
                    Some(taken)
                };
                let places: Option<Vec<Vec<PodAt>>> = roles.iter().map(&mut of_role).collect();
                places.map(|places| places.into_iter().flatten().collect()).ok_or(stuck)
            }
            none => {
                for (amount, at) in stuck_at() {
                    nodes.get_mut(at.node.at()).take(&amount, at.gpus);
                }
                Err(NoRoom { unsolved: none.err().map(|OutOfSteps| steps.taken()), ..stuck })
            }
        }
    }

    /// Places for pods of these kinds, kind by kind; none if there are none.
    fn search(
        &self,
        nodes: &Draft<'_, NodeUse>,
        kinds: &[PodKind],
        steps: &mut Steps,
    ) -> Result<Option<Vec<Vec<PodAt>>>, OutOfSteps> {
        if self.are_too_many(nodes, kinds) {
            return Ok(None);
        }
        let equals = self.equals(nodes, kinds).ok_or(OutOfSteps)?;
        let bins: Vec<Bin> = equals.iter().map(|equals| equals.bin.clone()).collect();
        let loads = match pack(&bins, kinds, steps) {
            Packing::Found(loads) => loads,
            Packing::Nowhere => return Ok(None),
            Packing::Unsolved => return Err(OutOfSteps),
        };
        let mut places = vec![Vec::new(); kinds.len()];
        for Load { bin, nth, pods } in loads {
            let node = equals[bin].nodes[nth as usize];
            let filler = Filler { node: nodes.get(node.at()), kinds, pack };
            let gpus = filler.gpus(&pods, steps)?.ok_or(OutOfSteps)?;
            for (places, gpus) in places.iter_mut().zip(gpus) {
                places.extend(gpus.into_iter().map(|gpus| PodAt { node, gpus }));
            }
        }
        Ok(Some(places))
    }

    /// Whether more pods are at least as large as some size than there is room for. That is soon told.
    fn are_too_many(&self, nodes: &Draft<'_, NodeUse>, kinds: &[PodKind]) -> bool {
        let Some(first) = kinds.first() else { return false };
        let (mut smallest, mut count) = (first.amount, 0i64);
        kinds.iter().any(|kind| {
            smallest = smallest.lesser(&kind.amount);
            count += i64::from(kind.count);
            !smallest.is_zero() && self.slots(nodes, &smallest) < count
        })
    }

    /// Nodes that may take a pod of one of these kinds, equal ones together, the fullest first; none if there are too many.
    fn equals(&self, nodes: &Draft<'_, NodeUse>, kinds: &[PodKind]) -> Option<Vec<Equals>> {
        let mut keys: Vec<Key> = Vec::new();
        for lane in (0..=DIMENSIONS_MAX).rev() {
            let least = |kind: &PodKind| match self.cluster.gpu_dimension(&kind.amount) {
                Some(dimension) => (dimension == lane).then(|| kind.amount[dimension]),
                None => Some(i64::MIN),
            };
            let Some(least) = kinds.iter().filter_map(least).min() else { continue };
            let unchanged = self.floor.candidates(self.domain, lane, least).map(|(_, _, no)| no);
            let unchanged = unchanged.filter(|no| !nodes.is_changed(no.at()));
            let is_here = |node: &NodeUse| node.gpu_dimension.unwrap_or(DIMENSIONS_MAX) == lane;
            let changed = nodes.changes().filter(|(_, node)| is_here(node)).map(|(at, _)| NodeNo::from_index(at));
            let changed = changed.filter(|no| self.floor.is_open(*no, self.domain));
            for no in unchanged.chain(changed).filter(|no| self.is_allowed(*no)) {
                let node = nodes.get(no.at());
                if kinds.iter().any(|kind| node.fit(&kind.amount).is_some()) {
                    keys.push((
                        std::cmp::Reverse(lane),
                        node.free_gpus(),
                        node.free,
                        sorted(node),
                        self.floor.rank(no),
                        no,
                    ));
                }
            }
            if keys.len() > NODES_MAX {
                return None;
            }
        }
        sort::by_key(&mut keys, |key| *key);
        let mut equals: Vec<Equals> = Vec::new();
        let mut last = None;
        for (lane, _, free, gpus, _, no) in keys {
            match equals.last_mut().filter(|_| last == Some((lane, free, gpus))) {
                Some(group) => {
                    group.bin.count += 1;
                    group.nodes.push(no);
                }
                None => equals.push(Equals { bin: Bin { node: *nodes.get(no.at()), count: 1 }, nodes: vec![no] }),
            }
            last = Some((lane, free, gpus));
        }
        Some(equals)
    }
}

/// What is free of each GPU, whichever it is.
fn sorted(node: &NodeUse) -> [i16; NODE_GPUS_MAX] {
    let mut gpus = node.gpus;
    sort::by_key(&mut gpus, |gpu| *gpu);
    gpus
}
