//! Runs: the times that a job is really started, where others report what it does (rules 7.4).

use std::fmt;
use std::str::FromStr;

use serde::Deserialize;
use serde::Serialize;

use crate::job::halt::Halt;
use crate::job::phase::AfterStop;
use crate::job::phase::PodAt;
use crate::unit::id::JobNo;
use crate::unit::id::NodeNo;
use crate::unit::time::Millis;
use crate::unit::time::Timestamp;

/// The number of a run, or of an order to some of its pods. No two have the same one: revisions only rise, and the epoch
/// rises whenever a cluster is restored to an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(with = "String", extend("pattern" = "^[0-9]+-[0-9]+$")))]
#[serde(try_from = "String", into = "String")]
pub struct RunNo {
    /// How often the cluster has gone back, in seconds since the beginning of time; 0 if never.
    pub epoch: u64,
    /// The revision after the event that gave the order.
    pub revision: u64,
}

impl RunNo {
    /// What has run since before runs had numbers.
    pub const UNNUMBERED: Self = Self { epoch: 0, revision: 0 };

    /// Whether it has a number.
    #[must_use]
    pub fn is_numbered(self) -> bool {
        self != Self::UNNUMBERED
    }
}

impl fmt::Display for RunNo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.epoch, self.revision)
    }
}

impl From<RunNo> for String {
    fn from(no: RunNo) -> Self {
        no.to_string()
    }
}

impl FromStr for RunNo {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers = text.split_once('-').and_then(|(epoch, revision)| Some((number(epoch)?, number(revision)?)));
        let (epoch, revision) = numbers.ok_or_else(|| format!("\"{text}\" is no run; a run is named like 0-1042"))?;
        Ok(Self { epoch, revision })
    }
}

impl TryFrom<String> for RunNo {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

/// A number that has one spelling.
fn number(text: &str) -> Option<u64> {
    text.parse().ok().filter(|number: &u64| number.to_string() == text)
}

/// A job that has been told to run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// Its number.
    pub no: RunNo,
    /// When it was told to start.
    pub told: Timestamp,
    /// When it was confirmed that it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirmed: Option<Timestamp>,
    /// The work that earlier runs have saved.
    pub saved_before: Millis,
    /// Pods that have been told to leave and hold their GPUs until that is reported.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub leaving: Vec<Leaving>,
}

impl Run {
    /// A run that has just been told to start.
    #[must_use]
    pub fn new(no: RunNo, told: Timestamp, saved_before: Millis) -> Self {
        Self { no, told, confirmed: None, saved_before, leaving: Vec::new() }
    }
}

/// Pods of a run that have been told to leave.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Leaving {
    /// The number of the order.
    pub order: RunNo,
    /// When they are killed.
    pub until: Timestamp,
    /// Where they are.
    pub pods: Vec<PodAt>,
    /// The job that waits for them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evicted_for: Option<JobNo>,
}

/// What can come of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RunStep {
    /// It was reported that it has started.
    Confirmed,
    /// It was told to stop, for no other job's sake; or it has failed, and stops at once.
    Halted {
        /// When it is killed.
        until: Timestamp,
        /// Why.
        halt: Halt,
        /// What follows once it has stopped.
        then: AfterStop,
        /// The run time that a restart need not repeat.
        saved_ms: Millis,
        /// Whether it counts among the job's restarts.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        counts: bool,
    },
    /// It wrote a checkpoint after it had been told to stop.
    Saved {
        /// The run time that a restart need not repeat.
        saved_ms: Millis,
        /// Work that is not lost, as it seemed when it was told to stop.
        regained_gpu_ms: i64,
    },
    /// It did not start there: these nodes, and no others, are passed over for the job from now on.
    PassedOver {
        /// The nodes, sorted.
        nodes: Vec<NodeNo>,
    },
    /// A node on which the job was granted a place is lost, and it waits again.
    Withdrawn,
    /// Pods that had been told to leave have gone.
    Vacated {
        /// The number of the order.
        order: RunNo,
    },
}

impl RunStep {
    /// Whether the run was told to stop, and its job ends once it has (rules 7.5).
    #[must_use]
    pub fn ends_job_once_stopped(&self) -> bool {
        matches!(self, Self::Halted { then: AfterStop::End(_), .. })
    }
}

#[cfg(test)]
mod tests {
    use super::RunNo;

    #[test]
    fn a_number_has_one_spelling() {
        let no = RunNo { epoch: 3, revision: 1042 };
        assert_eq!((no.to_string(), "3-1042".parse()), ("3-1042".to_owned(), Ok(no)));
        for bad in ["", "1042", "0-", "-1", "0-01", "+0-1", "0-1-2", "0-18446744073709551616"] {
            let message = format!("\"{bad}\" is no run; a run is named like 0-1042");
            assert_eq!(bad.parse::<RunNo>(), Err(message));
        }
    }
}
