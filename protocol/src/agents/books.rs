//! What the log says of runs, as agents need it.

use std::collections::BTreeSet;

use agent::message::Pod;
use agent::message::RunReport;
use agent::pods::LeaveOrder;
use agent::pods::Place;
use agent::run::RunId;
use agent::run::Version;
use engine::job::phase::PodAt;
use engine::job::run::Leaving;
use engine::job::run::RunNo;
use engine::state::jobs::Job;
use engine::state::world::State;
use engine::unit::id::JobId;
use engine::unit::id::JobNo;
use engine::unit::id::NodeId;
use engine::unit::id::NodeNo;
use engine::unit::ordered::Set;
use engine::unit::sort;
use engine::unit::time::Timestamp;

use crate::agents::contact::Contact;
use crate::agents::contact::Contacts;

/// The run with this number, as agents name it.
pub(super) fn run_id(no: RunNo) -> RunId {
    RunId::new(Version { epoch: no.epoch, revision: no.revision })
}

/// A run that has not ended, with what every exchange asks of it: most runs only go on, and their jobs are looked at once.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct OfRun {
    pub(super) run: RunId,
    /// Whose run it is.
    pub(super) job: JobNo,
    /// How many of its pods are on the agent's nodes.
    pub(super) n_pods: usize,
    pub(super) standing: Standing,
}

/// How far a run is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// Nobody has confirmed that it has begun.
    Unconfirmed,
    /// It has begun, and nothing of it was told to stop or to leave.
    GoesOn,
    /// It was told to stop, or some of its pods to leave.
    Leaves,
}

impl OfRun {
    fn new(state: &State, here: &Here, run: RunId, no: JobNo) -> Self {
        let job = &state.jobs[no];
        let standing = if job.is_unconfirmed() {
            Standing::Unconfirmed
        } else if job.is_running() && leaving(job).next().is_none() {
            Standing::GoesOn
        } else {
            Standing::Leaves
        };
        Self { run, job: no, n_pods: n_pods(job, here), standing }
    }
}

/// Every run that has not ended, in the order of their numbers, as an agent sees them. That is found out once in an exchange
/// as long as the log stays as it is.
pub(super) struct Runs {
    all: Vec<OfRun>,
    here: Here,
}

impl Runs {
    /// Those of a state, as an agent sees them of which this is known.
    pub(super) fn of(state: &State, contact: &Contact) -> Self {
        let here = Here::of(state, contact);
        let n_holding: usize = state.running.iter().map(Set::len).sum();
        let mut all = Vec::with_capacity(n_holding + state.stopping.len());
        all.extend(current(state).map(|(run, no)| OfRun::new(state, &here, run, no)));
        sort::by_key(&mut all, |of| of.run);
        // Who has a charge while it is told to stop was found twice.
        all.dedup();
        Self { all, here }
    }

    /// The agent's nodes.
    pub(super) fn here(&self) -> &Here {
        &self.here
    }

    /// What is known of a run.
    pub(super) fn find(&self, run: RunId) -> Option<OfRun> {
        self.all.binary_search_by_key(&run, |of| of.run).ok().map(|at| self.all[at])
    }

    /// All of them.
    pub(super) fn iter(&self) -> impl Iterator<Item = OfRun> {
        self.all.iter().copied()
    }
}

/// Every run that has not ended, in no order and perhaps twice. Who looks for one of them needs no list.
pub(super) fn current(state: &State) -> impl Iterator<Item = (RunId, JobNo)> {
    let holding = state.running.iter().flat_map(|of_quota| of_quota.iter().map(|(_, no)| *no));
    let all = holding.chain(state.stopping.iter().copied());
    all.filter_map(|no| Some((run_id(state.jobs[no].run_no().filter(|run| run.is_numbered())?), no)))
}

/// The nodes of an agent, by their numbers: who asks of thousands of pods compares no names.
pub(super) struct Here(Vec<bool>);

