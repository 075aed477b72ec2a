//! What comes of runs, as events (rules 7.4).

use crate::job::run::RunStep;
use crate::message::event::Event;
use crate::state::jobs::Job;
use crate::unit::id::JobNo;
use crate::unit::time::Timestamp;

/// Something has come of a job's run.
pub(super) fn step(job: JobNo, at: Timestamp, step: RunStep) -> Event {
    Event::Run { job, at, step: Box::new(step) }
}

/// A job passes over no nodes any more, if it has passed over any.
pub(super) fn goes_anywhere(job: &Job, no: JobNo, at: Timestamp) -> Option<Event> {
    let has_passed = !job.spec.shape.nodes().passed_over.is_empty();
    has_passed.then(|| step(no, at, RunStep::PassedOver { nodes: Vec::new() }))
}
