//! A whole cluster as one file: everything that its head names, directly and through the pages of its past.
//!
//! A file is lines of JSON, each a [`Line`], and after the line of an object its text: first what the file is, then the
//! objects, last how many there have been. What is named comes before what names it, and the head is the last object. So
//! a file is read and sent in one go, with one object in memory; and a reader can tell each kind of damage with its place,
//! for all objects have the digests of their texts in their keys, and who has the head knows all keys.
//!
//! - [`Saving`] says what to read, and what to write of that.
//! - [`Opened`] is a file that is known to be whole: every object, and the state that they come to.
//! - [`Renaming`] makes the same objects ones of another cluster, so that it stands on nothing of the first.
//!
//! Access keys are in it, as everything of the state; their secrets are not, since no storage has them. What an object keeps
//! beside the log is not in it: sessions, incidents, when keys were used, contacts of agents, and the ends of what ended
//! jobs have printed.

use engine::unit::time::Timestamp;
use serde::Deserialize;
use serde::Serialize;

mod naming;
mod opened;
mod reader;
mod saving;

pub use naming::Renaming;
pub use opened::Opened;
pub use reader::Reader;
pub use saving::Saving;

/// The format of files.
pub const FORMAT: u32 = 1;
/// How many bytes an object may have: twice of what they are cut to, for an entry is never cut.
pub const OBJECT_BYTES_MAX: usize = 16 * 1024 * 1024;

/// A line of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Line {
    /// What the file is: the first line.
    TidegateBackup(Title),
    /// An object, whose text follows.
    Object(Object),
    /// The last line.
    End(End),
}

/// What a file is a backup of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Title {
    /// The format.
    pub format: u32,
    /// The cluster.
    pub cluster: String,
    /// Its last entry.
    pub seq: u64,
    /// The revision after it.
    pub revision: u64,
    /// When that entry was decided.
    pub at: Timestamp,
}

/// An object, as KV has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Object {
    /// Its key, which ends with the digest of its text.
    pub key: String,
    /// How many bytes its text has. An end of line follows them.
    pub bytes: u64,
}

/// The end of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct End {
    /// How many objects there have been.
    pub objects: u64,
    /// Objects of the past that KV did not have any more, or only damaged.
    pub missing: Vec<Missing>,
}

/// An object of the past that could not be saved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Missing {
    /// Its key.
    pub key: String,
    /// What was wrong with it.
    pub reason: String,
}
