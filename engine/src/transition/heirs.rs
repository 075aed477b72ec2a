//! Who waits for what others hold still: a job that was granted the place of its victims (rules 5.5).

use crate::job::phase::Phase;
use crate::job::run::Leaving;
use crate::job::run::RunNo;
use crate::message::event::Event;
use crate::state::jobs::Job;
use crate::state::world::State;
use crate::unit::id::JobNo;
use crate::unit::time::Timestamp;

/// Who waits for a job to stop, or for pods of it to leave.
pub(super) fn of_job(state: &State, no: JobNo) -> Vec<JobNo> {
    let mut heirs: Vec<JobNo> = Vec::new();
    for heir in evicted_for(&state.jobs[no]).chain(leaving(&state.jobs[no]).filter_map(|order| order.evicted_for)) {
        if waits_for(state, heir, no) && !heirs.contains(&heir) {
            heirs.push(heir);
        }
    }
    heirs
}

/// Who waits for the pods of an order to leave, and for nothing else of their job.
pub(super) fn of_order(state: &State, no: JobNo, order: RunNo) -> Option<JobNo> {
    let job = &state.jobs[no];
    let heir = leaving(job).find(|leaving| leaving.order == order)?.evicted_for?;
    let others = leaving(job).filter(|leaving| leaving.order != order).filter_map(|leaving| leaving.evicted_for);
    let is_last = !others.chain(evicted_for(job)).any(|other| other == heir);
    (is_last && waits_for(state, heir, no)).then_some(heir)
}

/// Who starts because the last of its victims is among those that have stopped; nobody who has gone with them.
pub(super) fn start_after(state: &State, stopped: &[JobNo], now: Timestamp) -> Vec<Event> {
    let mut heirs: Vec<JobNo> = Vec::new();
    for heir in stopped.iter().flat_map(|no| of_job(state, *no)) {
        if !heirs.contains(&heir) && !stopped.contains(&heir) {
            heirs.push(heir);
        }
    }
    heirs.into_iter().filter_map(|heir| start(state, heir, stopped, now)).collect()
}

/// The start of a job, if these are the last for which it waits.
pub(super) fn start(state: &State, heir: JobNo, gone: &[JobNo], now: Timestamp) -> Option<Event> {
    let Phase::Starting { placed, waits_for } = &state.jobs[heir].phase else { return None };
    let is_run = state.is_reported(&state.jobs[heir]);
    let started = || Event::Started { job: heir, at: now, placed: placed.clone(), is_run };
    waits_for.iter().all(|victim| gone.contains(victim)).then(started)
}

fn evicted_for(job: &Job) -> impl Iterator<Item = JobNo> {
    let heir = if let Phase::Stopping(stopping) = &job.phase { stopping.evicted_for } else { None };
    heir.into_iter()
}

fn leaving(job: &Job) -> impl Iterator<Item = &Leaving> {
    job.run.iter().flat_map(|run| &run.leaving)
}

fn waits_for(state: &State, heir: JobNo, victim: JobNo) -> bool {
    match state.jobs.get(heir).map(|job| &job.phase) {
        Some(Phase::Starting { waits_for, .. }) => waits_for.contains(&victim),
        Some(Phase::Queued { .. } | Phase::Running { .. } | Phase::Stopping { .. } | Phase::Ended { .. }) | None => {
            false
        }
    }
}
