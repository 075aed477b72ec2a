//! A job's state in one word, as the product shows it (semantics section 4).

use crate::job::phase::Charge;
use crate::job::phase::Outcome;
use crate::job::phase::Phase;
use crate::state::jobs::Job;

/// What the job list shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// It waits.
    Queued,
    /// It has been given amounts that others still hold.
    Starting,
    /// It runs on its quota.
    InQuota,
    /// It runs on idle amounts.
    NotInQuota,
    /// It has been told to stop.
    Stopping,
    /// It did its work.
    Succeeded,
    /// It failed by itself.
    Failed,
    /// It was evicted and does not come back by itself.
    Preempted,
    /// Somebody cancelled it.
    Cancelled,
}

impl Status {
    /// All of them, in the order of a job's life.
    pub const ALL: [Self; 9] = [
        Self::Queued,
        Self::Starting,
        Self::InQuota,
        Self::NotInQuota,
        Self::Stopping,
        Self::Succeeded,
        Self::Failed,
        Self::Preempted,
        Self::Cancelled,
    ];

    /// The words that people see.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "Queued",
            Self::Starting => "Starting",
            Self::InQuota => "In quota",
            Self::NotInQuota => "Not in quota",
            Self::Stopping => "Stopping",
            Self::Succeeded => "Succeeded",
            Self::Failed => "Failed",
            Self::Preempted => "Preempted",
            Self::Cancelled => "Cancelled",
        }
    }
}

/// The status of a job.
#[must_use]
pub fn status(job: &Job) -> Status {
    match &job.phase {
        Phase::Queued { .. } => Status::Queued,
        Phase::Starting { .. } => Status::Starting,
        Phase::Running { placed, .. } if placed.charge == Charge::Idle => Status::NotInQuota,
        Phase::Running { .. } => Status::InQuota,
        Phase::Stopping { .. } => Status::Stopping,
        Phase::Ended { outcome, .. } => match outcome {
            Outcome::Succeeded => Status::Succeeded,
            Outcome::Failed { .. } => Status::Failed,
            Outcome::Preempted => Status::Preempted,
            Outcome::Cancelled => Status::Cancelled,
        },
    }
}
