//! A command on its way, and its answer.

use serde::Deserialize;
use serde::Serialize;

use crate::message::command::Command;
use crate::message::event::Event;
use crate::message::rejection::Rejection;
use crate::unit::id::CommandId;
use crate::unit::id::UserId;
use crate::unit::time::Timestamp;

/// A command with its name, its sender and the state it was made for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Envelope {
    /// The message format.
    pub format: u32,
    /// The command's name: a second one with this name and this body gets the first answer again.
    pub id: CommandId,
    /// Who sends it. The worker overwrites it by whoever has been authenticated.
    #[serde(default)]
    pub by: Option<UserId>,
    /// Refuse when the cluster has moved on from this revision.
    #[serde(default)]
    pub base: Option<u64>,
    /// Decide, but store nothing.
    #[serde(default)]
    pub dry_run: bool,
    /// The command.
    pub command: Command,
}

/// The answer to an accepted command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Receipt {
    /// The command's name.
    pub id: CommandId,
    /// The revision after it: the number of events since the beginning.
    pub revision: u64,
    /// When it was decided.
    pub at: Timestamp,
    /// What happened, the round at once included.
    pub events: Vec<Event>,
}

/// An accepted command or round in the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The message format.
    pub format: u32,
    /// The revision after it.
    pub revision: u64,
    /// When it was decided.
    pub at: Timestamp,
    /// What was asked for.
    pub envelope: Envelope,
    /// What happened.
    pub events: Vec<Event>,
}

/// What handling a command comes to.
pub type Answer = Result<Receipt, Rejection>;
