//! What a publication is going to be.

use serde::Deserialize;
use serde::Serialize;

use crate::document::Head;
use crate::document::PackRef;
use crate::document::Page;
use crate::document::SegmentRef;
use crate::note::Stale;

/// A publication that has been decided on and may have been written in part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sealed {
    /// The head to be.
    pub head: Head,
    /// The page that the head's history names, if it is new.
    pub page: Option<Page>,
    /// The segments that are new.
    pub segments: Vec<SegmentRef>,
    /// Whether the head's snapshot is new.
    pub has_snapshot: bool,
    /// The packs of notes that are new.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub packs: Vec<PackRef>,
    /// The changes of notes that it has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stale: Vec<Stale>,
}

impl Sealed {
    /// A head with nothing new beside it: what it names is there, and KV does not show it.
    pub(crate) fn again(head: Head) -> Self {
        Self { head, page: None, segments: Vec::new(), has_snapshot: false, packs: Vec::new(), stale: Vec::new() }
    }
}
