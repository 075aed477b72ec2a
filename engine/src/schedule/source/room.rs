//! Machines for a gang, shared by all sources: amounts may be free and still not be where the pods fit.

use std::borrow::Cow;

use crate::job::hold::Blocker;
use crate::job::nodes::NodeChoice;
use crate::job::phase::PodAt;
use crate::job::shape::Shape;
use crate::placement::NodeUse;
use crate::placement::gang::Room;
use crate::schedule::trial::Trial;
use crate::state::world::State;
use crate::unit::amount::Amount;
use crate::unit::id::DomainNo;
use crate::unit::id::NodeNo;
use crate::unit::slots::Draft;
use crate::unit::slots::Slots;
use crate::unit::sort;

/// Steps that the search for a place may take for a job that nobody has to give way to.
const STEPS_MAX: u32 = 5_000;

/// Steps that it may take for one set of victims: there are many sets.
const STEPS_OF_VICTIMS_MAX: u32 = 500;

/// Places for the gang's pods in a domain; none for a pool that has the amount free.
pub fn find_room(trial: &Trial<'_>, domain: DomainNo, shape: &Shape) -> Result<Box<[PodAt]>, Blocker> {
    if trial.state.domains.list[domain.at()].is_pool {
        let asked = shape.gang_amount();
        // A pool has no nodes that could have been chosen.
        if !shape.nodes().is_any() {
            return Err(no_room_in_pool(shape, &asked, &Amount::ZERO, asked.dimensions().next().unwrap_or(0)));
        }
        return fits_in_pool(trial.pools.get(domain.at()), shape, &asked).map(|()| Box::default());
    }
    let mut nodes = trial.nodes.fork();
    place(trial, &mut nodes, domain, shape, STEPS_MAX)
}

fn fits_in_pool(free: &Amount, shape: &Shape, asked: &Amount) -> Result<(), Blocker> {
    asked.first_over(free).map_or(Ok(()), |at| Err(no_room_in_pool(shape, asked, free, at)))
}

fn no_room_in_pool(shape: &Shape, asked: &Amount, free: &Amount, at: usize) -> Blocker {
    Blocker::NoRoom {
        pods: shape.gang_pods(),
        fit: 0,
        dimension: dimension(at),
        asked: asked[at],
        free: free[at],
        unsolved: None,
    }
}

/// Nodes on which a gang may not be placed, sorted: those that are kept for others, and those that it has not chosen.
#[must_use]
pub fn closed<'t>(trial: &'t Trial<'_>, domain: DomainNo, choice: &NodeChoice) -> Cow<'t, [NodeNo]> {
    if choice.is_any() {
        return Cow::Borrowed(&trial.forbidden);
    }
    let state = trial.state;
    let is_chosen = |no: &NodeNo| choice.allows(*no, state.nodes[no.at()].gpu_type.as_deref());
    let others = state.domains.list[domain.at()].nodes.iter().copied().filter(|no| !is_chosen(no));
    let mut closed: Vec<NodeNo> = others.chain(trial.forbidden.iter().copied()).collect();
    sort::by_key(&mut closed, |no| *no);
    closed.dedup();
    Cow::Owned(closed)
}

/// Places the gang on the nodes of a draft on which victims have made room.
pub fn place_on(
    trial: &Trial<'_>,
    nodes: &mut Draft<'_, NodeUse>,
    domain: DomainNo,
    shape: &Shape,
) -> Result<Box<[PodAt]>, Blocker> {
    place(trial, nodes, domain, shape, STEPS_OF_VICTIMS_MAX)
}

fn place(
    trial: &Trial<'_>,
    nodes: &mut Draft<'_, NodeUse>,
    domain: DomainNo,
    shape: &Shape,
    steps: u32,
) -> Result<Box<[PodAt]>, Blocker> {
    let state = trial.state;
    let roles = shape.gang_roles();
    let forbidden = &closed(trial, domain, shape.nodes());
    let room = Room { floor: &state.floor, cluster: &state.cluster, domain, forbidden };
    room.place(nodes, &roles, steps).map_err(|no_room| {
        // Where no machine has enough of something, that is what is short; otherwise the pod's GPUs stand for it.
        let pod = &no_room.pod;
        let most_free = |at: usize| (at, room.most_free(nodes, at, pod));
        let short = pod.dimensions().map(most_free).find(|(at, free)| *free < pod[*at]);
        let (at, free) = short.unwrap_or_else(|| most_free(leading_dimension(state, pod)));
        Blocker::NoRoom {
            pods: shape.gang_pods(),
            fit: no_room.fit,
            dimension: dimension(at),
            asked: no_room.pod[at],
            free,
            unsolved: no_room.unsolved,
        }
    })
}

/// The dimension by which a pod is described: its GPUs, or the first that it asks for.
fn leading_dimension(state: &State, pod: &Amount) -> usize {
    let first = || pod.values().position(|value| value > 0);
    state.cluster.gpu_dimension(pod).or_else(first).unwrap_or(0)
}

/// A dimension's position on the wire.
pub(super) fn dimension(at: usize) -> u8 {
    u8::try_from(at).unwrap_or(u8::MAX)
}
