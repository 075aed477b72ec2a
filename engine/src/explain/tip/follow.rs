//! A change followed on a copy, as its reader would follow it.

use std::sync::Arc;

use crate::explain::tip::proposal::Change;
use crate::explain::tip::proposal::Start;
use crate::host::authority;
use crate::host::clock;
use crate::job::hold::Hold;
use crate::job::phase::Phase;
use crate::job::phase::Source;
use crate::message::command::CancelJob;
use crate::message::command::Command;
use crate::message::command::Observation;
use crate::message::command::Report;
use crate::message::event::Event;
use crate::message::rejection::Rejection;
use crate::state::world::State;
use crate::unit::id::JobId;
use crate::unit::id::JobNo;
use crate::unit::time::Timestamp;

/// What has become of the job.
pub(in crate::explain) enum Followed {
    /// It runs, or is about to.
    Starts(Start),
    /// It waits still, for these reasons as far as they were told.
    Waits(Option<Arc<Hold>>),
    /// The change is refused.
    Refused,
}

/// Makes a change on a copy, with the round at once and, if that does not start the job, the scheduled one after it.
/// Jobs that the change itself evicts, for nobody in particular, have stopped by then.
pub(in crate::explain) fn follow(state: &State, no: JobNo, change: Option<&Change>, now: Timestamp) -> Followed {
    let mut after = state.clone();
    let Ok((job, mut events)) = make(&mut after, no, change, now) else { return Followed::Refused };
    if let Some(source) = served_by(&after, &job) {
        return Followed::Starts(Start { source, events, others_stop_first: false });
    }
    // The copy is needed as it is for the reasons: the next round may have others.
    let told = told(&after, &job);
    let stops = if change.is_some_and(Change::evicts) { stops(state, &after, &events) } else { Vec::new() };
    let Ok(later) = go_on(&mut after, &job, &stops, now) else { return Followed::Waits(told) };
    let Some(source) = served_by(&after, &job) else { return Followed::Waits(told) };
    let heir = after.jobs.find(&job);
    events.extend(later.into_iter().filter(|event| is_taken_for(event, heir)));
    Followed::Starts(Start { source, events, others_stop_first: !stops.is_empty() })
}

/// Makes a change; the job that is meant from then on, and what happens.
fn make(
    after: &mut State,
    no: JobNo,
    change: Option<&Change>,
    now: Timestamp,
) -> Result<(JobId, Vec<Event>), Rejection> {
    let job = after.jobs[no].spec.id.clone();
    match change {
        None => Ok((job, Vec::new())),
        Some(Change::Send(command)) => authority::step(after, command, now).map(|events| (job, events)),
        Some(Change::Resubmit(submission)) => {
            let mut events = authority::step(after, &Command::CancelJob(CancelJob { job }), now)?;
            events.extend(authority::step(after, &Command::SubmitJob((**submission).clone()), now)?);
            Ok((submission.job.clone(), events))
        }
    }
}

/// What would be reported of everybody who is told to stop: that they have, and that pods have left.
fn stops(before: &State, after: &State, events: &[Event]) -> Vec<Command> {
    let mut stops = Vec::new();
    for event in events {
        let (Event::Evicted { job: no, .. } | Event::Shrunk { job: no, .. }) = event else { continue };
        let Some(job) = after.jobs.get(*no) else { continue };
        let mut report = |observed| {
            stops.push(Command::Report(Report { job: job.spec.id.clone(), run: job.run_no(), observed }));
        };
        if matches!(job.phase, Phase::Stopping(_)) {
            report(Observation::Stopped);
            continue;
        }
        let leaving = |state: &State| {
            let run = state.jobs.get(*no).and_then(|job| job.run.as_ref());
            run.map_or_else(Vec::new, |run| run.leaving.iter().map(|leaving| leaving.order).collect())
        };
        let known = leaving(before);
        for order in leaving(after).into_iter().filter(|order| !known.contains(order)) {
            report(Observation::Vacated { order });
        }
    }
    stops
}

/// What happens when these have stopped, and in the next scheduled round if it is needed for the job.
fn go_on(after: &mut State, job: &JobId, stops: &[Command], now: Timestamp) -> Result<Vec<Event>, Rejection> {
    let mut events = Vec::new();
    for stop in stops {
        events.extend(authority::step(after, stop, now)?);
    }
    if served_by(after, job).is_none() {
        events.extend(clock::scheduled(after, now, now).take(after)?);
    }
    Ok(events)
}

/// Whether an event takes something from somebody for a job.
fn is_taken_for(event: &Event, heir: Option<JobNo>) -> bool {
    let (Event::Evicted { evicted_for, .. } | Event::Shrunk { evicted_for, .. }) = event else { return false };
    evicted_for.is_some() && *evicted_for == heir
}

/// The source by which a job runs or is about to.
fn served_by(state: &State, job: &JobId) -> Option<Source> {
    match &state.jobs.get(state.jobs.find(job)?)?.phase {
        Phase::Starting { placed, .. } | Phase::Running { placed, .. } => Some(placed.source),
        Phase::Queued { .. } | Phase::Stopping { .. } | Phase::Ended { .. } => None,
    }
}

/// Why it waits, as the round has just told.
fn told(state: &State, job: &JobId) -> Option<Arc<Hold>> {
    let class = state.jobs.get(state.jobs.find(job)?)?.class?;
    state.queue.classes.get(class.at())?.hold.clone()
}
