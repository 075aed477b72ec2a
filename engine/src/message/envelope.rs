//! A command on its way, and its answer.

use std::fmt;

use serde::Deserialize;
use serde::Deserializer;
use serde::Serialize;
use serde::de::Error;
use serde::de::IgnoredAny;
use serde::de::MapAccess;
use serde::de::Visitor;

use crate::message::command::Command;
use crate::message::event::Event;
use crate::message::rejection::Rejection;
use crate::unit::id::CommandId;
use crate::unit::id::UserId;
use crate::unit::time::Timestamp;

/// A command with its name, its sender and the state it was made for.
// `C` is the command as far as it is known: as sent, or unread by who only watches, or none where it may not be seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Envelope<C = Command> {
    /// The message format.
    pub format: u32,
    /// The command's name: a second one with this name and this body gets the first answer again.
    pub id: CommandId,
    /// Who sends it. The worker overwrites it by the name that has been authenticated.
    #[serde(default)]
    pub by: Option<UserId>,
    /// Refuse when the cluster has moved on from this revision.
    #[serde(default)]
    pub base: Option<u64>,
    /// Decide, but store nothing.
    #[serde(default)]
    pub dry_run: bool,
    /// The command.
    pub command: C,
}

/// The answer to an accepted command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Entry<C = Command> {
    /// The message format.
    pub format: u32,
    /// The revision after it.
    pub revision: u64,
    /// When it was decided.
    pub at: Timestamp,
    /// What was asked for.
    pub envelope: Envelope<C>,
    /// What happened.
    pub events: Vec<Event>,
}

/// A command of which only the kind is read: enough for whoever watches, and a small part of the code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandKind {
    /// The command's kind, such as `submit_job`; none where it may not be seen.
    pub kind: Option<String>,
}

impl<'de> Deserialize<'de> for CommandKind {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        reader.deserialize_any(KindVisitor)
    }
}

struct KindVisitor;

impl<'de> Visitor<'de> for KindVisitor {
    type Value = CommandKind;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a command or null")
    }

    fn visit_unit<E: Error>(self) -> Result<CommandKind, E> {
        Ok(CommandKind { kind: None })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<CommandKind, A::Error> {
        let kind = map.next_key()?;
        map.next_value::<IgnoredAny>()?;
        Ok(CommandKind { kind })
    }
}

/// What handling a command comes to.
pub type Answer = Result<Receipt, Rejection>;
