//! Jobs stop, or are told to (rules 5.5 and 7.4): where others report what jobs do, nothing is free before that is
//! reported.

use crate::job::cause::Cause;
use crate::job::halt::Fault;
use crate::job::halt::Halt;
use crate::job::phase::AfterStop;
use crate::job::phase::Outcome;
use crate::job::phase::Phase;
use crate::job::run::RunNo;
use crate::job::run::RunStep;
use crate::message::event::Event;
use crate::schedule::work;
use crate::state::jobs::Job;
use crate::state::world::State;
use crate::transition::heirs;
use crate::transition::run;
use crate::unit::id::JobNo;
use crate::unit::time::Millis;
use crate::unit::time::Timestamp;

/// How many doublings of the backoff after an eviction there are at most: 60 s x 2^6 exceeds the hour.
const BACKOFF_DOUBLINGS_MAX: u32 = 6;

/// Jobs have stopped: they are queued again or end, and who waited for the last of its victims starts.
pub(super) fn stops(state: &State, stopped: &[JobNo], now: Timestamp) -> Vec<Event> {
    returns(state, stopped, now).chain(heirs::start_after(state, stopped, now)).collect()
}

/// What follows for jobs that have stopped.
pub(super) fn returns<'s>(state: &'s State, stopped: &'s [JobNo], now: Timestamp) -> impl Iterator<Item = Event> + 's {
    stopped.iter().filter_map(move |no| {
        let job = &state.jobs[*no];
        let Phase::Stopping(stopping) = &job.phase else { return None };
        let is_by_node = matches!(&stopping.cause, Cause::Halted(Halt::Failed(it)) if it.fault == Fault::Node);
        Some(if is_by_node {
            Event::Stopped { job: *no, at: now, not_before: None }
        } else {
            self::stopped(job, *no, now, &stopping.then, job.progress.evictions)
        })
    })
}

/// The event of a job that has stopped after so many evictions: when it is judged again, if it is queued again. A bid
/// counts again at once: what keeps it from coming and going is its protection period.
pub(super) fn stopped(job: &Job, no: JobNo, now: Timestamp, then: &AfterStop, evictions: u32) -> Event {
    let doublings = evictions.saturating_sub(1).min(BACKOFF_DOUBLINGS_MAX);
    let backoff = Millis((Millis::MINUTE.0 << doublings).min(Millis::HOUR.0));
    let not_before = (matches!(then, AfterStop::Requeue) && !job.bids()).then(|| now + backoff);
    Event::Stopped { job: no, at: now, not_before }
}

/// A job ends, its parts are cancelled with it, and who waited for it starts.
pub(super) fn ended(state: &State, no: JobNo, outcome: Outcome, now: Timestamp) -> Vec<Event> {
    let parts: Vec<JobNo> = state.parts_of(no).collect();
    let mut events = vec![Event::Ended { job: no, at: now, outcome }];
    events.extend(cancelled(state, &parts, now));
    events.extend(heirs::start_after(state, &[no], now));
    events
}

/// Jobs are cancelled. Those that hold nothing, or are only simulated, end; who waited for them starts at once.
pub(super) fn cancelled(state: &State, jobs: &[JobNo], now: Timestamp) -> Vec<Event> {
    let runs = |no: &JobNo| state.is_reported(&state.jobs[*no]) && state.jobs[*no].run_no().is_some();
    let (running, others): (Vec<JobNo>, Vec<JobNo>) = jobs.iter().copied().partition(runs);
    let then = AfterStop::End(Outcome::Cancelled);
    let told = running.into_iter().filter(|no| !is_cancelled(&state.jobs[*no]));
    let mut events: Vec<Event> = told.map(|no| halted(state, no, Halt::Cancelled, then.clone(), now)).collect();
    events.extend(others.iter().map(|job| Event::Ended { job: *job, at: now, outcome: Outcome::Cancelled }));
    events.extend(heirs::start_after(state, &others, now));
    events
}

/// Whether a job has been told to stop because it was cancelled.
pub(super) fn is_cancelled(job: &Job) -> bool {
    matches!(&job.phase, Phase::Stopping(stopping) if stopping.then == AfterStop::End(Outcome::Cancelled))
}

/// A run is told to stop, for no other job's sake.
pub(super) fn halted(state: &State, no: JobNo, halt: Halt, then: AfterStop, now: Timestamp) -> Event {
    let job = &state.jobs[no];
    let until = now + state.grace_period(&job.spec);
    run::step(no, now, RunStep::Halted { until, halt, then, saved_ms: work::saved(state, job, now), counts: false })
}

/// Pods above a minimum give way, for a job if one waits for that. Where jobs are reported they hold their machines
/// until it is reported that they have gone; a pool has no places that could be told.
pub(super) fn shrunk(
    state: &State,
    job: JobNo,
    pods: Vec<u32>,
    cause: Cause,
    heir: Option<JobNo>,
    now: Timestamp,
) -> Event {
    let until = state.pods_take_time(job).then(|| now + state.grace_period(&state.jobs[job].spec));
    let evicted_for = heir.filter(|_| until.is_some());
    Event::Shrunk { job, at: now, pods, cause: Box::new(cause), until, evicted_for }
}

/// The pods of an order have gone; who waited for them, and for nothing else, starts.
pub(super) fn vacated(state: &State, no: JobNo, order: RunNo, now: Timestamp) -> Vec<Event> {
    let is_known = state.jobs[no].run.as_ref().is_some_and(|run| run.leaving.iter().any(|it| it.order == order));
    if !is_known {
        return Vec::new();
    }
    let heir = heirs::of_order(state, no, order).and_then(|heir| heirs::start(state, heir, &[no], now));
    [run::step(no, now, RunStep::Vacated { order })].into_iter().chain(heir).collect()
}

/// In a plan nobody reports: pods of a job have left when their time is over.
pub(super) fn left(state: &State, no: JobNo, at: Timestamp) -> Vec<Event> {
    let leaving = state.jobs[no].run.iter().flat_map(|run| &run.leaving);
    let first = leaving.filter(|leaving| leaving.until <= at).map(|leaving| leaving.order).min();
    first.map(|order| vacated(state, no, order, at)).unwrap_or_default()
}
