//! What whoever runs the jobs has seen of them (rules 7.4).

use crate::job::halt::Failure;
use crate::job::halt::Fault;
use crate::job::phase::Outcome;
use crate::job::phase::Phase;
use crate::job::run::RunNo;
use crate::job::run::RunStep;
use crate::message::command::Observation;
use crate::message::command::Report;
use crate::message::event::Event;
use crate::message::rejection::Noun;
use crate::message::rejection::Rejection;
use crate::schedule::work;
use crate::state::jobs::Job;
use crate::state::world::State;
use crate::transition::halt;
use crate::transition::names;
use crate::transition::run;
use crate::transition::stop;
use crate::unit::id::JobNo;
use crate::unit::time::Millis;
use crate::unit::time::Timestamp;

pub(super) fn report(state: &State, command: &Report, now: Timestamp) -> Result<Vec<Event>, Rejection> {
    let Report { job: id, run: number, observed } = command;
    if let Some(number) = number {
        // It may be late, or told twice: whatever another run does, or did, changes nothing.
        let no = state.jobs.find(id).filter(|no| state.jobs[*no].run_no() == Some(*number));
        return Ok(no.map_or_else(Vec::new, |no| of_run(state, no, observed, now)));
    }
    let no = names::job(state, id)?;
    check_unnumbered(state, &state.jobs[no], observed)?;
    Ok(of_run(state, no, observed, now))
}

/// What a report of the job's run comes to.
fn of_run(state: &State, no: JobNo, observed: &Observation, now: Timestamp) -> Vec<Event> {
    let job = &state.jobs[no];
    let is_stopping = matches!(job.phase, Phase::Stopping(_));
    match observed {
        Observation::Confirmed => {
            let anywhere = job.is_unconfirmed().then(|| run::goes_anywhere(job, no, now)).flatten();
            confirmed(job, no, now).into_iter().chain(anywhere).collect()
        }
        Observation::Checkpointed if is_stopping => saved(state, no, now).into_iter().collect(),
        Observation::Checkpointed => {
            confirmed(job, no, now).into_iter().chain([Event::Checkpointed { job: no, at: now }]).collect()
        }
        Observation::Finished => stop::ended(state, no, Outcome::Succeeded, now),
        Observation::Stopped | Observation::Failed { .. } if is_stopping => stop::stops(state, &[no], now),
        Observation::Stopped => {
            let reason = "stopped without having been told to".to_owned();
            halt::failed(state, no, Failure { fault: Fault::Node, reason, exit: None }, now)
        }
        Observation::Failed { reason, fault, exit } => {
            halt::failed(state, no, Failure { fault: *fault, reason: reason.clone(), exit: *exit }, now)
        }
        Observation::Vacated { order } => stop::vacated(state, no, *order, now),
    }
}

fn confirmed(job: &Job, no: JobNo, now: Timestamp) -> Option<Event> {
    job.is_unconfirmed().then(|| run::step(no, now, RunStep::Confirmed))
}

/// A checkpoint that was written after the order to stop: everything that the run has done until now is saved.
fn saved(state: &State, no: JobNo, now: Timestamp) -> Option<Event> {
    let job = &state.jobs[no];
    let run = job.run.as_ref()?;
    let saved_ms = Millis(run.saved_before.0.saturating_add((now - run.confirmed?).0));
    let more = Millis(saved_ms.0 - job.progress.saved_ms.0);
    let regained_gpu_ms = work::gpu_ms(state, &state.held_by(no), more);
    (more > Millis::ZERO).then(|| run::step(no, now, RunStep::Saved { saved_ms, regained_gpu_ms }))
}

/// Whether a report without the number of a run can be about the job as it is now.
fn check_unnumbered(state: &State, job: &Job, observed: &Observation) -> Result<(), Rejection> {
    let wrong = |reason: String| Err(Rejection::NotNow { noun: Noun::Job, name: job.spec.id.to_string(), reason });
    // In a plan nothing is late.
    if let Some(current) = job.run_no().filter(|run: &RunNo| run.is_numbered() && state.is_reported(job)) {
        return wrong(format!("runs as {current}; say which run the report is about"));
    }
    match (observed, &job.phase) {
        (Observation::Stopped, Phase::Stopping(_))
        | (
            Observation::Confirmed
            | Observation::Checkpointed
            | Observation::Finished
            | Observation::Failed { .. }
            | Observation::Vacated { .. },
            Phase::Running { .. },
        ) => Ok(()),
        (Observation::Stopped, _) => wrong("has not been told to stop; report finished or failed instead".to_owned()),
        (Observation::Confirmed | Observation::Vacated { .. }, _) => {
            wrong("does not run; only a running job is confirmed, or has pods that leave".to_owned())
        }
        (Observation::Checkpointed | Observation::Finished | Observation::Failed { .. }, _) => {
            wrong("does not run; only a running job writes checkpoints, finishes or fails".to_owned())
        }
    }
}
