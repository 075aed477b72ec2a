//! The objects of KV that a restored state is made of.

use crate::document::Head;
use crate::document::PackRef;
use crate::document::SegmentRef;
use crate::fault::Fault;
use crate::history;
use crate::kv::whole;
use crate::pack;

/// An object of the state.
pub(super) enum Item {
    Notes(PackRef),
    /// The key of a part of the snapshot.
    Part(String),
    Segment(SegmentRef),
}

impl Item {
    pub(super) fn key(&self) -> &str {
        match self {
            Self::Notes(PackRef { key, .. }) | Self::Part(key) | Self::Segment(SegmentRef { key, .. }) => key,
        }
    }
}

/// Whether an object of the state can be read.
pub(super) fn check(head: &Head, item: &Item, text: Option<String>) -> Result<(), Fault> {
    match item {
        Item::Notes(pack) => pack::content(pack, text).map(drop),
        Item::Part(key) => whole(key, text).map(drop),
        Item::Segment(reference) => {
            let entries = history::content(reference, &whole(&reference.key, text)?)?;
            let follows = reference.first == head.snapshot_seq() + 1
                || head.segments.iter().any(|before| before.last + 1 == reference.first);
            if follows && !entries.is_empty() {
                return Ok(());
            }
            Err(Fault::damaged(&reference.key, "its entries do not follow those before"))
        }
    }
}
