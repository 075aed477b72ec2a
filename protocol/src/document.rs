//! What is published: heads, segments and pages. Formats never change their meaning.

use engine::message::envelope::Entry;
use engine::unit::time::Timestamp;
use serde::Deserialize;
use serde::Serialize;

use crate::log::Record;
use crate::note::Bucket;

/// The format of everything here.
pub const FORMAT: u32 = 1;

/// Where a snapshot is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SnapshotRef {
    /// The last entry that it contains.
    pub seq: u64,
    /// The revision of the state.
    pub revision: u64,
    /// When that entry was decided; unknown of the oldest snapshots.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// The digest of the state.
    pub hash: String,
    /// The keys of its parts, in order.
    pub parts: Vec<String>,
}

/// Where a segment is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SegmentRef {
    /// Its first entry.
    pub first: u64,
    /// Its last entry.
    pub last: u64,
    /// The revision after its last entry.
    pub revision: u64,
    /// Its key.
    pub key: String,
}

/// Where an earlier part of the history ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Milestone {
    /// Its last entry.
    pub seq: u64,
    /// The revision after it.
    pub revision: u64,
    /// When it was decided.
    pub at: Timestamp,
    /// The page that ends with it.
    pub page: String,
}

/// Where notes are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PackRef {
    /// The key of the pack.
    pub key: String,
    /// The buckets that are read from it, each with the bytes that it has there.
    pub buckets: Vec<(Bucket, u64)>,
}

/// What there is: the newest snapshot and all segments since it, in order and without gaps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Head {
    /// The format.
    pub format: u32,
    /// The cluster that published it.
    pub cluster: String,
    /// The last entry.
    pub seq: u64,
    /// The revision after it.
    pub revision: u64,
    /// When that entry was decided.
    pub at: Timestamp,
    /// When this head was made.
    pub published_at: Timestamp,
    /// The newest snapshot; none at the beginning, where the state is the empty one.
    pub snapshot: Option<SnapshotRef>,
    /// The segments since the snapshot.
    pub segments: Vec<SegmentRef>,
    /// The page with what was before the snapshot.
    pub history: Option<String>,
    /// Ways into the history, the oldest first ([`crate::past`]).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub milestones: Vec<Milestone>,
    /// Where the notes are; heads from before notes had digests do not say it ([`crate::pack`]).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notes: Option<Vec<PackRef>>,
}

impl Head {
    /// The last entry that the snapshot contains.
    #[must_use]
    pub fn snapshot_seq(&self) -> u64 {
        self.snapshot.as_ref().map_or(0, |snapshot| snapshot.seq)
    }

    /// Every key that it names.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        let parts = self.snapshot.iter().flat_map(|snapshot| &snapshot.parts);
        let pages = self.milestones.iter().map(|milestone| &milestone.page).chain(&self.history);
        let notes = self.notes.iter().flatten().map(|pack| &pack.key);
        let segments = self.segments.iter().map(|segment| &segment.key);
        parts.chain(segments).chain(pages).chain(notes).map(String::as_str)
    }
}

/// A page of history: the entries between two snapshots.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Page {
    /// The format.
    pub format: u32,
    /// The page before it.
    pub previous: Option<String>,
    /// The snapshot before its first entry; none at the beginning.
    pub snapshot: Option<SnapshotRef>,
    /// Its segments.
    pub segments: Vec<SegmentRef>,
    /// Ways further back, the oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub milestones: Vec<Milestone>,
}

/// Entries, as they are published.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Segment {
    /// The format.
    pub format: u32,
    /// The number of its first entry.
    pub first: u64,
    /// The entries.
    pub entries: Vec<Entry>,
}

/// Rows as the text of a segment.
#[must_use]
pub fn segment_text(first: u64, records: &[Record]) -> String {
    let entries: Vec<&str> = records.iter().map(|record| record.entry.as_str()).collect();
    format!("{{\"format\":{FORMAT},\"first\":{first},\"entries\":[{}]}}", entries.join(","))
}
