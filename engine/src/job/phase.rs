//! Where a job is in its life: queued, starting, running, stopping, ended (rules 7.1).

use serde::Deserialize;
use serde::Serialize;

use crate::job::cause::Cause;
use crate::unit::few::Few;
use crate::unit::id::GroupNo;
use crate::unit::id::JobNo;
use crate::unit::id::NodeNo;
use crate::unit::time::Millis;
use crate::unit::time::Timestamp;

/// The ways to get GPUs, from least to most disruptive; they are tried in this order (rules 3.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// Free amount of its own quota.
    Own,
    /// Idle amount of any quota that lends.
    Idle,
    /// Taking back what its quota has lent.
    Reclaim,
    /// Child-level preemption.
    ChildLevel,
    /// Self-level preemption.
    SelfLevel,
    /// The spot market, for jobs with a bid and only these.
    Spot,
}

/// What a running pod counts against (rules 2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Charge {
    /// Idle amounts of lenders.
    Idle,
    /// Its quota and all ancestors.
    InQuota,
    /// No quota: instances of the spot market.
    Spot,
}

/// Where one pod runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PodAt {
    /// The node.
    pub node: NodeNo,
    /// A bit for each GPU of the node that it holds, or the one that it shares.
    pub gpus: u16,
}

/// A pod of an elastic job above its minimum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ExtraPod {
    /// What it counts against.
    pub charge: Charge,
    /// Where it runs; nothing in a pool.
    pub at: Option<PodAt>,
    /// When it started.
    pub started: Timestamp,
}

/// What a job holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Placed {
    /// The source that gave it.
    pub source: Source,
    /// What its gang counts against.
    pub charge: Charge,
    /// The first resource group of the domain in which it runs; none on the spot market.
    #[serde(default = "GroupNo::none", skip_serializing_if = "GroupNo::is_none")]
    pub home: GroupNo,
    /// Where the gang's pods run, in the order of its roles; empty in a pool.
    pub pods: Box<[PodAt]>,
}

impl Placed {
    /// What a job on the spot market holds: instances, which have no places in this cluster.
    #[must_use]
    pub fn on_market() -> Self {
        Self { source: Source::Spot, charge: Charge::Spot, home: GroupNo::NONE, pods: Box::default() }
    }
}

/// How a job ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It did its work.
    Succeeded,
    /// It failed by itself, as reported.
    Failed {
        /// What the report says.
        reason: String,
    },
    /// It was evicted or released and does not come back by itself (shown as *Preempted*).
    Preempted,
    /// Somebody cancelled it.
    Cancelled,
}

/// What happens to a job once it has stopped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum AfterStop {
    /// It is queued again.
    Requeue,
    /// It ends so.
    End(Outcome),
}

/// The phases of a job. Most jobs wait or have ended, so what few others have is kept apart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// It waits.
    Queued {
        /// It is not judged before this time: the backoff after an eviction.
        not_before: Option<Timestamp>,
    },
    /// It has been given amounts that its victims still hold.
    Starting {
        /// What it will hold.
        placed: Placed,
        /// Victims that have not stopped yet.
        waits_for: Vec<JobNo>,
    },
    /// It runs.
    Running {
        /// What it holds.
        placed: Placed,
        /// Since when.
        started: Timestamp,
        /// Its pods above the minimum.
        extra: Few<ExtraPod>,
        /// The last checkpoint that was reported in this run.
        checkpointed: Option<Timestamp>,
    },
    /// It has been told to stop.
    Stopping(Box<Stopping>),
    /// It has ended.
    Ended {
        /// When.
        at: Timestamp,
        /// How.
        outcome: Outcome,
    },
}

/// A job that has been told to stop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Stopping {
    /// What it still occupies.
    pub placed: Placed,
    /// Its pods above the minimum.
    pub extra: Few<ExtraPod>,
    /// When it counts as stopped at the latest.
    pub until: Timestamp,
    /// For which job; none for a quota that was scaled down.
    pub evicted_for: Option<JobNo>,
    /// What then.
    pub then: AfterStop,
    /// Why.
    pub cause: Cause,
}

/// A job's progress in simulated work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Progress {
    /// Work that survives an eviction.
    pub saved_ms: Millis,
    /// Evictions so far.
    pub evictions: u32,
}
