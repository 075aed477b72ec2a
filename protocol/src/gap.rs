//! Entries that KV does not have any more, or only damaged: said with the object and the reason, and passed over where
//! the state does not need them.

use std::fmt;

use serde::Deserialize;
use serde::Serialize;

use crate::document::SegmentRef;
use crate::fault::Fault;

/// Entries that are missing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Gap {
    /// The first of them.
    pub first: u64,
    /// The last of them.
    pub last: u64,
    /// The object that had them, or that led to them.
    pub key: String,
    /// What is wrong with it.
    pub reason: String,
}

impl Gap {
    /// What is missing because an object could not be read.
    ///
    /// # Errors
    /// A fault that says nothing about the object: KV may have it all the same.
    pub fn of(fault: Fault, key: &str, first: u64, last: u64) -> Result<Self, Fault> {
        let reason = match fault {
            Fault::Missing { .. } => "is gone".to_owned(),
            Fault::Damaged { place: _, reason } => format!("is damaged: {reason}"),
            Fault::Log { .. } | Fault::Kv { .. } | Fault::Unfounded | Fault::Restoring(_) | Fault::Deleted => {
                return Err(fault);
            }
        };
        Ok(Self { first, last, key: key.to_owned(), reason })
    }

    /// What is missing because a segment could not be read.
    ///
    /// # Errors
    /// As above.
    pub fn of_segment(fault: Fault, segment: &SegmentRef) -> Result<Self, Fault> {
        Self::of(fault, &segment.key, segment.first, segment.last)
    }
}

impl fmt::Display for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { first, last, key, reason } = self;
        write!(f, "entries {first}–{last} are missing: {key} {reason}")
    }
}
