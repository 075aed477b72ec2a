//! What time and whoever runs the jobs do to them (rules 3.1 and 7).

use crate::job::phase::AfterStop;
use crate::job::phase::Outcome;
use crate::job::phase::Phase;
use crate::message::command::Observation;
use crate::message::command::Report;
use crate::message::event::Event;
use crate::message::rejection::Noun;
use crate::message::rejection::Rejection;
use crate::state::jobs::Job;
use crate::state::world::State;
use crate::transition::bill;
use crate::transition::names;
use crate::unit::id::JobNo;
use crate::unit::time::Millis;
use crate::unit::time::Timestamp;

/// How many doublings of the backoff after an eviction there are at most: 60 s x 2^6 exceeds the hour.
const BACKOFF_DOUBLINGS_MAX: u32 = 6;

/// What time alone changes at the earliest time up to `now` at which it changes anything: finished simulated jobs, ended
/// grace periods and backoffs, days that have to be billed. Nothing if nothing is due.
///
/// What happens at one time may be why something happens at the next, such as the end of a job that started when its
/// victim had stopped: a host applies what this returns and asks again, until nothing is due.
#[must_use]
pub fn elapse(state: &State, now: Timestamp) -> Vec<Event> {
    let timer = state.timers.first().map(|(due, _)| *due).filter(|due| *due <= now);
    let day = bill::next_day(state, now);
    let Some(at) = timer.into_iter().chain(day).min() else { return Vec::new() };
    let events = if timer == Some(at) { bill::with_bills(state, due(state, at)) } else { Vec::new() };
    if day == Some(at) { bill::with_ended_days(state, events, at) } else { events }
}

/// Whether time alone has changed anything until `now`.
#[must_use]
pub fn is_due(state: &State, now: Timestamp) -> bool {
    state.timers.first().is_some_and(|(due, _)| *due <= now) || bill::next_day(state, now).is_some()
}

/// What the timers of this time, which are the first, come to.
fn due(state: &State, at: Timestamp) -> Vec<Event> {
    let mut events = Vec::new();
    let (mut ended, mut stopped) = (Vec::new(), Vec::new());
    for (_, no) in state.timers.iter().copied().take_while(|(due, _)| *due == at) {
        match &state.jobs[no].phase {
            Phase::Running { .. } => ended.push(no),
            Phase::Stopping { .. } => stopped.push(no),
            Phase::Queued { .. } => events.push(Event::Returned { job: no, at }),
            Phase::Starting { .. } | Phase::Ended { .. } => {}
        }
    }
    // Nothing is left of a service that has ended.
    let parts: Vec<JobNo> = ended.iter().flat_map(|no| state.parts_of(*no)).collect();
    stopped.retain(|no| !parts.contains(no));
    events.extend(ended.into_iter().map(|job| Event::Ended { job, at, outcome: Outcome::Succeeded }));
    events.extend(parts.iter().map(|job| Event::Ended { job: *job, at, outcome: Outcome::Cancelled }));
    events.extend(returns(state, &stopped, at));
    events.extend(heirs(state, &[parts, stopped].concat(), at));
    events
}

/// Jobs have stopped: they are queued again or end, and who waited for the last of its victims starts.
fn stops(state: &State, stopped: &[JobNo], now: Timestamp) -> Vec<Event> {
    returns(state, stopped, now).chain(heirs(state, stopped, now)).collect()
}

/// What follows for jobs that have stopped.
fn returns<'s>(state: &'s State, stopped: &'s [JobNo], now: Timestamp) -> impl Iterator<Item = Event> + 's {
    stopped.iter().filter_map(move |no| {
        let job = &state.jobs[*no];
        let Phase::Stopping(stopping) = &job.phase else { return None };
        Some(self::stopped(job, *no, now, &stopping.then, job.progress.evictions))
    })
}

/// Who starts because the last of its victims is among those that have stopped; nobody who has gone with them.
fn heirs(state: &State, stopped: &[JobNo], now: Timestamp) -> Vec<Event> {
    let mut events = Vec::new();
    let mut heirs = Vec::new();
    for no in stopped {
        if let Phase::Stopping(stopping) = &state.jobs[*no].phase {
            heirs.extend(stopping.evicted_for.filter(|heir| !heirs.contains(heir) && !stopped.contains(heir)));
        }
    }
    for heir in heirs {
        if let Some(Phase::Starting { placed, waits_for }) = state.jobs.get(heir).map(|job| &job.phase) {
            let is_last = waits_for.iter().any(|victim| stopped.contains(victim))
                && waits_for.iter().all(|victim| stopped.contains(victim));
            if is_last {
                events.push(Event::Started { job: heir, at: now, placed: placed.clone() });
            }
        }
    }
    events
}

/// The event of a job that has stopped after so many evictions: when it is judged again, if it is queued again. A bid
/// counts again at once: what keeps it from coming and going is its protection period.
pub(super) fn stopped(job: &Job, no: JobNo, now: Timestamp, then: &AfterStop, evictions: u32) -> Event {
    let doublings = evictions.saturating_sub(1).min(BACKOFF_DOUBLINGS_MAX);
    let backoff = Millis((Millis::MINUTE.0 << doublings).min(Millis::HOUR.0));
    let not_before = (matches!(then, AfterStop::Requeue) && !job.bids()).then(|| now + backoff);
    Event::Stopped { job: no, at: now, not_before }
}

pub(super) fn report(state: &State, command: &Report, now: Timestamp) -> Result<Vec<Event>, Rejection> {
    let no = names::job(state, &command.job)?;
    let job = &state.jobs[no];
    let wrong =
        |reason: &str| Rejection::NotNow { noun: Noun::Job, name: command.job.to_string(), reason: reason.to_owned() };
    match (&command.observed, &job.phase) {
        (Observation::Checkpointed, Phase::Running { .. }) => Ok(vec![Event::Checkpointed { job: no, at: now }]),
        (Observation::Stopped, Phase::Stopping { .. }) => Ok(stops(state, &[no], now)),
        (Observation::Finished, Phase::Running { .. }) => Ok(ended(state, no, Outcome::Succeeded, now)),
        (Observation::Failed { reason }, Phase::Running { .. }) => {
            Ok(ended(state, no, Outcome::Failed { reason: reason.clone() }, now))
        }
        (Observation::Stopped, _) => Err(wrong("has not been told to stop; report finished or failed instead")),
        (Observation::Checkpointed | Observation::Finished | Observation::Failed { .. }, _) => {
            Err(wrong("does not run; only a running job writes checkpoints, finishes or fails"))
        }
    }
}

/// A job ends, and its parts with it.
fn ended(state: &State, no: JobNo, outcome: Outcome, now: Timestamp) -> Vec<Event> {
    let parts: Vec<JobNo> = state.parts_of(no).collect();
    let mut events = vec![Event::Ended { job: no, at: now, outcome }];
    events.extend(cancelled(state, &parts, now));
    events
}

/// Jobs are cancelled. Those that were stopping for another make room for it at once.
pub(super) fn cancelled(state: &State, jobs: &[JobNo], now: Timestamp) -> Vec<Event> {
    let ends = jobs.iter().map(|job| Event::Ended { job: *job, at: now, outcome: Outcome::Cancelled });
    ends.chain(heirs(state, jobs, now)).collect()
}
