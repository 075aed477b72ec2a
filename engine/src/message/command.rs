//! What senders ask for. Amounts are maps from dimension name to value, in the dimension's unit (GPUs in thousandths).

mod amount;
mod job;
mod machines;
pub mod market;
mod nodes;
pub mod people;
mod quotas;

pub use amount::AmountByName;
pub use job::CancelJob;
pub use job::Observation;
pub use job::PodGroup;
pub use job::Report;
pub use job::ResizeJob;
pub use job::SetPriority;
pub use job::SubmitJob;
pub use machines::DeleteNode;
pub use machines::NodeHeard;
pub use machines::NodeSilent;
pub use machines::UpdateCluster;
pub use market::SpotRequest;
pub use nodes::NodesByName;
pub use quotas::CreateQuota;
pub use quotas::DeleteQuota;
pub use quotas::ScaleMode;
pub use quotas::ScaleQuotas;
pub use quotas::ScaleTarget;
pub use quotas::UpdateQuota;

use std::sync::Arc;

use serde::Deserialize;
use serde::Serialize;

use crate::message::command::market::CreateOffer;
use crate::message::command::market::DeleteOffer;
use crate::message::command::market::PublishPrice;
use crate::message::command::market::SetInventory;
use crate::message::command::market::UpdateOffer;
use crate::message::command::people::AttachQuota;
use crate::message::command::people::CreateKey;
use crate::message::command::people::DeleteWorkspace;
use crate::message::command::people::DetachQuota;
use crate::message::command::people::PutMember;
use crate::message::command::people::PutWorkspace;
use crate::message::command::people::RemoveMember;
use crate::message::command::people::RevokeKey;
use crate::message::command::people::RotateKey;
use crate::state::cluster::Execution;
use crate::state::cluster::Node;
use crate::state::cluster::NodeStatus;
use crate::state::cluster::OnSilence;
use crate::state::world::State;
use crate::unit::amount::Dimension;
use crate::unit::id::GroupId;
use crate::unit::id::NodeId;
use crate::unit::resource::ResourceType;

/// A change that somebody asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Command {
    /// Declares the cluster; the first command of all.
    CreateCluster(CreateCluster),
    /// Changes whether jobs are simulated, and how long is waited for a run to start (rules 7.4).
    UpdateCluster(UpdateCluster),
    /// Adds a resource group, or changes the amount of a pool.
    PutGroup(PutGroup),
    /// Adds a node to a group, or changes it.
    PutNode(PutNode),
    /// Removes a node on which nothing is held.
    DeleteNode(DeleteNode),
    /// Says that a node has not been heard (rules 7.6).
    NodeSilent(NodeSilent),
    /// Says that a silent node has been heard again.
    NodeHeard(NodeHeard),
    /// Adds a quota (rules 2.1).
    CreateQuota(CreateQuota),
    /// Replaces a quota's settings.
    UpdateQuota(UpdateQuota),
    /// Changes amounts of one or more quotas together, or not at all (rules 8.1).
    ScaleQuotas(ScaleQuotas),
    /// Removes an empty quota.
    DeleteQuota(DeleteQuota),
    /// Adds an offer to the spot market (rules 6.1).
    CreateOffer(CreateOffer),
    /// Replaces an offer's terms.
    UpdateOffer(UpdateOffer),
    /// Removes an offer on which nobody bids any more.
    DeleteOffer(DeleteOffer),
    /// Says what an instance-minute of an offer costs from now on.
    PublishPrice(PublishPrice),
    /// Says how many instances an offer has.
    SetInventory(SetInventory),
    /// Submits a job.
    SubmitJob(SubmitJob),
    /// Ends a job, whatever its phase.
    CancelJob(CancelJob),
    /// Changes the declared priority of a job.
    SetPriority(SetPriority),
    /// Changes the number of pods of a service; what runs stays (rules 1.6).
    ResizeJob(ResizeJob),
    /// Tells what has been seen of a job (rules 7.1).
    Report(Report),
    /// Adds a workspace, or changes what people read of it (rules 9.1).
    PutWorkspace(PutWorkspace),
    /// Removes a workspace whose jobs have all ended.
    DeleteWorkspace(DeleteWorkspace),
    /// Lets a workspace's jobs run in a quota.
    AttachQuota(AttachQuota),
    /// Undoes that.
    DetachQuota(DetachQuota),
    /// Adds a member to a workspace, or replaces their roles.
    PutMember(PutMember),
    /// Removes a member from a workspace.
    RemoveMember(RemoveMember),
    /// Creates an access key.
    CreateKey(CreateKey),
    /// Gives an access key a new secret.
    RotateKey(RotateKey),
    /// Ends an access key.
    RevokeKey(RevokeKey),
    /// Applies the changes of a plan, all of them or none.
    ApplyPlan(ApplyPlan),
    /// Runs a scheduling round.
    Round(Round),
}

/// Declares the cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CreateCluster {
    /// 1 to 8 dimensions.
    pub dimensions: Vec<Dimension>,
    /// Whether jobs are simulated or reported.
    #[serde(default)]
    pub execution: Execution,
}

/// Adds a resource group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PutGroup {
    /// Its name.
    pub group: GroupId,
    /// Lingjun or general computing.
    pub resource_type: ResourceType,
    /// The amount of a pool; none for a group of nodes.
    #[serde(default)]
    pub pool: Option<AmountByName>,
    /// What becomes of runs on a silent node; as it is if this is left out, and at first they go on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_silence: Option<OnSilence>,
}

/// Adds or changes a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PutNode {
    /// Its name.
    pub node: NodeId,
    /// The group that it belongs to; it cannot change.
    pub group: GroupId,
    /// The machine's type, for people.
    #[serde(default)]
    pub node_type: Option<Arc<str>>,
    /// The type of its GPUs, for people.
    #[serde(default)]
    pub gpu_type: Option<Arc<str>>,
    /// What it has; GPUs in at most one dimension, whole ones.
    pub amount: AmountByName,
    /// Whether new pods may start on it.
    #[serde(default)]
    pub status: NodeStatus,
}

impl PutNode {
    /// A node as it is.
    #[must_use]
    pub fn of(state: &State, node: &Node) -> Self {
        Self {
            node: node.id.clone(),
            group: state.groups[node.group.at()].id.clone(),
            node_type: node.node_type.clone(),
            gpu_type: node.gpu_type.clone(),
            amount: state.cluster.by_name(&node.amount),
            status: node.status,
        }
    }
}

/// Applies commands one after the other as a single step: all of them or none, and one round at once after the last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ApplyPlan {
    /// The commands; neither rounds nor plans, and not the declaration of the cluster.
    pub commands: Vec<Command>,
}

/// Runs a scheduling round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Round {
    /// The scheduled minute (minutes since the epoch); none for a round at once after a command. A slot that has
    /// been decided, or an earlier one, decides nothing.
    #[serde(default)]
    pub slot: Option<i64>,
}
