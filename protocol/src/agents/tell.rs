//! What an agent is told: what should live on its nodes, what should stop, and what it may forget.

use std::collections::BTreeSet;

use agent::exit::Exit;
use agent::message::FORMAT;
use agent::message::RunReport;
use agent::message::RunState;
use agent::message::StopOrder;
use agent::message::SyncAnswer;
use agent::message::SyncRequest;
use agent::message::Want;
use agent::pods::Change;
use agent::run::RunId;
use agent::run::Version;
use engine::job::phase::Phase;
use engine::job::run::RunStep;
use engine::message::event::Event;
use engine::state::jobs::Job;
use engine::state::world::State;
use engine::unit::id::JobId;
use engine::unit::sort;
use engine::unit::time::Timestamp;

use crate::agents::books;
use crate::agents::books::OfRun;
use crate::agents::books::Runs;
use crate::agents::books::Standing;
use crate::agents::contact::Contact;
use crate::agents::contact::Contacts;
use crate::agents::contact::Ending;
use crate::agents::contact::Identity;
use crate::agents::said;
use crate::agents::said::Said;
use crate::digest::sha256;

/// When an agent asks again, unless somebody rings.
pub const INTERVAL_MS: u64 = 15_000;
/// How long the rest of a run may take to stop when one of its parts has failed.
const REST_GRACE_MS: u64 = 30_000;
/// Where the pods of a run meet: one of these ports, which differ from run to run.
const PORT_FIRST: u16 = 20_000;
const PORTS: u64 = 10_000;

/// What an answer is made from.
pub(super) struct Ground<'a> {
    pub(super) state: &'a State,
    pub(super) contacts: &'a Contacts,
    /// What is known of the state for this agent.
    pub(super) runs: &'a Runs,
    /// What it says of its runs.
    pub(super) said: &'a Said<'a>,
    /// Whether nothing may begin.
    pub(super) is_held: bool,
}

/// Everything that an agent should have.
pub(super) fn tell(
    ground: &Ground,
    who: &Identity,
    request: &SyncRequest,
    script: &dyn Fn(&JobId) -> Option<String>,
    now: Timestamp,
) -> SyncAnswer {
    let Ground { state, contacts, runs: current, said: Said { reports, settled }, is_held } = *ground;
    let (reported, ended) = (Reported::of(reports), said::ended(contacts));
    let has_begun = |report: &RunReport| matches!(report.state, RunState::Running | RunState::Stopping);
    let (mut want, mut keep, mut change, mut stop) =
        (Vec::new(), Vec::with_capacity(settled.len()), Vec::new(), Vec::new());
    let mut settled = settled.iter().peekable();
    for of in current.iter() {
        let OfRun { run, n_pods, .. } = of;
        // Most runs of most exchanges, here or elsewhere: their jobs are not looked at again.
        if settled.next_if(|settled| **settled == run).is_some() {
            keep.push(run);
            continue;
        }
        let report = reported.find(run);
        if goes_on(&of, report, &ended) && (report.is_none() || request.keeps) {
            keep.extend(report.map(|_| run));
            continue;
        }
        let (job, Some(contact)) = (&state.jobs[of.job], contacts.get(&who.name)) else { continue };
        // Pods come and go on an agent that lets them, and its part of the run stays meanwhile, though it may be empty.
        let stays = request.changes && report.is_some_and(has_begun);
        let leaves = books::leaves_until(state, job, contact).filter(|_| !stays);
        if contact.ended.contains_key(&run) || (n_pods == 0 && leaves.is_none() && !stays) {
            continue;
        }
        let order = |kill_in_ms| StopOrder { run, job: job.spec.id.to_string(), kill_in_ms };
        let until = |at: Timestamp| order(u64::try_from((at - now).0).unwrap_or_default());
        if let Phase::Stopping(stopping) = &job.phase {
            stop.push(until(leaves.map_or(stopping.until, |at| at.min(stopping.until))));
        } else if let Some(at) = leaves {
            stop.push(until(at));
        } else if has_failed(state, job, contacts, run) {
            stop.push(order(REST_GRACE_MS));
        } else {
            let leave = books::leave_orders(state, job, contact, now);
            let is_other = |report: &RunReport| {
                report.pods != n_pods || books::has_unknown_pods(state, job, current.here(), report)
            };
            if request.changes && (!leave.is_empty() || report.is_some_and(is_other)) {
                change.push(Change { run, pods: books::pods(state, job, contact), leave });
            }
            if request.keeps && report.is_some_and(has_begun) {
                // What it executes is not read for that: most runs of most exchanges only go on.
                keep.push(run);
            } else if !(is_held && run.epoch() == state.cluster.epoch && report.is_none()) {
                let script = script(&job.spec.id).map(|text| sha256(text.as_bytes()));
                want.extend(script.map(|script| wanted(state, job, run, contact, script)));
            }
        }
    }
    let has_ended = |state: &RunState| matches!(state, RunState::Ended(_));
    let over = reports.iter().filter(|report| has_ended(&report.state) && current.find(report.run).is_none());
    SyncAnswer {
        format: FORMAT,
        incarnation: request.incarnation,
        version: Version { epoch: state.cluster.epoch, revision: state.revision },
        interval_ms: INTERVAL_MS,
        want,
        keep,
        change,
        stop,
        forget: over.map(|report| report.run).collect(),
        offered: Vec::new(),
    }
}

