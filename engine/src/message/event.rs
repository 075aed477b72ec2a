//! What has happened. Events hold all that `apply` needs: it judges nothing.

use std::sync::Arc;

use serde::Deserialize;
use serde::Serialize;

use crate::job::cause::Cause;
use crate::job::hold::Hold;
use crate::job::phase::AfterStop;
use crate::job::phase::Charge;
use crate::job::phase::Outcome;
use crate::job::phase::Placed;
use crate::job::phase::PodAt;
use crate::job::resize::Resize;
use crate::job::run::RunStep;
use crate::job::spec::JobSpec;
use crate::market::bill::Bill;
use crate::market::offer::OfferTerms;
use crate::market::offer::SpotOffer;
use crate::quota::settings::QuotaSettings;
use crate::quota::tree::Quota;
use crate::state::cluster::Cluster;
use crate::state::cluster::Execution;
use crate::state::cluster::Group;
use crate::state::cluster::Node;
use crate::state::cluster::NodeStep;
use crate::unit::amount::Dimension;
use crate::unit::amount::Guarantee;
use crate::unit::id::GroupNo;
use crate::unit::id::JobNo;
use crate::unit::id::NodeNo;
use crate::unit::id::OfferNo;
use crate::unit::id::QuotaNo;
use crate::unit::id::UserId;
use crate::unit::id::WorkspaceId;
use crate::unit::priority::Priority;
use crate::unit::time::Millis;
use crate::unit::time::Timestamp;
use crate::workspace::key::AccessKey;
use crate::workspace::key::KeyId;
use crate::workspace::role::RoleSet;

