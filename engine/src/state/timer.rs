//! What really runs, and what time alone changes.

use crate::job::phase::Phase;
use crate::job::run::Run;
use crate::job::run::RunNo;
use crate::state::jobs::Job;
use crate::state::world::State;
use crate::unit::id::JobNo;
use crate::unit::time::Millis;
use crate::unit::time::Timestamp;

/// How long is waited until it is confirmed that a run has started.
pub const START_WITHIN: Millis = Millis(10 * Millis::MINUTE.0);

impl State {
    /// The number of what is ordered by the last event.
    #[must_use]
    pub fn order_no(&self) -> RunNo {
        RunNo { epoch: self.epoch, revision: self.revision }
    }

    /// Whether others run a job and report what it does. Instances of the market are not theirs.
    #[must_use]
    pub fn is_reported(&self, job: &Job) -> bool {
        self.cluster.is_reported() && !job.bids()
    }

    /// When time alone changes a job. Where jobs are reported, what one holds is never freed so.
    #[must_use]
    pub fn timer_of(&self, job: &Job) -> Option<Timestamp> {
        let is_reported = self.is_reported(job);
        match &job.phase {
            Phase::Queued { not_before } => *not_before,
            Phase::Running { .. } if self.cluster.is_reported() => job.run.as_ref().and_then(|run| order_due(job, run)),
            Phase::Running { started, .. } => {
                // In a plan of a reported cluster pods may be leaving.
                let leaving = job.run.iter().flat_map(|run| &run.leaving).map(|leaving| leaving.until);
                job.left().map(|left| *started + left).into_iter().chain(leaving).min()
            }
            Phase::Stopping(stopping) => (!is_reported).then_some(stopping.until),
            Phase::Starting { .. } | Phase::Ended { .. } => None,
        }
    }

    /// Sets the timer of a job.
    pub fn set_timer(&mut self, no: JobNo) {
        if let Some(at) = self.timer_of(&self.jobs[no]) {
            self.timers.insert((at, no));
        }
    }

    /// Takes the timer of a job away.
    pub fn clear_timer(&mut self, no: JobNo) {
        if let Some(at) = self.timer_of(&self.jobs[no]) {
            self.timers.remove(&(at, no));
        }
    }
}

/// When a run is told to stop by itself: it has not been confirmed in time, or has run as long as it declared. What has
/// run since before there were numbers declared nothing that anybody kept it to.
fn order_due(job: &Job, run: &Run) -> Option<Timestamp> {
    match run.confirmed {
        None => Some(run.told + START_WITHIN),
        Some(confirmed) if run.no.is_numbered() => job.left().map(|left| confirmed + left.max(Millis::ZERO)),
        Some(_) => None,
    }
}
