//! What really runs, and what time alone changes.

use crate::job::phase::Phase;
use crate::job::run::Run;
use crate::job::run::RunNo;
use crate::state::cluster::Cluster;
use crate::state::jobs::Job;
use crate::state::world::State;
use crate::unit::id::JobNo;
use crate::unit::id::NodeNo;
use crate::unit::time::Millis;
use crate::unit::time::Timestamp;

impl State {
    /// The number of what is ordered by the last event.
    #[must_use]
    pub fn order_no(&self) -> RunNo {
        RunNo { epoch: self.cluster.epoch, revision: self.revision }
    }

    /// Whether others run a job and report what it does. Instances of the market are not theirs.
    #[must_use]
    pub fn is_reported(&self, job: &Job) -> bool {
        self.cluster.is_reported() && !job.bids()
    }

    /// Whether a job that is evicted takes time to stop.
    #[must_use]
    pub fn takes_time(&self, job: &Job) -> bool {
        self.grace_period(&job.spec) > Millis::ZERO || self.is_reported(job)
    }

    /// Whether extra pods of a job take time to leave: where others run them and there are places that could be told.
    /// Otherwise they stop at once.
    #[must_use]
    pub fn pods_take_time(&self, no: JobNo) -> bool {
        self.cluster.is_reported() && !self.is_in_pool(no)
    }

    /// When time alone changes a job. Where jobs are reported, what one holds is never freed so.
    #[must_use]
    pub fn timer_of(&self, job: &Job) -> Option<Timestamp> {
        let is_reported = self.is_reported(job);
        match &job.phase {
            Phase::Queued { not_before } => *not_before,
            Phase::Running { .. } if self.cluster.is_reported() => {
                job.run.as_ref().and_then(|run| order_due(job, run, self.cluster.start_within))
            }
            Phase::Running { started, .. } => {
                // In a plan of a reported cluster pods may be leaving.
                let leaving = job.run.iter().flat_map(|run| &run.leaving).map(|leaving| leaving.until);
                job.left().map(|left| *started + left).into_iter().chain(leaving).min()
            }
            Phase::Stopping(stopping) => (!is_reported).then_some(stopping.until),
            Phase::Starting { .. } | Phase::Ended { .. } => None,
        }
    }

    /// When what ran on silent nodes is lost, as far as it is killed there.
    pub fn ends_of_silence(&self) -> impl Iterator<Item = (Timestamp, NodeNo)> {
        let nodes = self.nodes.iter().enumerate().filter(|(_, node)| self.cluster.is_reported() && !node.is_lost());
        nodes.filter_map(|(at, node)| Some((node.silence?.lost_at()?, NodeNo::from_index(at))))
    }

    /// Changes what the cluster declares of itself; others are waited for now, or longer.
    pub fn change_cluster(&mut self, cluster: &Cluster) {
        let running: Vec<JobNo> = self.jobs.iter().filter(|(_, job)| !job.is_queued()).map(|(no, _)| no).collect();
        for no in &running {
            self.clear_timer(*no);
        }
        self.cluster = cluster.clone();
        for no in &running {
            self.set_timer(*no);
        }
        self.restructure();
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
fn order_due(job: &Job, run: &Run, start_within: Millis) -> Option<Timestamp> {
    match run.confirmed {
        None => Some(run.told + start_within),
        Some(confirmed) if run.no.is_numbered() => job.left().map(|left| confirmed + left.max(Millis::ZERO)),
        Some(_) => None,
    }
}
