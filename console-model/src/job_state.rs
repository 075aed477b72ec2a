//! The state of a job as people are shown it.

use engine::explain::Status;
use engine::explain::status;
use engine::state::jobs::Job;

/// A shown state, in the order in which people look for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum JobState {
    /// It waits.
    Queued,
    /// It waits with a bid on Lingjun.
    Bidding,
    /// It waits, having been evicted.
    Preempted,
    /// It waits for its victims to stop.
    Starting,
    /// It runs and counts against its quota.
    InQuota,
    /// It runs on what others leave idle.
    NotInQuota,
    /// It runs on the spot market.
    Spot,
    /// It has been told to stop.
    Stopping,
    /// It did its work.
    Succeeded,
    /// It failed by itself.
    Failed,
    /// It was evicted and does not come back.
    EndedPreempted,
    /// Somebody cancelled it.
    Cancelled,
}

impl JobState {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::Queued,
        Self::Bidding,
        Self::Preempted,
        Self::Starting,
        Self::InQuota,
        Self::NotInQuota,
        Self::Spot,
        Self::Stopping,
        Self::Succeeded,
        Self::Failed,
        Self::EndedPreempted,
        Self::Cancelled,
    ];

    /// The state of a job.
    #[must_use]
    pub fn of(job: &Job) -> Self {
        match status(job) {
            Status::Queued if job.progress.evictions > 0 => Self::Preempted,
            Status::Queued => Self::Queued,
            Status::Bidding => Self::Bidding,
            Status::Starting => Self::Starting,
            Status::InQuota => Self::InQuota,
            Status::NotInQuota => Self::NotInQuota,
            Status::Spot => Self::Spot,
            Status::Stopping => Self::Stopping,
            Status::Succeeded => Self::Succeeded,
            Status::Failed => Self::Failed,
            Status::Preempted => Self::EndedPreempted,
            Status::Cancelled => Self::Cancelled,
        }
    }

    /// In words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Queued => Status::Queued.as_str(),
            Self::Bidding => Status::Bidding.as_str(),
            Self::Preempted => "Preempted, queued again",
            Self::Starting => Status::Starting.as_str(),
            Self::InQuota => Status::InQuota.as_str(),
            Self::NotInQuota => Status::NotInQuota.as_str(),
            Self::Spot => Status::Spot.as_str(),
            Self::Stopping => Status::Stopping.as_str(),
            Self::Succeeded => Status::Succeeded.as_str(),
            Self::Failed => Status::Failed.as_str(),
            Self::EndedPreempted => Status::Preempted.as_str(),
            Self::Cancelled => Status::Cancelled.as_str(),
        }
    }

    /// In the URL and for the stylesheet.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Bidding => "bidding",
            Self::Preempted => "preempted",
            Self::Starting => "starting",
            Self::InQuota => "in-quota",
            Self::NotInQuota => "not-in-quota",
            Self::Spot => "spot",
            Self::Stopping => "stopping",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::EndedPreempted => "ended-preempted",
            Self::Cancelled => "cancelled",
        }
    }

    /// A mark beside the words, so that states differ without colour.
    #[must_use]
    pub fn mark(self) -> &'static str {
        match self {
            Self::Queued | Self::Bidding => "…",
            Self::Preempted => "↩",
            Self::Starting => "▷",
            Self::InQuota => "●",
            Self::NotInQuota => "◐",
            Self::Spot => "◆",
            Self::Stopping => "◌",
            Self::Succeeded => "✓",
            Self::Failed | Self::EndedPreempted => "✕",
            Self::Cancelled => "–",
        }
    }

    /// From the URL.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == text)
    }

    /// Whether it can still be cancelled.
    #[must_use]
    pub fn has_ended(self) -> bool {
        matches!(self, Self::Succeeded | Self::Failed | Self::EndedPreempted | Self::Cancelled)
    }
}
