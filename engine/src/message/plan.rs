//! A plan: what somebody would change, and when.

use serde::Deserialize;
use serde::Serialize;

use crate::message::command::Command;
use crate::unit::time::Timestamp;

/// A command at a time, which can be switched off.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// When; what is meant for a time before the plan's beginning happens at its beginning.
    pub at: Timestamp,
    /// What; never a round, a plan, or the declaration of a cluster.
    pub command: Command,
    /// Whether the plan goes on without it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_off: bool,
}

/// One possible future: changes in their order. Those of one moment are made together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variant {
    /// What people call it.
    pub name: String,
    /// What is different from the base.
    pub changes: Vec<Change>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
fn is_false(value: &bool) -> bool {
    !value
}
