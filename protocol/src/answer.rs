//! What the native surface answers, as far as the engine has no type for it. The Worker writes these, and their schemas
//! are in the document of the surface.

use std::borrow::Cow;

use engine::explain::Awaited;
use engine::job::hold::Blocker;
use engine::job::hold::Hold;
use engine::job::phase::Source;
use engine::job::run::RunNo;
use engine::message::command::AmountByName;
use engine::message::command::Command;
use engine::message::command::SubmitJob;
use engine::message::rejection::Rejection;
use engine::unit::id::GroupId;
use engine::unit::id::JobId;
use engine::unit::id::NodeId;
use engine::unit::id::UserId;
use engine::unit::time::Timestamp;
use engine::workspace::key::AccessKey;
use engine::workspace::key::KeyId;
use serde::Deserialize;
use serde::Serialize;

use crate::cluster::Position;
use crate::gap::Gap;
use crate::health::ROUNDS_LATE;

/// What is nothing is written as null here, and never left out.
#[cfg(feature = "schema")]
fn all_required(schema: &mut schemars::Schema) {
    let names = schema.get("properties").and_then(|properties| properties.as_object());
    let names: Vec<String> = names.into_iter().flat_map(|properties| properties.keys().cloned()).collect();
    schema.insert("required".to_owned(), names.into());
}

/// What was refused, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = all_required))]
#[serde(deny_unknown_fields)]
pub struct Refusal {
    /// What kind of refusal it is, for programs.
    pub code: Cow<'static, str>,
    /// A sentence for people, with what to do.
    pub message: String,
    /// The engine's own value, if it was the engine that refused.
    pub rejection: Option<Rejection>,
}

/// How the service does as a whole, by what the clock has found in the last minute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = all_required))]
#[serde(deny_unknown_fields)]
pub struct Health {
    /// How it does.
    pub status: HealthStatus,
    /// How many clusters are degraded.
    pub degraded: u64,
    /// How many clusters refuse commands.
    pub lost: u64,
    /// The minute that the clock has reached last; none if it never came, or if that cannot be read.
    pub last_tick: Option<Timestamp>,
}

/// How the service does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum HealthStatus {
    /// Nothing is known to be wrong.
    Ok,
    /// It answers, and something is wrong with a cluster, with the clock or with the list of clusters.
    Degraded,
}

impl Health {
    /// By the counts of clusters that do not do well, and the clock, which is late after some minutes.
    #[must_use]
    pub fn of(degraded: u64, lost: u64, last_tick: Option<Timestamp>, now: Timestamp) -> Self {
        let is_late = last_tick.is_some_and(|at| now - at > ROUNDS_LATE);
        let status = if degraded + lost > 0 || is_late { HealthStatus::Degraded } else { HealthStatus::Ok };
        Self { status, degraded, lost, last_tick }
    }

    /// Where the list of clusters cannot be read.
    #[must_use]
    pub fn unknown() -> Self {
        Self { status: HealthStatus::Degraded, degraded: 0, lost: 0, last_tick: None }
    }
}

/// What the run of a job prints that has not ended, or the end of what its last one has printed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct JobLog {
    /// The job.
    pub job: JobId,
    /// The run.
    pub run: RunNo,
    /// How many bytes it has printed, as far as is known.
    pub bytes: u64,
    /// Where the text begins, in bytes.
    pub from: u64,
    /// The last 64 KiB at most, as text; with `after`, what follows that byte.
    pub text: String,
    /// Whether the run has ended. Of one that has not, more comes: ask again after the byte `bytes`.
    pub is_over: bool,
}

/// What is shown to open a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Credentials {
    /// The access key's name.
    pub key: String,
    /// Its secret.
    pub secret: String,
}

/// A session that has been opened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct OpenedSession {
    /// What to send as `Authorization: Bearer TOKEN`.
    pub token: String,
    /// Whose it is.
    pub user: UserId,
    /// Whether they administer the cluster.
    pub administers: bool,
    /// When it ends.
    pub expires: Timestamp,
}

/// What came of signing out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SignedOut {
    /// Whether a session was ended; who came with another credential had none.
    pub ended: bool,
}

/// Who a sender is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = all_required))]
#[serde(deny_unknown_fields)]
pub struct Me {
    /// Their name.
    pub user: UserId,
    /// Whether they administer the cluster.
    pub administers: bool,
    /// The access key that they came with, if they did.
    pub key: Option<KeyId>,
}

/// An access key with its last use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = all_required))]
#[serde(deny_unknown_fields)]
pub struct KeyShown {
    /// Its name.
    pub key: KeyId,
    /// When it was last used, to the minute; never, if that is not known.
    pub last_used: Option<Timestamp>,
    /// What it is now.
    pub is_now: AccessKey,
}

