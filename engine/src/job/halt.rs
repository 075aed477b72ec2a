//! Why runs end for no other job's sake (rules 7.5).

use std::fmt;

use serde::Deserialize;
use serde::Serialize;

use crate::unit::time::Millis;

/// Why a run ends for no other job's sake.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Halt {
    /// Somebody cancelled the job.
    Cancelled,
    /// It has run as long as the job declared.
    DurationOver,
    /// Nobody confirmed in time that it had started.
    NotConfirmed {
        /// How long was waited for it.
        within: Millis,
    },
    /// It has failed, and not by the job's fault.
    Failed(Failure),
}

/// Whose fault it is that a run failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// The job's: it ends.
    #[default]
    Job,
    /// The node's: the run was lost with it, or the node could not go on.
    Node,
    /// The start's: the machine could not begin it.
    Start,
}

impl Fault {
    /// Whether it is the job's.
    #[must_use]
    pub fn is_of_job(&self) -> bool {
        *self == Self::Job
    }
}

/// How the command of a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Exit {
    /// With this exit code.
    Code(i32),
    /// By this signal.
    Signal(u8),
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit code {code}"),
            Self::Signal(signal) => write!(f, "signal {signal}"),
        }
    }
}

/// A run that failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Failure {
    /// Whose fault it is.
    pub fault: Fault,
    /// Why.
    pub reason: String,
    /// How its command ended, if it had begun.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<Exit>,
}

impl Failure {
    /// In words: why, and how its command ended.
    #[must_use]
    pub fn text(&self) -> String {
        match &self.exit {
            Some(exit) if self.reason.is_empty() => exit.to_string(),
            Some(exit) => format!("{} ({exit})", self.reason),
            None => self.reason.clone(),
        }
    }
}
