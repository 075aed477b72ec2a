//! A job's state in one word, as the product shows it (rules 4.4).

use crate::job::phase::Charge;
use crate::job::phase::Outcome;
use crate::job::phase::Phase;
use crate::state::jobs::Job;
use crate::unit::resource::ResourceType;

/// What the job list shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// It waits.
    Queued,
    /// It waits with a bid on Lingjun.
    Bidding,
    /// It has been given amounts that others still hold.
    Starting,
    /// It runs on its quota.
    InQuota,
    /// It runs on idle amounts.
    NotInQuota,
    /// It runs on the spot market.
    Spot,
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
    pub const ALL: [Self; 11] = [
        Self::Queued,
        Self::Bidding,
        Self::Starting,
        Self::InQuota,
        Self::NotInQuota,
        Self::Spot,
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
            Self::Bidding => "Bidding",
            Self::Starting => "Starting",
            Self::InQuota => "In quota",
            Self::NotInQuota => "Not in quota",
            Self::Spot => "Spot",
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
        Phase::Queued { .. } if bids_on_lingjun(job) => Status::Bidding,
        Phase::Queued { .. } => Status::Queued,
        Phase::Starting { .. } => Status::Starting,
        Phase::Running { .. } if job.is_unconfirmed() => Status::Starting,
        Phase::Running { placed, .. } if placed.charge == Charge::Idle => Status::NotInQuota,
        Phase::Running { placed, .. } if placed.charge == Charge::Spot => Status::Spot,
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

/// The product shows the waiting bids of Lingjun as such, and those of general computing as queued.
fn bids_on_lingjun(job: &Job) -> bool {
    job.spec.spot.as_ref().is_some_and(|spot| spot.resource_type == ResourceType::Lingjun)
}
