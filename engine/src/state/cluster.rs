//! The machines: resource groups and nodes (rules 1.2).

use std::sync::Arc;

use serde::Deserialize;
use serde::Serialize;

use crate::unit::amount::Amount;
use crate::unit::amount::Dimension;
use crate::unit::amount::DimensionKind;
use crate::unit::id::GroupId;
use crate::unit::id::GroupNo;
use crate::unit::id::NodeId;
use crate::unit::resource::ResourceType;

/// Who tells what jobs do (rules 7.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Execution {
    /// A job that declares a duration ends by itself after that much work.
    #[default]
    Simulated,
    /// Whoever runs the jobs reports what they do.
    Reported,
}

/// Whether new pods may start on a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum NodeStatus {
    /// They may.
    #[default]
    Ready,
    /// They may not; running ones stay.
    Cordoned,
}

/// A resource group: nodes, or a pool of which any split fits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// Its name.
    pub id: GroupId,
    /// The kind of machines.
    pub resource_type: ResourceType,
    /// The amount of a pool; none for a group of nodes.
    pub pool: Option<Amount>,
}

/// A node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Node {
    /// Its name.
    pub id: NodeId,
    /// The group that it belongs to.
    pub group: GroupNo,
    /// The machine's type, for people.
    pub node_type: Option<Arc<str>>,
    /// The type of its GPUs, for people.
    pub gpu_type: Option<Arc<str>>,
    /// What it has.
    pub amount: Amount,
    /// Whether new pods may start on it.
    pub status: NodeStatus,
}

/// What a cluster declares of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Cluster {
    /// Its dimensions; empty until the cluster is declared.
    pub dimensions: Vec<Dimension>,
    /// How jobs are executed.
    pub execution: Execution,
}

impl Cluster {
    /// Whether whoever runs the jobs reports what they do.
    #[must_use]
    pub fn is_reported(&self) -> bool {
        self.execution == Execution::Reported
    }

    /// The position of the dimension named so.
    #[must_use]
    pub fn dimension(&self, name: &str) -> Option<usize> {
        self.dimensions.iter().position(|dimension| dimension.name == name)
    }

    /// The first GPU dimension in which `amount` is not zero.
    #[must_use]
    pub fn gpu_dimension(&self, amount: &Amount) -> Option<usize> {
        self.gpu_dimensions().find(|&at| amount[at] > 0)
    }

    /// The positions of the GPU dimensions.
    pub fn gpu_dimensions(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.dimensions.len()).filter(|&at| self.dimensions[at].kind == DimensionKind::Gpu)
    }

    /// The GPUs of every type together, in thousandths.
    #[must_use]
    pub fn gpus(&self, amount: &Amount) -> i64 {
        self.gpu_dimensions().fold(0, |sum, at| sum.saturating_add(amount[at]))
    }
}
