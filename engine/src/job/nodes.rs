//! Which nodes a job may run on (rules 1.4).

use std::sync::Arc;

use serde::Deserialize;
use serde::Serialize;

use crate::unit::id::NodeNo;

/// The nodes that a job may run on: all, unless something is chosen. Everything that is chosen holds.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct NodeChoice {
    /// Only nodes with GPUs of this type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpu_type: Option<Arc<str>>,
    /// Only these, sorted; all if there is none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub only: Vec<NodeNo>,
    /// None of these, sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub without: Vec<NodeNo>,
    /// None of these either, sorted: a run of the job did not start there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub passed_over: Vec<NodeNo>,
}

impl NodeChoice {
    /// Whether all nodes will do.
    #[must_use]
    pub fn is_any(&self) -> bool {
        *self == Self::default()
    }

    /// The same, and none of these.
    #[must_use]
    pub fn passing_over(&self, nodes: &[NodeNo]) -> Self {
        Self { passed_over: nodes.to_vec(), ..self.clone() }
    }

    /// Whether a node will do, with GPUs of this type.
    #[must_use]
    pub fn allows(&self, no: NodeNo, gpu_type: Option<&str>) -> bool {
        (self.only.is_empty() || self.only.binary_search(&no).is_ok())
            && self.without.binary_search(&no).is_err()
            && self.passed_over.binary_search(&no).is_err()
            && self.gpu_type.as_ref().is_none_or(|wanted| gpu_type == Some(wanted))
    }
}
