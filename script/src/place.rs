//! Puts jobs where a scenario finds them: on the nodes and charges it names, by events and without a round.

use std::sync::Arc;

use engine::job::phase::Charge;
use engine::job::phase::Placed;
use engine::job::phase::PodAt;
use engine::job::phase::Source;
use engine::job::run::RunStep;
use engine::message::event::Event;
use engine::placement::NodeUse;
use engine::state::cluster::NodeStatus;
use engine::unit::amount::Amount;
use engine::unit::id::JobNo;
use engine::unit::id::NodeId;
use engine::unit::id::NodeNo;
use engine::unit::time::Timestamp;

use crate::session::Session;

/// Starts the gang of a waiting job on these nodes; where none is named, on the fullest on which the pod fits.
///
/// # Errors
/// In words: which pod does not fit.
pub fn start(
    session: &mut Session,
    no: JobNo,
    charge: Charge,
    nodes: &[Option<&str>],
    at: Timestamp,
) -> Result<(), String> {
    let shape = Arc::clone(&session.state.jobs[no].spec.shape);
    let domain = session.state.domains.of_quota(session.state.jobs[no].spec.quota);
    let home = session.state.domains.list[domain.at()].home;
    let mut pods: Vec<PodAt> = Vec::new();
    if !session.state.domains.list[domain.at()].is_pool {
        let mut floor = session.state.floor.nodes.clone();
        let amounts = shape.gang().flat_map(|role| std::iter::repeat_n(role.amount, role.count as usize));
        for (at, amount) in amounts.enumerate() {
            let named = nodes.get(at).copied().flatten();
            let node = choose(session, &floor, named, &amount).ok_or_else(|| no_room(session, no, named))?;
            let gpus = floor[node.at()].fit(&amount).unwrap_or(0);
            floor[node.at()].take(&amount, gpus);
            pods.push(PodAt { node, gpus });
        }
    }
    let source = if charge == Charge::Idle { Source::Idle } else { Source::Own };
    let is_run = session.state.is_reported(&session.state.jobs[no]);
    let placed = Placed { source, charge, home, pods: pods.into() };
    session.apply(Event::Started { job: no, at, placed, is_run });
    if is_run {
        session.apply(Event::Run { job: no, at, step: Box::new(RunStep::Confirmed) });
    }
    Ok(())
}

/// The node that is named, if the pod fits there; else the fullest on which it fits.
#[must_use]
pub fn choose(session: &Session, floor: &[NodeUse], named: Option<&str>, pod: &Amount) -> Option<NodeNo> {
    let fits = |no: &NodeNo| floor[no.at()].fit(pod).is_some();
    if let Some(name) = named {
        return session.state.node_no(&NodeId::new(name).ok()?).filter(fits);
    }
    let ready = session.state.live_nodes().filter(|(_, node)| node.status == NodeStatus::Ready);
    ready.map(|(no, _)| no).filter(fits).min_by_key(|no| (floor[no.at()].free_gpus(), *no))
}

/// In words: a pod of the job does not fit there, or nowhere.
#[must_use]
pub fn no_room(session: &Session, no: JobNo, node: Option<&str>) -> String {
    let job = &session.state.jobs[no].spec.id;
    match node {
        Some(node) => {
            format!("a pod of {job} does not fit on node {node}; check the node's name and what the case puts there")
        }
        None => format!("a pod of {job} fits on no node; check what the case puts there"),
    }
}
