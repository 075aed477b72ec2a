//! Commands about machines that really run jobs, and about how a cluster's jobs are executed.

use serde::Deserialize;
use serde::Serialize;

use crate::state::cluster::Execution;
use crate::unit::id::NodeId;
use crate::unit::time::Millis;
use crate::unit::time::Timestamp;

/// Changes what a cluster declared of itself. What is left out stays as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct UpdateCluster {
    /// Whether jobs are simulated or reported; it changes while nothing runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution: Option<Execution>,
    /// How long is waited until it is confirmed that a run has started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_within_ms: Option<Millis>,
    /// Whether it has been restored: what is told to run from now on gets numbers that nothing had before.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_restored: bool,
}

/// Removes a node on which nothing is held. One of its name that comes again is the same node to the jobs that name it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DeleteNode {
    /// The node.
    pub node: NodeId,
}

/// Says that a node has not been heard.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct NodeSilent {
    /// The node.
    pub node: NodeId,
    /// When it was last heard.
    pub since: Timestamp,
    /// After how long without an answer the agent there kills what runs, by the last answer that it may act on; left
    /// out if it does not. The setting of its group may have changed since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_after_ms: Option<Millis>,
}

/// Says that a silent node has been heard again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct NodeHeard {
    /// The node.
    pub node: NodeId,
}
