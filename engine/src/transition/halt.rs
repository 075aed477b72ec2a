//! Why a run ends for no other job's sake, and what follows (rules 7.2 and 7.5).

use std::sync::Arc;

use crate::job::halt::Failure;
use crate::job::halt::Fault;
use crate::job::halt::Halt;
use crate::job::phase::AfterStop;
use crate::job::phase::Charge;
use crate::job::phase::Outcome;
use crate::job::run::RunStep;
use crate::job::shape::Shape;
use crate::job::spec::JobSpec;
use crate::message::event::Event;
use crate::schedule::never;
use crate::schedule::work;
use crate::state::jobs::Job;
use crate::state::world::State;
use crate::transition::heirs;
use crate::transition::run;
use crate::transition::stop;
use crate::unit::id::JobNo;
use crate::unit::id::NodeNo;
use crate::unit::priority::Module;
use crate::unit::sort;
use crate::unit::time::Timestamp;

/// A run is told to stop because of the time: nobody has confirmed it, or it has run as long as it declared.
pub(super) fn by_time(state: &State, no: JobNo, now: Timestamp) -> Vec<Event> {
    let job = &state.jobs[no];
    if job.is_unconfirmed() {
        let halt = Halt::NotConfirmed { within: state.cluster.start_within };
        return vec![passed_over(state, no, now), stop::halted(state, no, halt, AfterStop::Requeue, now)];
    }
    // Parts of a service end with it.
    let parts: Vec<JobNo> = state.parts_of(no).collect();
    let told = stop::halted(state, no, Halt::DurationOver, AfterStop::End(at_its_time(job)), now);
    [told].into_iter().chain(stop::cancelled(state, &parts, now)).collect()
}

/// What has become of a job that was told to stop at the end of the duration that it declared: training has not done
/// its work, and everything else was there for that long.
fn at_its_time(job: &Job) -> Outcome {
    match job.spec.module {
        Module::Dlc => Outcome::Failed { reason: "it ran longer than it had declared".to_owned() },
        Module::Dsw | Module::Eas => Outcome::Succeeded,
    }
}

/// The job does not go to the nodes of this run again, unless that leaves it none on which it fits.
fn passed_over(state: &State, no: JobNo, now: Timestamp) -> Event {
    let job = &state.jobs[no];
    let shape = &job.spec.shape;
    let here = job.placed().into_iter().flat_map(|placed| &placed.pods).map(|pod| pod.node);
    let mut nodes: Vec<NodeNo> = shape.nodes().passed_over.iter().copied().chain(here).collect();
    sort::by_key(&mut nodes, |node| *node);
    nodes.dedup();
    let without = Arc::new(Shape::clone(shape).on(shape.nodes().passing_over(&nodes)));
    if !never::fits_when_empty(state, &JobSpec { shape: without, ..job.spec.clone() }) {
        nodes.clear();
    }
    run::step(no, now, RunStep::PassedOver { nodes })
}

/// Machines change by this event: jobs that wait may go again to nodes on which they did not start.
pub(super) fn machines_changed(state: &State, event: Event, now: Timestamp) -> Vec<Event> {
    [event].into_iter().chain(passed_over_no_more(state, now)).collect()
}

/// Jobs that wait may go again to nodes on which they did not start.
pub(super) fn passed_over_no_more(state: &State, now: Timestamp) -> impl Iterator<Item = Event> + '_ {
    let waiting = state.jobs.iter().filter(|(_, job)| state.cluster.is_reported() && job.is_queued());
    waiting.filter_map(move |(no, job)| run::goes_anywhere(job, no, now))
}

/// A run has failed: by the job's fault the job ends, by another's it may come back.
pub(super) fn failed(state: &State, no: JobNo, failure: Failure, now: Timestamp) -> Vec<Event> {
    let job = &state.jobs[no];
    let AfterStop::Requeue = after(state, job, &failure) else {
        return stop::ended(state, no, outcome(&failure), now);
    };
    let counts = failure.fault == Fault::Start;
    let (halt, saved_ms) = (Halt::Failed(failure), work::saved(state, job, now));
    let halted = RunStep::Halted { until: now, halt, then: AfterStop::Requeue, saved_ms, counts };
    // A machine that could not begin it is not asked again at once.
    let stopped = if counts {
        stop::stopped(job, no, now, &AfterStop::Requeue, job.progress.evictions + 1)
    } else {
        Event::Stopped { job: no, at: now, not_before: None }
    };
    [run::step(no, now, halted), stopped].into_iter().chain(heirs::start_after(state, &[no], now)).collect()
}

/// A run has failed by the fault of a node that is lost, and lives on others: it is told to stop there.
pub(super) fn lost(state: &State, no: JobNo, failure: Failure, now: Timestamp) -> Vec<Event> {
    let then = after(state, &state.jobs[no], &failure);
    vec![stop::halted(state, no, Halt::Failed(failure), then, now)]
}

/// What follows a failure: by the job's fault the job ends, by another's it may come back.
fn after(state: &State, job: &Job, failure: &Failure) -> AfterStop {
    // What is only simulated has no machines that could be at fault.
    let fault = if state.is_reported(job) { failure.fault } else { Fault::Job };
    let comes_back = match fault {
        Fault::Job => false,
        Fault::Node => is_guaranteed(job) || job.spec.fault_tolerance.is_some(),
        Fault::Start => work::has_restart_left(&job.spec, job.progress.evictions),
    };
    if comes_back { AfterStop::Requeue } else { AfterStop::End(outcome(failure)) }
}

fn outcome(failure: &Failure) -> Outcome {
    let text = failure.text();
    let reason = if failure.fault == Fault::Node { format!("lost with its node: {text}") } else { text };
    Outcome::Failed { reason }
}

/// Whether its quota guarantees a job what it holds, or its kind comes back in any case.
fn is_guaranteed(job: &Job) -> bool {
    let is_in_quota = job.placed().is_some_and(|placed| placed.charge == Charge::InQuota);
    is_in_quota || job.spec.module != Module::Dlc
}
