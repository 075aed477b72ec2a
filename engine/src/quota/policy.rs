//! The two preemption policies of a quota (rules 5.1 and 5.2).

use std::fmt;

use serde::Deserialize;
use serde::Serialize;

use crate::unit::priority::Module;
use crate::unit::priority::ModuleSet;
use crate::unit::priority::Priority;
use crate::unit::priority::PrioritySet;

/// Whose jobs self-level preemption may take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// Jobs of the quota itself and of its siblings.
    #[default]
    SameLevel,
    /// Jobs of the quota itself.
    Own,
    /// Nobody's jobs: only what siblings leave idle.
    SiblingsIdle,
}

/// High-priority jobs of the quota may take amounts of low-priority jobs at the same level.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SelfLevelPreemption {
    /// Priorities that may preempt.
    pub high: PrioritySet,
    /// Priorities that may be preempted; every one lower than every high one.
    pub low: PrioritySet,
    /// Modules whose jobs may be preempted.
    pub modules: ModuleSet,
    /// Whose jobs.
    #[serde(default)]
    pub scope: Scope,
}

/// Jobs submitted to the quota may take amounts of its descendants' jobs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ChildLevelPreemption {
    /// Priorities that may be preempted, whatever the preemptor's own.
    pub preemptible: PrioritySet,
    /// Modules whose jobs may be preempted.
    pub modules: ModuleSet,
}

/// What is wrong with a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PolicyFault {
    /// No priority is high.
    NoHigh,
    /// No priority is low.
    NoLow,
    /// No priority is preemptible.
    NoPreemptible,
    /// No module is preemptible.
    NoModule,
    /// A low priority is not lower than every high one.
    LowNotBelowHigh {
        /// The highest of the low ones.
        low: Priority,
        /// The lowest of the high ones.
        high: Priority,
    },
}

impl fmt::Display for PolicyFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoHigh => f.write_str("the High set is empty; name at least one priority that may preempt"),
            Self::NoLow => f.write_str("the Low set is empty; name at least one priority that may be preempted"),
            Self::NoPreemptible => f.write_str("no priority is preemptible; name at least one"),
            Self::NoModule => f.write_str("no module is preemptible; name at least one of DLC, DSW and EAS"),
            Self::LowNotBelowHigh { low, high } => {
                write!(
                    f,
                    "Low priority {low} is not below High priority {high}; every Low must be lower than every High"
                )
            }
        }
    }
}

impl SelfLevelPreemption {
    /// What is wrong with it, if anything.
    pub fn check(&self) -> Result<(), PolicyFault> {
        let high = self.high.lowest().ok_or(PolicyFault::NoHigh)?;
        if self.scope == Scope::SiblingsIdle {
            return Ok(());
        }
        let low = self.low.highest().ok_or(PolicyFault::NoLow)?;
        if low >= high {
            return Err(PolicyFault::LowNotBelowHigh { low, high });
        }
        if self.modules.is_empty() { Err(PolicyFault::NoModule) } else { Ok(()) }
    }

    /// Whether it allows taking a job of this priority and module. Low {4} means exactly 4.
    #[must_use]
    pub fn may_take(&self, priority: Priority, module: Module) -> bool {
        self.scope != Scope::SiblingsIdle && self.low.contains(priority) && self.modules.contains(module)
    }
}

impl ChildLevelPreemption {
    /// What is wrong with it, if anything.
    pub fn check(&self) -> Result<(), PolicyFault> {
        self.preemptible.lowest().ok_or(PolicyFault::NoPreemptible)?;
        if self.modules.is_empty() { Err(PolicyFault::NoModule) } else { Ok(()) }
    }

    /// Whether it allows taking a job of this priority and module.
    #[must_use]
    pub fn may_take(&self, priority: Priority, module: Module) -> bool {
        self.preemptible.contains(priority) && self.modules.contains(module)
    }
}
