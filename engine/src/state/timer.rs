//! What really runs, and what time alone changes.

use crate::job::phase::Phase;
use crate::job::run::RunNo;
use crate::state::jobs::Job;
use crate::state::world::State;
use crate::unit::id::JobNo;
use crate::unit::time::Timestamp;

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
            Phase::Running { .. } if self.cluster.is_reported() => None,
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