/// Whether a run goes on and its agent says just that of it; or whether it goes on elsewhere, and nothing is said of it.
fn goes_on(of: &OfRun, report: Option<&RunReport>, ended: &BTreeSet<RunId>) -> bool {
    let is_known = report.map_or(of.n_pods == 0, |report| {
        let is_same = of.n_pods > 0 && report.pods == of.n_pods && report.places.is_empty();
        is_same && report.state == RunState::Running
    });
    is_known && of.standing == Standing::GoesOn && !ended.contains(&of.run)
}

/// What is said of runs, by their numbers. Agents name them in order, so that most often nothing has to be sorted.
struct Reported<'a>(Vec<&'a RunReport>);

impl<'a> Reported<'a> {
    fn of(reports: &'a [RunReport]) -> Self {
        let mut all: Vec<&RunReport> = reports.iter().collect();
        if !all.is_sorted_by_key(|report| report.run) {
            sort::by_key(&mut all, |report| report.run);
        }
        Self(all)
    }

    fn find(&self, run: RunId) -> Option<&'a RunReport> {
        self.0.binary_search_by_key(&run, |report| report.run).ok().map(|at| self.0[at])
    }
}

/// The agents for whom something has happened that they should hear of at once: runs that begin on their nodes, and
/// runs that should end. Everything else they hear when they ask by themselves.
#[must_use]
pub fn concerned<'a>(state: &State, contacts: &'a Contacts, events: &[Event]) -> BTreeSet<&'a str> {
    let jobs = events.iter().filter_map(|event| {
        if let Event::Started { job, .. }
        | Event::Evicted { job, .. }
        | Event::Resized { job, .. }
        | Event::Grown { job, .. }
        | Event::Shrunk { job, .. } = event
        {
            return Some(*job);
        }
        if let Event::Run { job, step, .. } = event {
            return matches!(**step, RunStep::Halted { .. }).then_some(*job);
        }
        None
    });
    let jobs = jobs.filter_map(|job| state.jobs.get(job));
    jobs.flat_map(|job| books::agents_of(state, job, contacts)).map(|(name, _)| name).collect()
}

/// Whether a part of a run has ended otherwise than well: then the rest of it has to go. What was told to leave is no part.
fn has_failed(state: &State, job: &Job, contacts: &Contacts, run: RunId) -> bool {
    let is_bad = |ending: &Ending| ending.told || ending.exit != Exit::Code(0);
    // Of most runs nobody has said that they have ended, and then it does not matter where they are.
    let mut ended = contacts.values().filter(|contact| contact.ended.get(&run).is_some_and(is_bad));
    ended.any(|contact| books::has_part(state, job, contact))
}

/// How long a run goes on of which nobody hears: as long as the first of its groups says.
fn stop_after_ms(state: &State, job: &Job) -> Option<u64> {
    let groups = books::places(job).iter().map(|at| &state.groups[state.nodes[at.node.at()].group.at()]);
    let limits = groups.filter_map(|group| group.on_silence.limit());
    limits.filter_map(|after| u64::try_from(after.0).ok()).min()
}

fn wanted(state: &State, job: &Job, run: RunId, contact: &Contact, script: String) -> Want {
    let places = books::places(job);
    let leader = places.first().map(|at| state.nodes[at.node.at()].id.to_string());
    let revision = job.run_no().map_or(0, |no| no.revision);
    Want {
        run,
        job: job.spec.id.to_string(),
        pods: books::pods(state, job, contact),
        world: u32::try_from(places.len()).unwrap_or(u32::MAX),
        leader: leader.unwrap_or_default(),
        port: PORT_FIRST + u16::try_from(revision % PORTS).unwrap_or_default(),
        script,
        stop_after_ms: stop_after_ms(state, job),
    }
}
