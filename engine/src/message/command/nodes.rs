//! The nodes that a job chooses (rules 1.4).

use std::sync::Arc;

use serde::Deserialize;
use serde::Serialize;

use crate::unit::id::NodeId;

/// The nodes that a job may run on, by their names. Everything that is chosen holds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct NodesByName {
    /// Only nodes with GPUs of this type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpu_type: Option<Arc<str>>,
    /// Only these; all if there is none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub only: Vec<NodeId>,
    /// None of these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub without: Vec<NodeId>,
}

impl NodesByName {
    /// Whether all nodes will do.
    #[must_use]
    pub fn is_any(&self) -> bool {
        *self == Self::default()
    }
}
