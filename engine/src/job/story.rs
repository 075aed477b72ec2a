//! What has happened to a job, for its timeline and for whoever asks who took its GPUs.

use serde::Deserialize;
use serde::Serialize;

use crate::job::cause::Cause;
use crate::job::halt::Halt;
use crate::job::phase::Charge;
use crate::job::phase::Outcome;
use crate::job::phase::Source;
use crate::unit::few::Few;
use crate::unit::id::UserId;
use crate::unit::time::Timestamp;

/// One entry of a job's timeline.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Episode {
    /// It was given amounts that others still held.
    Granted(Source),
    /// It started.
    Started(Source, Charge),
    /// It was confirmed that it runs.
    Confirmed,
    /// It was told to stop for no other job's sake, or has failed.
    Halted(Box<Halt>),
    /// Its charge went from idle to in quota, without a restart.
    Promoted,
    /// It was told to stop.
    Evicted {
        /// Why.
        cause: Box<Cause>,
        /// Unsaved work, in GPU-milliseconds (thousandths of a GPU times milliseconds, divided by 1000).
        lost_gpu_ms: i64,
        /// Work that a checkpoint keeps, in GPU-milliseconds.
        saved_gpu_ms: i64,
    },
    /// Pods above its minimum were taken.
    Shrunk {
        /// Why.
        cause: Box<Cause>,
        /// How many.
        pods: u32,
    },
    /// Pods above its minimum started.
    Grown {
        /// How many.
        pods: u32,
        /// What they count against.
        charge: Charge,
    },
    /// It was queued again.
    Requeued,
    /// Somebody cancelled it.
    CancelledBy(UserId),
    /// Its priority was changed.
    PriorityChanged,
    /// It has another number of pods.
    Resized {
        /// How many are owed to it now.
        pods: u32,
    },
    /// It ended.
    Ended(Outcome),
}

/// A timeline: the episodes with their times, oldest first.
pub type Story = Few<(Timestamp, Episode)>;
