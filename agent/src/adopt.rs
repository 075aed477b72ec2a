//! Jobs that people submit to the machines' own scheduler: the agent offers them, and the service says how far each is.
//!
//! This is level-triggered too: a request tells all of them, an answer says of each what the log has. What each asks for is
//! told until the service knows the job.

use serde::Deserialize;
use serde::Serialize;

use crate::script::Script;

/// How many of them an exchange may name.
pub const OFFERS_MAX: usize = 10_000;

/// A job of the machines' own scheduler.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Offered {
    /// What it is called here.
    pub job: String,
    /// Whether its user has cancelled it there, or the scheduler has forgotten it.
    #[serde(default)]
    pub is_gone: bool,
    /// What it asks for; left out once the service knows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ask: Option<Box<Ask>>,
}

/// What such a job asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ask {
    /// Whose it is.
    pub user: String,
    /// Its workspace, by the administrator's table of accounts.
    pub workspace: String,
    /// Its quota.
    pub quota: String,
    /// Its name for people.
    pub name: String,
    /// How many GPUs it needs on one node.
    pub gpus: u16,
    /// 1 to 9.
    pub priority: u8,
    /// Its use of what others leave idle.
    pub idle: Idle,
    /// Whether it is queued again when it is evicted.
    pub is_requeued: bool,
    /// How long it may run.
    pub duration_ms: Option<u64>,
    /// What it executes, with the mark by which the agent knows it.
    pub script: Script,
}

/// Whether a job uses what others leave idle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Idle {
    /// Never.
    #[default]
    Off,
    /// Its own quota first, idle amounts otherwise.
    Acceptable,
    /// Idle amounts, and never its own quota.
    Only,
}

/// What the service says of an offered job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Told {
    /// Which job.
    pub job: String,
    /// How far it is.
    pub standing: Standing,
}

/// How far an offered job is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Standing {
    /// The service does not know it: what it asks for has to be told.
    Unknown,
    /// The service does not take it.
    Refused(String),
    /// It is queued.
    Waiting,
    /// It has a run.
    Running,
    /// It has ended, or was cancelled.
    Over,
}
