//! Who was looked at when amounts were to be taken (rules 10.1).

use serde::Deserialize;
use serde::Serialize;

/// How many running jobs were looked at as victims, and why the others are safe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Considered {
    /// Jobs that the rule allows to take.
    pub eligible: u32,
    /// Safe by priority.
    pub by_priority: u32,
    /// Safe by module.
    pub by_module: u32,
    /// Safe by their quota's minimum run time.
    pub by_min_runtime: u32,
    /// Stopping already.
    pub stopping: u32,
}