/// What became of a restore.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RestoreOutcome {
    /// The cluster is now as KV had it.
    Restored,
    /// It was so already.
    Same,
    /// It goes on by itself; the same request tells how far it is.
    Restoring,
}

/// A cluster that has been rebuilt from KV.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Restored {
    /// What became of it.
    pub outcome: RestoreOutcome,
    /// The cluster that was read.
    pub from: String,
    /// Where KV is.
    pub kv: Position,
    /// Where the cluster's object is.
    pub object: Position,
    /// Entries of the past that KV does not have any more, the newest first; the state does not need them.
    pub missing: Vec<Gap>,
}

/// What came of a request to restore.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum RestoreAnswer {
    /// It is over.
    Over(Box<Restored>),
    /// It is too much for one request.
    UnderWay(RestoreUnderWay),
}

/// How far a restore is. Until it is over, nothing else is done with the cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RestoreUnderWay {
    /// That it is under way.
    pub outcome: RestoreOutcome,
    /// The revision that is restored.
    pub revision: u64,
    /// How many objects have been read.
    pub read: u64,
    /// How many objects the state has; with the past it is more.
    pub state: u64,
}

/// An object of a backup that has been put.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Imported {
    /// Its key. That of the head, the last one, is what the restore asks for.
    pub key: String,
}

/// What has been published.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = all_required))]
#[serde(deny_unknown_fields)]
pub struct Flushed {
    /// The revision that readers now see; none if nothing has happened yet.
    pub published: Option<u64>,
}

/// Something that should have been reported by now of a job that really runs, and what is kept for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = all_required))]
#[serde(deny_unknown_fields)]
pub struct OverdueShown {
    /// The node.
    pub node: NodeId,
    /// The job.
    pub job: JobId,
    /// Its run.
    pub run: RunNo,
    /// What has not been reported.
    pub awaited: Awaited,
    /// Since when.
    pub since: Timestamp,
    /// What is kept on the node.
    pub amount: AmountByName,
    /// The same as a sentence.
    pub sentence: String,
}

/// An agent beside the machines, as far as the service knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = all_required))]
#[serde(deny_unknown_fields)]
pub struct AgentShown {
    /// Its name.
    pub agent: String,
    /// The groups on whose nodes it may run jobs; none if its key does not serve any more.
    pub serves: Vec<GroupId>,
    /// When it was last heard; null if that was before the service slept, or never.
    pub heard: Option<Timestamp>,
    /// Since when it is missed; null if it is not.
    pub missed: Option<Timestamp>,
    /// Its nodes.
    pub nodes: Vec<AgentNode>,
}

/// A node of an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = all_required))]
#[serde(deny_unknown_fields)]
pub struct AgentNode {
    /// The node.
    pub node: String,
    /// Why nothing can begin there, as the agent says; null if it can.
    pub unfit: Option<String>,
}

/// Why a job waits, or that it does not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum JobExplained {
    /// It waits.
    Waits(Box<JobWaits>),
    /// It does not.
    DoesNot(JobStatus),
}

/// Why a job waits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = all_required))]
#[serde(deny_unknown_fields)]
pub struct JobWaits {
    /// The job.
    pub job: JobId,
    /// Its state in one word.
    pub status: Cow<'static, str>,
    /// The binding reason, as a sentence.
    pub reason: String,
    /// The reasons of all other sources.
    pub others: Vec<OtherReason>,
    /// Its place in the queue of its quota, or among the bids on its offer, from 1; none during a backoff.
    pub position: Option<usize>,
    /// The smallest change that would start it now, or the one that comes nearest; none if the next round starts it.
    pub help: Option<JobHelp>,
    /// When it would start by itself, if running jobs declare their durations.
    pub estimate: Option<Timestamp>,
    /// The reasons as data, the binding one first.
    pub hold: Hold,
}

/// What became of a job that does not wait.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct JobStatus {
    /// The job.
    pub job: JobId,
    /// Its state in one word.
    pub status: Cow<'static, str>,
}

/// Why one source does not serve.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct OtherReason {
    /// The source.
    pub source: Source,
    /// The reason, as a sentence.
    pub reason: String,
}

/// What would help a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = all_required))]
#[serde(deny_unknown_fields)]
pub struct JobHelp {
    /// As a sentence.
    pub sentence: String,
    /// As a command, if it is one.
    pub command: Option<Command>,
    /// What to submit under a new name, once the job has been cancelled.
    pub resubmit: Option<Box<SubmitJob>>,
    /// Of the nearest miss: what the job would lack still.
    pub lacks: Option<Box<Blocker>>,
}
