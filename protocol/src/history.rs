//! Reading what was published: the newest state, and the newest entries. Old data is possible, wrong data is not:
//! each object is checked against its name, and segments must follow each other.

use engine::message::envelope::Entry;
use engine::message::event::Event;
use engine::state::world::State;
use engine::unit::time::Timestamp;
use futures_util::future::try_join_all;

use crate::document::Head;
use crate::document::Page;
use crate::document::Segment;
use crate::document::SegmentRef;
use crate::document::SnapshotRef;
use crate::fault::Fault;
use crate::kv::KvStore;
use crate::kv::object;
use crate::log::decode;
use crate::name::ClusterName;
use crate::replay::replay;
use crate::replay::restore_state;

/// The head as this reader sees it; none if nothing has been published.
pub async fn head(kv: &impl KvStore, cluster: &ClusterName) -> Result<Option<Head>, Fault> {
    let key = cluster.head();
    kv.get(&key).await?.map(|text| decode(&key, &text)).transpose()
}

/// A head that was given up, by its key; none if nothing of this cluster can have it.
pub async fn given_up(kv: &impl KvStore, cluster: &ClusterName, key: &str) -> Result<Option<Head>, Fault> {
    if !key.starts_with(&cluster.given_up_start()) {
        return Ok(None);
    }
    decode(key, &object(kv, key).await?).map(Some)
}

/// A snapshot's bytes.
pub async fn snapshot_text(kv: &impl KvStore, reference: &SnapshotRef) -> Result<String, Fault> {
    Ok(snapshot_parts(kv, reference).await?.concat())
}

async fn snapshot_parts(kv: &impl KvStore, reference: &SnapshotRef) -> Result<Vec<String>, Fault> {
    try_join_all(reference.parts.iter().map(|key| object(kv, key))).await
}

/// A segment's entries, each with its number.
pub async fn segment(kv: &impl KvStore, reference: &SegmentRef) -> Result<Vec<(u64, Entry)>, Fault> {
    content(reference, &object(kv, &reference.key).await?)
}

/// The entries of a segment's text, each with its number.
pub(crate) fn content(reference: &SegmentRef, text: &str) -> Result<Vec<(u64, Entry)>, Fault> {
    let SegmentRef { first, last, revision, key } = reference;
    let segment: Segment = decode(key, text)?;
    let entries: Vec<(u64, Entry)> = (*first..).zip(segment.entries).collect();
    let end = entries.last().map(|(seq, entry)| (*seq, entry.revision));
    if segment.first == *first && end == Some((*last, *revision)) {
        Ok(entries)
    } else {
        Err(Fault::damaged(key, "it has other entries than its name says"))
    }
}

/// The entries of several segments, in order. All are asked for at once: a reader far from the store waits once.
pub async fn segments(kv: &impl KvStore, references: &[SegmentRef]) -> Result<Vec<(u64, Entry)>, Fault> {
    let lists = try_join_all(references.iter().map(|reference| segment(kv, reference))).await?;
    Ok(lists.into_iter().flatten().collect())
}

/// Segments, the newest first, from the head back through the pages of history, as long as `is_wanted`; at most
/// `pages_max` pages.
pub async fn segments_back(
    kv: &impl KvStore,
    head: &Head,
    pages_max: usize,
    is_wanted: impl Fn(&SegmentRef) -> bool,
) -> Result<Vec<SegmentRef>, Fault> {
    let mut wanted = Vec::new();
    let mut segments = head.segments.clone();
    let mut next = head.history.clone();
    let mut pages = 0;
    loop {
        for segment in segments.into_iter().rev() {
            if !is_wanted(&segment) {
                return Ok(wanted);
            }
            wanted.push(segment);
        }
        let Some(key) = next.filter(|_| pages < pages_max) else { return Ok(wanted) };
        let page: Page = decode(&key, &object(kv, &key).await?)?;
        (segments, next) = (page.segments, page.previous);
        pages += 1;
    }
}

/// A head and the state that it names.
#[derive(Clone, Debug)]
pub struct Folded {
    /// The head.
    pub head: Head,
    /// The state.
    pub state: State,
}

/// The state that a head names. Where it goes on from what is `known`, only what is new is read.
pub async fn fold(kv: &impl KvStore, head: &Head, known: Option<Folded>) -> Result<Folded, Fault> {
    let is_older = |known: &Folded| {
        known.head.cluster == head.cluster && known.head.snapshot == head.snapshot && known.head.seq <= head.seq
    };
    if let Some(Folded { head: before, mut state }) = known.filter(is_older) {
        let new = head.segments.iter().filter(|segment| segment.last > before.seq).cloned().collect::<Vec<_>>();
        let entries = segments(kv, &new).await?;
        if leads_on(&before, head, &entries) {
            for (_, entry) in entries.iter().filter(|(seq, _)| *seq > before.seq) {
                replay(&mut state, entry)?;
            }
            return Ok(Folded { head: head.clone(), state });
        }
    }
    let mut state = match &head.snapshot {
        Some(reference) => {
            let parts = snapshot_parts(kv, reference).await?;
            restore_state("the published snapshot", parts.into_iter().map(Ok))?
        }
        None => State::default(),
    };
    for (_, entry) in segments(kv, &head.segments).await? {
        replay(&mut state, &entry)?;
    }
    Ok(Folded { head: head.clone(), state })
}

/// Whether new entries go on from an older head: it has the same segments before them, by their digests, or they begin
/// before its end and have its last entry. Another cluster of that name has other ones, decided at other times.
fn leads_on(before: &Head, head: &Head, entries: &[(u64, Entry)]) -> bool {
    match entries.first() {
        Some((seq, _)) if *seq <= before.seq => {
            entries.iter().any(|(seq, entry)| mark(*seq, entry) == (before.seq, before.revision, before.at))
        }
        Some(_) | None => head.segments.starts_with(&before.segments),
    }
}

/// By what an entry is told from one of another log.
pub(crate) fn mark(seq: u64, entry: &Entry) -> (u64, u64, Timestamp) {
    (seq, entry.revision, entry.at)
}

/// Whether an entry contains a round.
#[must_use]
pub fn is_round(entry: &Entry) -> bool {
    entry.events.iter().any(|event| matches!(event, Event::Rounded { .. }))
}

/// Entries after a revision with their numbers, in order; none if more than `pages_max` pages would have to be read.
pub async fn entries_after(
    kv: &impl KvStore,
    head: &Head,
    revision: u64,
    pages_max: usize,
) -> Result<Option<Vec<(u64, Entry)>>, Fault> {
    let mut wanted = segments_back(kv, head, pages_max, |segment| segment.revision > revision).await?;
    wanted.reverse();
    let mut entries = segments(kv, &wanted).await?;
    let is_complete = match entries.first() {
        Some((seq, first)) => *seq == 1 || begin(first) <= revision,
        None => head.revision <= revision,
    };
    entries.retain(|(_, entry)| entry.revision > revision);
    Ok(is_complete.then_some(entries))
}

/// The revision before an entry's events.
pub(crate) fn begin(entry: &Entry) -> u64 {
    let events = u64::try_from(entry.events.len()).unwrap_or(u64::MAX);
    entry.revision.saturating_sub(events)
}
