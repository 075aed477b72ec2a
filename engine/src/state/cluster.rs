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
use crate::unit::ordered::Map;
use crate::unit::resource::ResourceType;
use crate::unit::time::Millis;
use crate::unit::time::Timestamp;

/// Who tells what jobs do (rules 7.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Execution {
    /// A job that declares a duration ends by itself after that much work.
    #[default]
    Simulated,
    /// Agents run the jobs and report what they do.
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
    /// They may not, and somebody has said that nothing runs there any more.
    Dead,
}

/// What becomes of runs on the nodes of a group while nobody hears of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum OnSilence {
    /// They go on.
    #[default]
    Keep,
    /// The agent kills them after so long, and they are lost.
    StopAfter(Millis),
}

impl OnSilence {
    /// After how long they are killed; none if they go on.
    #[must_use]
    pub fn limit(self) -> Option<Millis> {
        match self {
            Self::Keep => None,
            Self::StopAfter(after) => Some(after),
        }
    }

    fn is_keep(&self) -> bool {
        *self == Self::Keep
    }
}

/// A node of which nobody hears.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Silence {
    /// When it was last heard.
    pub since: Timestamp,
    /// After how long the agent there kills what runs, as it was last told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_after: Option<Millis>,
    /// Whether what ran there is lost.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_lost: bool,
}

impl Silence {
    /// When what ran there is lost. Two clocks measure it: a tenth is for what they differ by, and a minute for killing.
    #[must_use]
    pub fn lost_at(self) -> Option<Timestamp> {
        self.stop_after.map(|after| self.since + after + Millis(after.0 / 10) + Millis::MINUTE)
    }
}

/// What can become of a node that is not put anew.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum NodeStep {
    /// It has not been heard.
    Silent {
        /// Since when.
        since: Timestamp,
        /// After how long what runs there is killed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stop_after: Option<Millis>,
    },
    /// It has been heard again.
    Heard,
    /// It was silent for so long that what ran there has been killed.
    Lost,
    /// It was removed.
    Deleted,
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
    /// What becomes of runs on a silent node.
    #[serde(default, skip_serializing_if = "OnSilence::is_keep")]
    pub on_silence: OnSilence,
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
    /// Since when it is not heard, where its agent reports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub silence: Option<Silence>,
    /// Whether it has been deleted; its number stays its name's.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_deleted: bool,
}

impl Node {
    /// Whether new pods may start on it now.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.status == NodeStatus::Ready && self.silence.is_none() && !self.is_deleted
    }

    /// Whether it is known that nothing of earlier runs lives there.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        self.status == NodeStatus::Dead || self.silence.is_some_and(|silence| silence.is_lost)
    }
}

/// What a cluster declares of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Cluster {
    /// Its dimensions; empty until the cluster is declared.
    pub dimensions: Vec<Dimension>,
    /// How jobs are executed.
    pub execution: Execution,
    /// How long is waited until it is confirmed that a run has started.
    #[serde(default = "usual_wait", skip_serializing_if = "is_usual_wait")]
    pub start_within: Millis,
    /// The epoch of what is told to run from now on.
    #[serde(default, skip_serializing_if = "is_first")]
    pub epoch: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "a field that is left out is asked for so")]
fn is_first(epoch: &u64) -> bool {
    *epoch == 0
}

/// How long is waited for that unless something else is said.
pub const START_WITHIN: Millis = Millis(10 * Millis::MINUTE.0);

fn usual_wait() -> Millis {
    START_WITHIN
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "a field that is left out is asked for so")]
fn is_usual_wait(wait: &Millis) -> bool {
    *wait == START_WITHIN
}

impl Default for Cluster {
    fn default() -> Self {
        Self { dimensions: Vec::new(), execution: Execution::default(), start_within: START_WITHIN, epoch: 0 }
    }
}

impl Cluster {
    /// Whether agents run the jobs and report what they do.
    #[must_use]
    pub fn is_reported(&self) -> bool {
        self.execution == Execution::Reported
    }

    /// The position of the dimension named so.
    #[must_use]
    pub fn dimension(&self, name: &str) -> Option<usize> {
        self.dimensions.iter().position(|dimension| dimension.name == name)
    }

    /// An amount by the names of its dimensions.
    pub fn named(&self, amount: &Amount) -> impl Iterator<Item = (String, i64)> {
        self.dimensions.iter().zip(amount.values()).map(|(dimension, value)| (dimension.name.clone(), value))
    }

    /// The same, without the dimensions in which it is zero.
    #[must_use]
    pub fn by_name(&self, amount: &Amount) -> Map<String, i64> {
        self.named(amount).filter(|(_, value)| *value != 0).collect()
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
