//! What agent and service say to each other.
//!
//! An exchange is level-triggered: a request tells every run that the agent has, an answer every run that it should have.
//! No message carries a time of day: durations are relative to the moment of sending or of receiving.

use std::collections::BTreeSet;
use std::fmt;

use serde::Deserialize;
use serde::Serialize;

use crate::adopt::OFFERS_MAX;
use crate::adopt::Offered;
use crate::adopt::Told;
use crate::exit::Exit;
pub use crate::pods::Pod;

use crate::pods::Change;
use crate::pods::Place;
use crate::run::RunId;
use crate::run::Version;

/// The format of these messages.
pub const FORMAT: u32 = 1;
/// How many runs an exchange may name.
pub const RUNS_MAX: usize = 10_000;
/// How many pods a run may have on one agent's nodes.
pub const PODS_MAX: usize = 1_024;
/// How many GPUs a node may have.
pub const GPUS_MAX: u16 = 64;
/// How many bytes of the end of a log are kept.
pub const TAIL_BYTES_MAX: usize = 64 * 1024;
/// How many bytes a name may have.
pub const NAME_BYTES_MAX: usize = 128;

/// The first message of an agent's life.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hello {
    /// The format of messages.
    pub format: u32,
    /// The name of the runner's own store, drawn when it was made. Another store under the same agent does not know
    /// which runs were claimed, so it must not be told to start them.
    pub store: String,
}

/// The answer to [`Hello`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Welcome {
    /// The format of messages.
    pub format: u32,
    /// The agent's number from now on. An agent with a lower one is refused.
    pub incarnation: u64,
}

/// Everything that an agent has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SyncRequest {
    /// The format of messages.
    pub format: u32,
    /// Who asks.
    pub incarnation: u64,
    /// The newest answer that it acts on.
    pub answered: Option<Version>,
    /// Its nodes.
    pub nodes: Vec<NodeReport>,
    /// Its runs, ended ones included until they may be forgotten.
    pub runs: Vec<RunReport>,
    /// Runs that only go on, with the one pod with which they began: the newest answer keeps them, and there is no news.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lives: Vec<RunId>,
    /// Whether it takes runs that go on by their names alone; agents of before were told everything of them each time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub keeps: bool,
    /// Whether pods may join and leave its runs while these go on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub changes: bool,
    /// Jobs that people have submitted to its machines' own scheduler; none of an agent that adopts none, or cannot tell now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub offered: Vec<Offered>,
}

/// What is said of a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeReport {
    /// Its name.
    pub node: String,
    /// How many GPUs it has now.
    pub gpus: u16,
    /// Whether it can begin runs.
    pub status: NodeStatus,
    /// Why it cannot.
    pub reason: Option<String>,
}

/// Whether a node can begin runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum NodeStatus {
    /// It can.
    Ready,
    /// It cannot; what runs goes on.
    Unfit,
}

/// What is said of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunReport {
    /// Which run.
    pub run: RunId,
    /// Whose run it is.
    pub job: String,
    /// How far it is.
    pub state: RunState,
    /// Whether it was told to stop before it ended.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub told: bool,
    /// For how long it has been so, when the request was sent.
    pub since_ms: u64,
    /// How much it has printed.
    pub log_bytes: u64,
    /// How long ago it reported a checkpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint_ms: Option<u64>,
    /// How many pods it should have here, as far as it was told; most have one.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub pods: usize,
    /// Where its pods are or should be, if these are not only those with which it began: what has not left is among them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<Place>,
    /// The orders to some of its pods to leave of which nothing is left here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gone: Vec<RunId>,
}

/// How far a run is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum RunState {
    /// Known, and not started.
    Prepared,
    /// Its processes live.
    Running,
    /// It has been told to stop, and its processes live.
    Stopping,
    /// It has no process, and never will have one.
    Ended(Exit),
}

/// The end of what a run has printed, told before its end is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tail {
    /// The format of messages.
    pub format: u32,
    /// Who tells it.
    pub incarnation: u64,
    /// Which run.
    pub run: RunId,
    /// How much it has printed in all.
    pub bytes: u64,
    /// The end of it. What was no text is marked as such.
    pub text: String,
}