impl Here {
    /// Those of an agent of which this is known.
    pub(super) fn of(state: &State, contact: &Contact) -> Self {
        let mut here = vec![false; state.nodes.len()];
        let numbers = contact.nodes.iter().filter_map(|node| state.node_no_ever(&NodeId::new(node).ok()?));
        numbers.for_each(|no| here[no.at()] = true);
        Self(here)
    }

    /// All of them that the cluster has, or had.
    pub(super) fn nodes(&self) -> impl Iterator<Item = NodeNo> {
        self.0.iter().enumerate().filter(|(_, is_here)| **is_here).map(|(at, _)| NodeNo::from_index(at))
    }

    /// Whether a pod is on one of them.
    fn has(&self, at: PodAt) -> bool {
        self.0.get(at.node.at()).copied().unwrap_or(false)
    }
}

/// Where the pods of a job's gang are.
pub(super) fn places(job: &Job) -> &[PodAt] {
    job.placed().map_or(&[], |placed| &placed.pods)
}

/// Where the pods of a job are: its gang, and then those above its minimum.
fn all_places(job: &Job) -> impl Iterator<Item = &PodAt> {
    places(job).iter().chain(job.extra().iter().filter_map(|pod| pod.at.as_ref()))
}

/// The pods of a job that are on the nodes of an agent.
pub(super) fn pods(state: &State, job: &Job, contact: &Contact) -> Vec<Pod> {
    let pod = |(rank, at): (usize, &PodAt)| {
        let Place { node, gpus } = place(state, *at);
        contact.nodes.contains(&node).then(|| Pod { rank: u32::try_from(rank).unwrap_or(u32::MAX), node, gpus })
    };
    all_places(job).enumerate().filter_map(pod).collect()
}

/// A place as agents name it.
fn place(state: &State, at: PodAt) -> Place {
    let gpus = (0..u16::BITS).filter(|gpu| at.gpus & (1 << gpu) != 0).filter_map(|gpu| u16::try_from(gpu).ok());
    Place { node: state.nodes[at.node.at()].id.to_string(), gpus: gpus.collect() }
}

/// How many of them are on these nodes. Who asks that of thousands of runs needs no list.
fn n_pods(job: &Job, here: &Here) -> usize {
    all_places(job).filter(|at| here.has(**at)).count()
}

/// Whether a job's first pod, which prints for all of them, is on the nodes of an agent.
pub(super) fn has_first_pod(state: &State, job: &Job, contact: &Contact) -> bool {
    let first = places(job).first().map(|at| state.nodes[at.node.at()].id.as_str());
    first.is_some_and(|node| contact.nodes.contains(node))
}

/// The agents on whose nodes a job has pods, those included that were told to leave. Where no agent has ever served a node,
/// nothing was started, and what was on one that is lost is gone.
pub(super) fn agents_of<'a>(state: &State, job: &Job, contacts: &'a Contacts) -> Vec<(&'a str, &'a Contact)> {
    let leaving = leaving(job).flat_map(|leaving| &leaving.pods);
    let pods: Vec<&PodAt> = all_places(job).chain(leaving).collect();
    contacts
        .iter()
        .filter(|(_, contact)| serves_any(state, contact, &pods))
        .map(|(name, contact)| (name.as_str(), contact))
        .collect()
}

/// The pods of a job that an agent has and that were told to leave, by their orders.
pub(super) fn leave_orders(state: &State, job: &Job, contact: &Contact, now: Timestamp) -> Vec<LeaveOrder> {
    let order = |leaving: &Leaving| {
        let places = leaving.pods.iter().map(|at| place(state, *at)).filter(|at| contact.nodes.contains(&at.node));
        let places: Vec<Place> = places.collect();
        let kill_in_ms = u64::try_from((leaving.until - now).0).unwrap_or_default();
        (!places.is_empty()).then(|| LeaveOrder { order: run_id(leaving.order), places, kill_in_ms })
    };
    leaving(job).filter_map(order).collect()
}

