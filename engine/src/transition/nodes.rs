//! Nodes of which nobody hears, those that are dead, and those that are deleted: what becomes of what ran there (rules 1.2
//! and 7.6).

use crate::job::halt::Failure;
use crate::job::halt::Fault;
use crate::job::phase::Phase;
use crate::job::run::RunStep;
use crate::message::command::DeleteNode;
use crate::message::command::NodeHeard;
use crate::message::command::NodeSilent;
use crate::message::event::Event;
use crate::message::rejection::Noun;
use crate::message::rejection::Rejection;
use crate::state::cluster::NodeStep;
use crate::state::jobs::Job;
use crate::state::world::State;
use crate::transition::apply_all;
use crate::transition::halt;
use crate::transition::names;
use crate::transition::quota::check_tree;
use crate::transition::run;
use crate::transition::stop;
use crate::unit::id::JobNo;
use crate::unit::id::NodeId;
use crate::unit::id::NodeNo;
use crate::unit::ordered::Set;
use crate::unit::time::Timestamp;

/// Nobody hears of a node: it takes no new pods.
pub(super) fn silent(state: &State, command: &NodeSilent, now: Timestamp) -> Result<Vec<Event>, Rejection> {
    let NodeSilent { node, since, stop_after_ms } = command;
    let no = heard_of(state, node)?;
    if let Some(after) = stop_after_ms {
        names::silence_in_range(*after)?;
    }
    let step = NodeStep::Silent { since: (*since).min(now), stop_after: *stop_after_ms };
    let is_silent = state.nodes[no.at()].silence.is_some();
    Ok(if is_silent { Vec::new() } else { halt::machines_changed(state, Event::Node { no, at: now, step }, now) })
}

/// A node is heard again.
pub(super) fn heard(state: &State, command: &NodeHeard, now: Timestamp) -> Result<Vec<Event>, Rejection> {
    let no = heard_of(state, &command.node)?;
    let is_silent = state.nodes[no.at()].silence.is_some();
    let event = Event::Node { no, at: now, step: NodeStep::Heard };
    Ok(if is_silent { halt::machines_changed(state, event, now) } else { Vec::new() })
}

fn heard_of(state: &State, id: &NodeId) -> Result<NodeNo, Rejection> {
    let no = names::node(state, id)?;
    if state.cluster.is_reported() {
        return Ok(no);
    }
    Err(Rejection::Structure {
        reason: format!("jobs on node {id} are simulated, so that it is neither silent nor heard"),
    })
}

/// How many jobs are named of those that hold something on a node.
const NAMED: usize = 5;

/// A node is removed. Nothing that is held goes with it, and no guarantee.
pub(super) fn delete(state: &State, command: &DeleteNode, now: Timestamp) -> Result<Vec<Event>, Rejection> {
    let no = names::node(state, &command.node)?;
    let here = || state.jobs.iter().map(|(_, job)| job).filter(|job| job.nodes().any(|node| node == no));
    let count = here().count();
    if count > 0 {
        let mut names: Vec<&str> = here().take(NAMED).map(|job| job.spec.id.as_str()).collect();
        let more = format!("{} more", count.saturating_sub(NAMED));
        names.extend((count > NAMED).then_some(more.as_str()));
        let holders = format!("{count} {} ({})", if count == 1 { "job" } else { "jobs" }, names.join(", "));
        let gone = if state.cluster.is_reported() { "; if the machine is gone, declare it dead first" } else { "" };
        let reason = format!("is held by {holders}; cordon it and wait for them, or cancel them{gone}");
        return Err(Rejection::NotNow { noun: Noun::Node, name: command.node.to_string(), reason });
    }
    let mut nodes = state.nodes.clone();
    nodes[no.at()].is_deleted = true;
    check_tree(&state.cluster, &state.groups, &nodes, &state.quotas, &Set::new())?;
    Ok(halt::machines_changed(state, Event::Node { no, at: now, step: NodeStep::Deleted }, now))
}

/// The first node that has been silent for so long that what ran there has been killed.
pub(super) fn by_silence(state: &State, now: Timestamp) -> Vec<Event> {
    let Some((_, no)) = state.silences.first().copied() else { return Vec::new() };
    let reason = format!("{} was not heard", state.nodes[no.at()].id);
    lost(state, Event::Node { no, at: now, step: NodeStep::Lost }, no, &reason, now)
}

/// What ran on a node is lost by this event, which comes first. Runs of which something lives elsewhere are told to stop
/// there; of the others everything is free. One after the other, since somebody may wait for several of them.
pub(super) fn lost(state: &State, event: Event, no: NodeNo, reason: &str, now: Timestamp) -> Vec<Event> {
    let mut ahead = state.clone();
    let mut events = Vec::new();
    let mut happens = |ahead: &mut State, more: Vec<Event>| {
        apply_all(ahead, &more);
        events.extend(more);
    };
    happens(&mut ahead, halt::machines_changed(state, event, now));
    let here = |ahead: &State, is_granted: bool| -> Vec<JobNo> {
        let is_meant = |job: &Job| matches!(job.phase, Phase::Starting { .. }) == is_granted;
        let jobs = ahead.jobs.iter().filter(|(_, job)| is_meant(job) && job.nodes().any(|node| node == no));
        jobs.map(|(no, _)| no).collect()
    };
    // Whoever was granted a place there is given none before it would start on it.
    for job in here(&ahead, true) {
        happens(&mut ahead, vec![run::step(job, now, RunStep::Withdrawn)]);
    }
    for job in here(&ahead, false) {
        let more = of_job(&ahead, job, no, reason, now);
        happens(&mut ahead, more);
    }
    events
}

/// What becomes of a job that had something on a node that is lost.
fn of_job(state: &State, no: JobNo, node: NodeNo, reason: &str, now: Timestamp) -> Vec<Event> {
    let job = &state.jobs[no];
    let is_over = job.nodes().all(|node| state.nodes[node.at()].is_lost());
    match &job.phase {
        Phase::Running { .. } if job.nodes_of_run().any(|at| at == node) => {
            let failure = Failure { fault: Fault::Node, reason: reason.to_owned(), exit: None };
            if is_over { halt::failed(state, no, failure, now) } else { halt::lost(state, no, failure, now) }
        }
        Phase::Running { .. } => left(state, no, now),
        Phase::Stopping(_) if is_over => stop::stops(state, &[no], now),
        Phase::Queued { .. } | Phase::Starting { .. } | Phase::Stopping(_) | Phase::Ended { .. } => Vec::new(),
    }
}

/// Pods that were told to leave have gone with the nodes on which they were.
fn left(state: &State, no: JobNo, now: Timestamp) -> Vec<Event> {
    let mut ahead = state.clone();
    let mut events = Vec::new();
    let orders = state.jobs[no].run.iter().flat_map(|run| &run.leaving);
    for order in orders.filter(|order| order.pods.iter().all(|pod| state.nodes[pod.node.at()].is_lost())) {
        let more = stop::vacated(&ahead, no, order.order, now);
        apply_all(&mut ahead, &more);
        events.extend(more);
    }
    events
}