/// The answer to [`Tail`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TailKept {
    /// Whether it is kept: not of a run that has another end by now, nor of pods that are not the run's first.
    pub is_kept: bool,
}

/// Everything that an agent should have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SyncAnswer {
    /// The format of messages.
    pub format: u32,
    /// Who had asked.
    pub incarnation: u64,
    /// The state that it was made from. An answer older than one that was acted on is dropped.
    pub version: Version,
    /// When to ask again, unless somebody rings.
    pub interval_ms: u64,
    /// All runs that should live, but for those that go on. What stands nowhere in an answer is stopped.
    pub want: Vec<Want>,
    /// Runs that should live and of which the request says that they do: nothing more has to be said of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keep: Vec<RunId>,
    /// The pods of wanted runs whose pods are not those with which they began.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub change: Vec<Change>,
    /// Runs that should end.
    pub stop: Vec<StopOrder>,
    /// Ended runs whose end is in the log.
    pub forget: Vec<RunId>,
    /// How far the jobs are that the agent has offered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub offered: Vec<Told>,
}

/// A run that should live.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Want {
    /// Which run.
    pub run: RunId,
    /// Whose run it is.
    pub job: String,
    /// Its pods on this agent's nodes.
    pub pods: Vec<Pod>,
    /// How many pods it has on all nodes.
    pub world: u32,
    /// Where its first pod can be reached by the others.
    pub leader: String,
    /// The port for that.
    pub port: u16,
    /// The digest of what it executes.
    pub script: String,
    /// How long it may go on when the service is silent; for ever, if nothing is said. It belongs to the run because its
    /// group says so, and an agent may serve several groups.
    pub stop_after_ms: Option<u64>,
}

/// A run that should end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StopOrder {
    /// Which run.
    pub run: RunId,
    /// Whose run it is: the agent may hear of it here for the first time.
    pub job: String,
    /// When whatever is left of it is killed.
    pub kill_in_ms: u64,
}

/// Why a message is not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BadMessage {
    /// It has another format.
    Format(u32),
    /// It names too many of something.
    TooMany(&'static str),
    /// A name is empty, too long, or has control characters.
    Name(&'static str),
    /// A GPU that no node can have, or one that stands twice.
    Gpu(u16),
    /// A run that stands twice.
    Twice(RunId),
    /// A run without pods.
    NoPods(RunId),
}

impl fmt::Display for BadMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Format(format) => write!(f, "the message has format {format}; this version reads {FORMAT}"),
            Self::TooMany(what) => write!(f, "the message has too many {what}"),
            Self::Name(what) => {
                write!(f, "the {what} must have 1 to {NAME_BYTES_MAX} bytes, none of them a control character")
            }
            Self::Gpu(gpu) => write!(f, "GPU {gpu} stands twice, or is not below {GPUS_MAX}"),
            Self::Twice(run) => write!(f, "run {run} stands twice"),
            Self::NoPods(run) => write!(f, "run {run} has no pods"),
        }
    }
}

impl SyncRequest {
    /// Whether the service can take it.
    pub fn check(&self) -> Result<(), BadMessage> {
        format(self.format)?;
        bounded(self.runs.len() + self.lives.len(), RUNS_MAX, "runs")?;
        bounded(self.nodes.len(), RUNS_MAX, "nodes")?;
        self.nodes.iter().try_for_each(|node| name(&node.node, "node"))?;
        self.runs.iter().try_for_each(|report| name(&report.job, "job"))?;
        bounded(self.offered.len(), OFFERS_MAX, "offered jobs")?;
        self.offered.iter().try_for_each(|offered| name(&offered.job, "job"))?;
        once(self.runs.iter().map(|report| report.run).chain(self.lives.iter().copied()))
    }
}

