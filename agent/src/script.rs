//! What a run executes.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::Serialize;

/// What every pod of a run executes. It is fetched by its digest, so that an exchange need not repeat it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// The format of messages.
    pub format: u32,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Where it runs; else in a folder of the run.
    #[serde(default)]
    pub directory: Option<String>,
    /// What it is told besides what every run is told.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// The signal by which it is asked for a checkpoint, if it declares one.
    #[serde(default)]
    pub checkpoint: Option<Signal>,
    /// The mark of a job of the machines' own scheduler, which executes this there. An agent says so, and nobody else may.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub adopted: Option<String>,
}

/// A signal by which a job may be asked for a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Signal {
    /// What is usual for this.
    #[serde(rename = "SIGUSR1")]
    Usr1,
    /// Another one of the user's.
    #[serde(rename = "SIGUSR2")]
    Usr2,
    /// For programs that save when they are interrupted.
    #[serde(rename = "SIGINT")]
    Int,
    /// For programs that save when their terminal is gone.
    #[serde(rename = "SIGHUP")]
    Hup,
}
