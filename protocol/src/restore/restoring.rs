//! How far a restore is, as it is kept while it goes on.

use engine::unit::time::Timestamp;
use serde::Deserialize;
use serde::Serialize;

use crate::document::Head;
use crate::fault::Fault;
use crate::fault::Progress;
use crate::gap::Gap;
use crate::log::Meta;
use crate::log::Write;
use crate::log::encode;
use crate::pack;
use crate::restore::item::Item;
use crate::restore::way::Way;

/// How far a restore is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Restoring {
    /// What is restored.
    pub head: Head,
    /// Whether the log still has something else, which is dropped once all objects of the state are known to be whole.
    pub is_check: bool,
    /// How many objects of the state have been read.
    pub done: usize,
    /// The last entry that is in the log.
    pub last: u64,
    /// How many objects have been read in all.
    pub n_read: u64,
    /// Whether KV shows the head. If it does not, it is put there once the restore is over.
    #[serde(default)]
    pub is_shown: bool,
    /// Where the past is.
    pub way: Way,
    /// Entries of the past that KV does not have, the newest first.
    pub missing: Vec<Gap>,
}

impl Restoring {
    pub(super) fn new(head: Head, is_check: bool, is_shown: bool) -> Self {
        let (last, way) = (head.snapshot_seq(), Way::of(&head));
        Self { head, is_check, done: 0, last, n_read: 0, is_shown, way, missing: Vec::new() }
    }

    /// In a few words.
    #[must_use]
    pub fn progress(&self) -> Progress {
        let state = self.items().map_or(0, |items| items.len() as u64);
        Progress { revision: self.head.revision, read: self.n_read, state }
    }

    /// The objects of the state, in the order in which they are read.
    pub(super) fn items(&self) -> Result<Vec<Item>, Fault> {
        let parts = self.head.snapshot.iter().flat_map(|snapshot| snapshot.parts.iter().cloned());
        let notes = pack::named(&self.head)?.into_iter().map(Item::Notes);
        Ok(notes.chain(parts.map(Item::Part)).chain(self.head.segments.iter().cloned().map(Item::Segment)).collect())
    }

    /// The key that is to be read next, if answers since some time are remembered.
    pub(super) fn wants<'a>(&'a self, items: &'a [Item], remembered: Timestamp) -> Option<&'a str> {
        match items.get(self.done) {
            Some(item) => Some(item.key()),
            None => self.way.wants(remembered),
        }
    }

    pub(super) fn meta(&self) -> Result<Write, Fault> {
        Ok(Write::SetMeta(Meta::Restoring, Some(encode(self)?)))
    }
}