/// Whether a run has pods where the log knows none: those that joined it before a restore to an earlier time. It may have
/// begun with them, and then only their number is said.
pub(super) fn has_unknown_pods(state: &State, job: &Job, here: &Here, report: &RunReport) -> bool {
    let leaving = leaving(job).flat_map(|leaving| &leaving.pods);
    let known = all_places(job).chain(leaving).filter(|at| here.has(**at));
    if report.places.is_empty() {
        return known.count() < report.pods;
    }
    let known: Vec<Place> = known.map(|at| place(state, *at)).collect();
    report.places.iter().any(|place| !known.contains(place))
}

/// When what an agent has of a job's run is killed, if all of it was told to leave.
pub(super) fn leaves_until(state: &State, job: &Job, contact: &Contact) -> Option<Timestamp> {
    let is_here = |leaving: &&Leaving| serves_any(state, contact, &leaving.pods.iter().collect::<Vec<_>>());
    let until = leaving(job).filter(is_here).map(|leaving| leaving.until).min();
    until.filter(|_| !has_part(state, job, contact))
}

/// Whether an agent has some of the pods of a job that stay.
pub(super) fn has_part(state: &State, job: &Job, contact: &Contact) -> bool {
    serves_any(state, contact, &all_places(job).collect::<Vec<_>>())
}

/// Whether an agent has some of the pods of a job's gang.
pub(super) fn has_gang(state: &State, job: &Job, contact: &Contact) -> bool {
    serves_any(state, contact, &places(job).iter().collect::<Vec<_>>())
}

/// The orders to leave of which nothing lives any more: all agents that had such pods have ended these, or the run.
pub(super) fn vacated(state: &State, job: &Job, run: RunId, contacts: &Contacts) -> Vec<RunNo> {
    let has_gone = |leaving: &&Leaving| {
        let pods: Vec<&PodAt> = leaving.pods.iter().collect();
        let mut there = contacts.values().filter(|contact| serves_any(state, contact, &pods));
        let order = run_id(leaving.order);
        there.all(|contact| contact.ended.contains_key(&run) || contact.gone.contains(&order))
    };
    leaving(job).filter(has_gone).map(|leaving| leaving.order).collect()
}

/// The numbers of all orders to leave that nobody has reported yet.
pub(super) fn open_orders(state: &State) -> BTreeSet<RunId> {
    current(state).flat_map(|(_, no)| open_orders_of(&state.jobs[no])).collect()
}

/// The same of one job.
pub(super) fn open_orders_of(job: &Job) -> BTreeSet<RunId> {
    leaving(job).map(|leaving| run_id(leaving.order)).collect()
}

fn leaving(job: &Job) -> impl Iterator<Item = &Leaving> {
    job.run.iter().flat_map(|run| &run.leaving)
}

/// Whether some of these pods are on the nodes of an agent, and not lost.
fn serves_any(state: &State, contact: &Contact, pods: &[&PodAt]) -> bool {
    let nodes = pods.iter().map(|at| &state.nodes[at.node.at()]).filter(|node| !node.is_lost());
    nodes.into_iter().any(|node| contact.nodes.contains(node.id.as_str()))
}

/// The jobs of runs on an agent's nodes, those first that have not begun as far as is known: who asks what a job executes is
/// about to begin it.
pub(super) fn jobs_on<'a>(state: &'a State, contact: Option<&'a Contact>) -> impl Iterator<Item = JobId> + 'a {
    let runs = contact.map(|contact| Runs::of(state, contact));
    let mut there: Vec<OfRun> = runs.iter().flat_map(Runs::iter).filter(|of| of.n_pods > 0).collect();
    sort::by_key(&mut there, |of| of.standing != Standing::Unconfirmed);
    there.into_iter().map(|of| state.jobs[of.job].spec.id.clone())
}