impl Tail {
    /// The end of what was printed.
    #[must_use]
    pub fn of(incarnation: u64, run: RunId, bytes: u64, printed: &[u8]) -> Self {
        let text = String::from_utf8_lossy(printed).into_owned();
        let begin = text.ceil_char_boundary(text.len().saturating_sub(TAIL_BYTES_MAX));
        Self { format: FORMAT, incarnation, run, bytes, text: text[begin..].to_owned() }
    }

    /// Whether the service can take it.
    pub fn check(&self) -> Result<(), BadMessage> {
        format(self.format)?;
        bounded(self.text.len(), TAIL_BYTES_MAX, "bytes of a log")
    }
}

impl SyncAnswer {
    /// Whether the agent can take it. It acts on all of an answer or on none of it.
    pub fn check(&self) -> Result<(), BadMessage> {
        format(self.format)?;
        bounded(self.want.len() + self.keep.len() + self.stop.len(), RUNS_MAX, "runs")?;
        bounded(self.forget.len(), RUNS_MAX, "runs")?;
        self.want.iter().try_for_each(Want::check)?;
        bounded(self.change.len(), RUNS_MAX, "runs")?;
        self.change.iter().try_for_each(Change::check)?;
        once(self.change.iter().map(|change| change.run))?;
        self.stop.iter().try_for_each(|order| name(&order.job, "job"))?;
        let wanted = self.want.iter().map(|want| want.run).chain(self.keep.iter().copied());
        once(wanted.chain(self.stop.iter().map(|order| order.run)).chain(self.forget.iter().copied()))
    }
}

impl Want {
    fn check(&self) -> Result<(), BadMessage> {
        name(&self.job, "job")?;
        name(&self.script, "digest")?;
        name(&self.leader, "leader")?;
        bounded(self.pods.len(), PODS_MAX, "pods")?;
        if self.pods.is_empty() {
            return Err(BadMessage::NoPods(self.run));
        }
        self.pods.iter().try_for_each(|pod| place(&pod.node, &pod.gpus))
    }
}

impl Change {
    fn check(&self) -> Result<(), BadMessage> {
        bounded(self.pods.len(), PODS_MAX, "pods")?;
        bounded(self.leave.len(), PODS_MAX, "orders to leave")?;
        once(self.leave.iter().map(|order| order.order))?;
        self.pods.iter().try_for_each(|pod| place(&pod.node, &pod.gpus))?;
        for order in &self.leave {
            bounded(order.places.len(), PODS_MAX, "pods")?;
            order.places.iter().try_for_each(|at| place(&at.node, &at.gpus))?;
        }
        Ok(())
    }
}

/// Pods of one run may share a GPU; no pod has one twice.
fn place(node: &str, gpus: &[u16]) -> Result<(), BadMessage> {
    name(node, "node")?;
    let mut held = BTreeSet::new();
    let bad = gpus.iter().find(|gpu| **gpu >= GPUS_MAX || !held.insert(**gpu));
    bad.map_or(Ok(()), |gpu| Err(BadMessage::Gpu(*gpu)))
}

fn one() -> usize {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes it so")]
fn is_one(count: &usize) -> bool {
    *count == 1
}

fn format(format: u32) -> Result<(), BadMessage> {
    if format == FORMAT { Ok(()) } else { Err(BadMessage::Format(format)) }
}

fn bounded(count: usize, max: usize, what: &'static str) -> Result<(), BadMessage> {
    if count <= max { Ok(()) } else { Err(BadMessage::TooMany(what)) }
}

fn name(name: &str, what: &'static str) -> Result<(), BadMessage> {
    let is_good = (1..=NAME_BYTES_MAX).contains(&name.len()) && !name.chars().any(char::is_control);
    if is_good { Ok(()) } else { Err(BadMessage::Name(what)) }
}

fn once(runs: impl Iterator<Item = RunId>) -> Result<(), BadMessage> {
    // Most messages name them in order, which costs hardly anything then.
    let mut runs: Vec<RunId> = runs.collect();
    runs.sort_unstable();
    let twice = runs.windows(2).find(|pair| pair[0] == pair[1]);
    twice.map_or(Ok(()), |pair| Err(BadMessage::Twice(pair[0])))
}
