//! What an administrator sets on a quota beside its amount.

use serde::Deserialize;
use serde::Serialize;

use crate::quota::policy::ChildLevelPreemption;
use crate::quota::policy::SelfLevelPreemption;
use crate::unit::time::Millis;

/// How a quota orders its own queue (rules 3.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum QueueStrategy {
    /// Priority with ageing; who cannot start is passed over.
    #[default]
    Intelligent,
    /// Submission order; the head blocks the rest of its quota.
    StrictFifo,
    /// Submission order; who cannot start is passed over.
    RoundRobin,
    /// Priority, then submission order; who cannot start is passed over.
    Balance,
}

/// The settings of a quota; a field that is left out has its default.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct QuotaSettings {
    /// How its queue is ordered.
    pub strategy: QueueStrategy,
    /// Whether what it leaves idle may be lent (rules 4.1).
    pub lends: bool,
    /// Self-level preemption, if switched on.
    pub self_level: Option<SelfLevelPreemption>,
    /// Child-level preemption, if switched on.
    pub child_level: Option<ChildLevelPreemption>,
    /// How long an evicted job of this quota may take to stop.
    #[serde(rename = "grace_period_ms")]
    pub grace_period: Millis,
    /// How long a job that has just started is protected.
    #[serde(rename = "min_runtime_ms")]
    pub min_runtime: Millis,
    /// After how much waiting a job holds a reservation.
    #[serde(rename = "starvation_after_ms")]
    pub starvation_after: Millis,
}

impl Default for QuotaSettings {
    fn default() -> Self {
        Self {
            strategy: QueueStrategy::default(),
            lends: true,
            self_level: None,
            child_level: None,
            grace_period: Millis::from_seconds(30),
            min_runtime: Millis::ZERO,
            starvation_after: Millis(6 * Millis::HOUR.0),
        }
    }
}
