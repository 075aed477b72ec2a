//! What is asked for about one job.

use std::sync::Arc;

use serde::Deserialize;
use serde::Serialize;

use crate::job::halt::Exit;
use crate::job::halt::Fault;
use crate::job::run::RunNo;
use crate::job::spec::FaultTolerance;
use crate::job::spec::IdlePolicy;
use crate::message::command::AmountByName;
use crate::message::command::NodesByName;
use crate::message::command::SpotRequest;
use crate::unit::id::JobId;
use crate::unit::id::QuotaId;
use crate::unit::id::UserId;
use crate::unit::id::WorkspaceId;
use crate::unit::priority::Module;
use crate::unit::priority::Priority;
use crate::unit::time::Millis;

/// Pods of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PodGroup {
    /// How many.
    #[serde(default = "one")]
    pub count: u32,
    /// What each of them needs.
    pub amount: AmountByName,
}

fn one() -> u32 {
    1
}

/// Submits a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SubmitJob {
    /// Its name, chosen by the sender; a second submission under this name must be equal.
    pub job: JobId,
    /// The quota it is submitted to; none for a job with a bid.
    #[serde(default)]
    pub quota: Option<QuotaId>,
    /// Its bid on the spot market, instead of a quota.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spot: Option<SpotRequest>,
    /// The workspace it belongs to.
    #[serde(default)]
    pub workspace: Option<WorkspaceId>,
    /// Who submits it.
    #[serde(default)]
    pub user: Option<UserId>,
    /// A name for people.
    #[serde(default)]
    pub name: Option<Arc<str>>,
    /// Its module.
    #[serde(default)]
    pub module: Module,
    /// 1 to 9, default 1.
    #[serde(default)]
    pub priority: Priority,
    /// Its pods; all start together or none does. With a bid, an empty amount stands for a whole instance.
    pub pods: Vec<PodGroup>,
    /// Of an elastic job: how many pods are the gang. Such a job has one kind of pods.
    #[serde(default)]
    pub min_pods: Option<u32>,
    /// The nodes that it may run on; all unless something is chosen.
    #[serde(default, skip_serializing_if = "NodesByName::is_any")]
    pub nodes: NodesByName,
    /// Its use of idle amounts.
    #[serde(default)]
    pub idle: IdlePolicy,
    /// Automatic fault tolerance, if switched on.
    #[serde(default)]
    pub fault_tolerance: Option<FaultTolerance>,
    /// How long it runs, if declared; in simulated clusters it then ends by itself.
    #[serde(default)]
    pub duration_ms: Option<Millis>,
    /// How often it writes a checkpoint, if it does.
    #[serde(default)]
    pub checkpoint_ms: Option<Millis>,
}

impl SubmitJob {
    /// A submission that leaves out whatever may be left out.
    #[must_use]
    pub fn new(job: JobId, pods: Vec<PodGroup>) -> Self {
        Self {
            job,
            quota: None,
            spot: None,
            workspace: None,
            user: None,
            name: None,
            module: Module::default(),
            priority: Priority::default(),
            pods,
            min_pods: None,
            nodes: NodesByName::default(),
            idle: IdlePolicy::default(),
            fault_tolerance: None,
            duration_ms: None,
            checkpoint_ms: None,
        }
    }
}

/// Ends a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CancelJob {
    /// The job.
    pub job: JobId,
}

/// Changes a job's declared priority.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SetPriority {
    /// The job.
    pub job: JobId,
    /// The new priority.
    pub priority: Priority,
}

/// Changes the number of pods of a service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ResizeJob {
    /// The service.
    pub job: JobId,
    /// How many pods it has from now on: 1 to 10,000. All of them are owed to it, unless a minimum is stated.
    pub pods: u32,
    /// Of an elastic service: how many of them are owed; it accepts the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_pods: Option<u32>,
}

/// What can be reported of a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Observation {
    /// A job that was told to run does so.
    Confirmed,
    /// A running job has written a checkpoint.
    Checkpointed,
    /// A stopping job has stopped.
    Stopped,
    /// A running job has done its work.
    Finished,
    /// A running job has failed.
    Failed {
        /// Why.
        reason: String,
        /// Whose fault it is; the job's unless something else is said.
        #[serde(default, skip_serializing_if = "Fault::is_of_job")]
        fault: Fault,
        /// How its command ended, if it had begun.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        exit: Option<Exit>,
    },
    /// Pods that were told to leave have gone.
    Vacated {
        /// The number of the order.
        order: RunNo,
    },
}

/// Tells what has been seen of a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Report {
    /// The job.
    pub job: JobId,
    /// Its run; none where runs have no numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunNo>,
    /// What has been seen.
    pub observed: Observation,
}