/// A fact. There are many of them in a round, so what is larger than most is boxed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// The cluster was declared.
    ClusterCreated {
        /// Its dimensions.
        dimensions: Vec<Dimension>,
        /// How jobs are executed.
        execution: Execution,
    },
    /// What the cluster declared of itself was changed.
    ClusterUpdated {
        /// What it is now.
        cluster: Box<Cluster>,
    },
    /// A resource group was added or changed.
    GroupPut {
        /// Its number.
        no: GroupNo,
        /// What it is now.
        group: Box<Group>,
    },
    /// A node was added or changed.
    NodePut {
        /// Its number.
        no: NodeNo,
        /// What it is now.
        node: Box<Node>,
    },
    /// A node was heard, or not, or was removed.
    Node {
        /// Its number.
        no: NodeNo,
        /// When.
        at: Timestamp,
        /// What.
        step: NodeStep,
    },
    /// A quota was added.
    QuotaCreated {
        /// Its number.
        no: QuotaNo,
        /// What it is.
        quota: Box<Quota>,
    },
    /// A quota's settings were replaced.
    QuotaUpdated {
        /// The quota.
        no: QuotaNo,
        /// Its settings now.
        settings: Box<QuotaSettings>,
    },
    /// Amounts of quotas were changed.
    QuotasScaled {
        /// Each quota with its amount now.
        targets: Vec<(QuotaNo, Guarantee)>,
    },
    /// A quota was removed.
    QuotaDeleted {
        /// The quota.
        no: QuotaNo,
    },
    /// A job was submitted.
    JobSubmitted {
        /// Its number.
        no: JobNo,
        /// When.
        at: Timestamp,
        /// What it asks for.
        spec: Box<JobSpec>,
    },
    /// Somebody cancelled a job; how it stops or ends follows.
    CancelledBy {
        /// The job.
        job: JobNo,
        /// When.
        at: Timestamp,
        /// Who.
        by: UserId,
    },
    /// A job's declared priority was changed.
    PriorityChanged {
        /// The job.
        job: JobNo,
        /// When.
        at: Timestamp,
        /// The priority now.
        priority: Priority,
    },
    /// A service has another number of pods; what runs of them stays.
    Resized {
        /// The service, or a part of it.
        job: JobNo,
        /// When.
        at: Timestamp,
        /// What becomes of its pods.
        resize: Box<Resize>,
    },
    /// A job's charge went from idle to in quota.
    Promoted {
        /// The job.
        job: JobNo,
        /// When.
        at: Timestamp,
    },
    /// A job was told to stop.
    Evicted {
        /// The job.
        job: JobNo,
        /// When.
        at: Timestamp,
        /// When it counts as stopped at the latest; now, if it has no grace period.
        until: Timestamp,
        /// For whom.
        evicted_for: Option<JobNo>,
        /// Why.
        cause: Box<Cause>,
        /// What follows once it has stopped.
        then: AfterStop,
        /// Unsaved work.
        lost_gpu_ms: i64,
        /// Work that its last checkpoint keeps.
        saved_gpu_ms: i64,
        /// The run time that a restart need not repeat.
        saved_ms: Millis,
    },
    /// Pods above an elastic job's minimum were taken; the last ones of its list.
    Shrunk {
        /// The job.
        job: JobNo,
        /// When.
        at: Timestamp,
        /// Positions in its list of extra pods, ascending.
        pods: Vec<u32>,
        /// Why.
        cause: Box<Cause>,
        /// When they are killed, if they hold their GPUs until it is reported that they have gone.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<Timestamp>,
        /// The job that waits for that.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        evicted_for: Option<JobNo>,
    },
    /// A job was given amounts; it starts once its victims have stopped.
    Granted {
        /// The job.
        job: JobNo,
        /// When.
        at: Timestamp,
        /// What it will hold.
        placed: Placed,
        /// Victims that have to stop first.
        waits_for: Vec<JobNo>,
    },
    /// A job started.
    Started {
        /// The job.
        job: JobNo,
        /// When.
        at: Timestamp,
        /// What it holds.
        placed: Placed,
        /// Whether others run it: they are told to start it, under the number of this event.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_run: bool,
    },
    /// Something has come of a run.
    Run {
        /// The job.
        job: JobNo,
        /// When.
        at: Timestamp,
        /// What.
        step: Box<RunStep>,
    },
    /// Pods above an elastic job's minimum started.
    Grown {
        /// The job.
        job: JobNo,
        /// When.
        at: Timestamp,
        /// What they count against.
        charge: Charge,
        /// Where each runs; nothing in a pool.
        pods: Vec<Option<PodAt>>,
    },
    /// A job that was told to stop has stopped.
    Stopped {
        /// The job.
        job: JobNo,
        /// When.
        at: Timestamp,
        /// When it is judged again, if it is queued again.
        not_before: Option<Timestamp>,
    },
    /// A job's backoff is over; it is judged again.
    Returned {
        /// The job.
        job: JobNo,
        /// When.
        at: Timestamp,
    },
    /// A running job wrote a checkpoint.
    Checkpointed {
        /// The job.
        job: JobNo,
        /// When.
        at: Timestamp,
    },
    /// A job ended.
    Ended {
        /// The job.
        job: JobNo,
        /// When.
        at: Timestamp,
        /// How.
        outcome: Outcome,
    },
    /// Waiting jobs have a new reason to wait. It holds for every waiting job of the same class.
    Held {
        /// The first waiting job of the class.
        job: JobNo,
        /// When.
        at: Timestamp,
        /// How many wait for it.
        jobs: u32,
        /// Why.
        hold: Arc<Hold>,
    },
    /// An offer was added to the spot market.
    OfferCreated {
        /// Its number.
        no: OfferNo,
        /// What it is.
        offer: Box<SpotOffer>,
    },
    /// An offer's terms were replaced.
    OfferUpdated {
        /// The offer.
        no: OfferNo,
        /// Its terms now.
        terms: OfferTerms,
    },
    /// An offer was removed.
    OfferDeleted {
        /// The offer.
        no: OfferNo,
    },
    /// An offer has more or fewer instances.
    InventorySet {
        /// The offer.
        no: OfferNo,
        /// When.
        at: Timestamp,
        /// How many there are now.
        inventory: i64,
    },
    /// An offer has another price: it was published, or the auction made it.
    Priced {
        /// The offer.
        no: OfferNo,
        /// When.
        at: Timestamp,
        /// The price now, in micro-units of currency for an instance-minute.
        price: i64,
    },
    /// A job owes for a day on the spot market, or for a part of it.
    Billed {
        /// The job.
        job: JobNo,
        /// When it was written.
        at: Timestamp,
        /// What it owes.
        bill: Box<Bill>,
    },
    /// Old ended jobs were forgotten.
    Forgotten {
        /// The jobs.
        jobs: Vec<JobNo>,
    },
    /// A workspace was added or changed.
    WorkspacePut {
        /// The workspace.
        workspace: WorkspaceId,
        /// When.
        at: Timestamp,
        /// Its name for people now.
        name: Option<Arc<str>>,
        /// What it is for now.
        description: Option<Arc<str>>,
    },
    /// A workspace was removed.
    WorkspaceDeleted {
        /// The workspace.
        workspace: WorkspaceId,
    },
    /// A quota was attached to a workspace.
    QuotaAttached {
        /// The workspace.
        workspace: WorkspaceId,
        /// The quota.
        quota: QuotaNo,
    },
    /// A quota was detached from a workspace.
    QuotaDetached {
        /// The workspace.
        workspace: WorkspaceId,
        /// The quota.
        quota: QuotaNo,
    },
    /// Somebody has these roles in a workspace now.
    MemberPut {
        /// The workspace.
        workspace: WorkspaceId,
        /// Who.
        user: UserId,
        /// When.
        at: Timestamp,
        /// All their roles.
        roles: RoleSet,
    },
    /// Somebody is no member of a workspace any more.
    MemberRemoved {
        /// The workspace.
        workspace: WorkspaceId,
        /// Who.
        user: UserId,
    },
    /// An access key was created, rotated or revoked.
    KeyPut {
        /// The key.
        key: KeyId,
        /// When.
        at: Timestamp,
        /// What it is now.
        is_now: AccessKey,
    },
    /// A key that served no more is not kept any longer, to make room for another one.
    KeyForgotten {
        /// The key.
        key: KeyId,
    },
    /// Something of another workspace, in what a member of this one may see. The engine never decides it.
    #[serde(rename = "veiled")]
    Redacted,
    /// A round has decided.
    Rounded {
        /// When.
        at: Timestamp,
        /// Its slot, if it was a scheduled one.
        slot: Option<i64>,
        /// Scheduled slots that nobody decided since the last one.
        missed: i64,
    },
}
