//! What a job asks for, as it was accepted.

use std::sync::Arc;

use serde::Deserialize;
use serde::Serialize;

use crate::job::shape::Shape;
use crate::market::bid::SpotSpec;
use crate::unit::id::JobId;
use crate::unit::id::JobNo;
use crate::unit::id::QuotaNo;
use crate::unit::id::UserId;
use crate::unit::id::WorkspaceId;
use crate::unit::priority::Module;
use crate::unit::priority::Priority;
use crate::unit::time::Period;

/// Whether a job uses what others leave idle (rules 4.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum IdlePolicy {
    /// Never: a regular job.
    #[default]
    Off,
    /// Its own quota first, idle amounts otherwise.
    Acceptable,
    /// Idle amounts, and never its own quota.
    Only,
}

/// Automatic fault tolerance: an evicted job is queued again (rules 7.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct FaultTolerance {
    /// How often at most.
    #[serde(default = "FaultTolerance::default_restarts")]
    pub max_restarts: u32,
}

impl FaultTolerance {
    fn default_restarts() -> u32 {
        3
    }
}

impl Default for FaultTolerance {
    fn default() -> Self {
        Self { max_restarts: Self::default_restarts() }
    }
}

/// A job as it was accepted: names resolved, amounts in the cluster's dimensions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct JobSpec {
    /// Its name, chosen by the sender.
    pub id: JobId,
    /// The quota it is submitted to; none for a job with a bid.
    #[serde(default = "QuotaNo::none", skip_serializing_if = "QuotaNo::is_none")]
    pub quota: QuotaNo,
    /// The workspace it belongs to.
    pub workspace: Option<WorkspaceId>,
    /// Who submitted it.
    pub user: Option<UserId>,
    /// A name for people.
    pub name: Option<Arc<str>>,
    /// Its module.
    pub module: Module,
    /// Its declared priority.
    pub priority: Priority,
    /// Its pods.
    pub shape: Arc<Shape>,
    /// Its use of idle amounts.
    pub idle: IdlePolicy,
    /// Automatic fault tolerance, if switched on.
    pub fault_tolerance: Option<FaultTolerance>,
    /// How long it runs, if declared.
    #[serde(rename = "duration_ms")]
    pub duration: Option<Period>,
    /// How often it writes a checkpoint, if it does.
    #[serde(rename = "checkpoint_ms")]
    pub checkpoint: Option<Period>,
    /// Its bid on the spot market, instead of a quota.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spot: Option<Box<SpotSpec>>,
    /// The service whose missing pods these are; none for a job of its own (rules 1.6).
    #[serde(default = "JobNo::none", skip_serializing_if = "JobNo::is_none")]
    pub part_of: JobNo,
}
