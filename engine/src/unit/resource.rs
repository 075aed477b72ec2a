//! The two kinds of machines (rules 1.2).

use serde::Deserialize;
use serde::Serialize;

/// The kind of machines; what is idle on one kind is never lent to jobs of the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ResourceType {
    /// Lingjun AI computing.
    Lingjun,
    /// General computing.
    General,
}

impl ResourceType {
    /// As people write it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Lingjun => "Lingjun",
            Self::General => "general computing",
        }
    }
}
