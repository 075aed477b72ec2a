//! Publication: from the log to KV.
//!
//! 1. [`Cluster::seal`] (synchronous, one transaction) fixes what the next publication consists of: segments with all
//!    entries since the last head, now and then a snapshot and a page of history, and the head that names them. The
//!    names hold the content's digests, so a retry after any fault stores the same objects under the same names.
//! 2. [`put`] writes the objects, and the head last. It borrows nothing of the cluster: commands go on meanwhile.
//! 3. [`Cluster::settle`] (synchronous) records that the head is there and drops what the log does not need any more.
//!
//! A crash between any two of these steps is mended by doing them again, by the next alarm or cron.
//! At most one [`put`] of a cluster should run at a time: two heads written across each other would show readers an
//! older one until the next publication.

use engine::message::snapshot::Snapshot;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;

use crate::cluster::Cluster;
use crate::digest::sha256;
use crate::document::FORMAT;
use crate::document::Head;
use crate::document::Milestone;
use crate::document::Page;
use crate::document::SegmentRef;
use crate::document::SnapshotRef;
use crate::document::segment_text;
use crate::fault::Fault;
use crate::kv::KvStore;
use crate::log::LogStore;
use crate::log::Meta;
use crate::log::Record;
use crate::log::Stored;
use crate::log::Write;
use crate::log::encode;
use crate::log::snapshot_pieces;
use crate::log::text_of;
use crate::name::ClusterName;
use crate::note::Stale;
use crate::past;
use crate::profile::Pace;
use crate::profile::Profile;
use crate::sealed::Sealed;

/// How far heads keep from each other: KV takes one write a second and key.
const HEADS_APART: Millis = Millis(1_000);

/// After how many bytes of entries a publication carries a new snapshot, however few they are: what has come since the
/// last one is in memory while it is written.
const ENTRY_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// A publication with everything that has to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Publication {
    /// Keys and contents, in the order in which they have to be written.
    pub objects: Vec<(String, String)>,
    /// The changes of notes among them.
    pub notes: Vec<Stale>,
    /// The key of the head.
    pub head_key: String,
    /// The head.
    pub head: Head,
}

/// What calls for a publication.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Occasion {
    /// A command, or an alarm after one.
    Command,
    /// The round of a scheduled slot.
    Round,
    /// Somebody insists.
    Demand,
}

/// Whether to publish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// Everything is published, or waits for the next round.
    No,
    /// Not before this time.
    At(Timestamp),
    /// Now.
    Now,
}

impl<S: LogStore> Cluster<S> {
    /// Whether there is something to publish, and when.
    pub fn due(&mut self, occasion: Occasion, now: Timestamp) -> Result<Due, Fault> {
        let name = self.name.as_str().to_owned();
        let Profile { pace, rounds_apart, idle, .. } = self.profile;
        let memory = self.memory()?;
        let shown = memory.published.as_ref().filter(|head| head.cluster == name);
        let is_complete = shown.map_or(memory.seq == 0 && memory.published.is_none(), |head| head.seq == memory.seq);
        if memory.sealed.is_none() && is_complete && !memory.has_stale_notes {
            return Ok(Due::No);
        }
        let last = memory.published.as_ref().map(|head| head.published_at).max(memory.head_at);
        let since = |period: Millis| last.map(|last| last + period).filter(|next| last <= Some(now) && now < *next);
        let has_news = memory.sealed.is_some() || memory.has_stale_notes;
        let is_idle = !has_news && shown.is_some_and(|head| memory.last_news <= head.seq);
        if is_idle && occasion != Occasion::Demand && since(idle).is_some() {
            return Ok(Due::No);
        }
        let gap = match (pace, occasion) {
            (Pace::EachRound, Occasion::Command) => return Ok(Due::No),
            // A later round does it, and no alarm is needed.
            (Pace::EachRound, Occasion::Round) if since(rounds_apart).is_some() => return Ok(Due::No),
            (Pace::EachRound, _) => HEADS_APART,
            (Pace::AtMostEvery(period), _) => period.max(HEADS_APART),
        };
        Ok(since(gap).map_or(Due::Now, Due::At))
    }

    /// Decides what the next publication is, or finds the one that is under way; none if all is published.
    pub fn seal(&mut self, now: Timestamp) -> Result<Option<Publication>, Fault> {
        if self.memory()?.sealed.is_none() {
            if self.due(Occasion::Demand, now)? == Due::No {
                return Ok(None);
            }
            let sealed = self.compose(now).inspect_err(|_| self.forget())?;
            self.memory()?.sealed = Some(sealed);
        }
        let Some(sealed) = self.memory()?.sealed.clone() else { return Ok(None) };
        self.contents(sealed, now).map(Some)
    }

    /// Records that a publication has been written by `now`, its head included.
    pub fn settle(&mut self, publication: &Publication, now: Timestamp) -> Result<(), Fault> {
        let Publication { head, notes, .. } = publication;
        let Profile { entries_kept: kept, answers_kept, .. } = self.profile;
        let memory = self.memory()?;
        let Some(sealed) = memory.sealed.clone().filter(|sealed| sealed.head == *head) else { return Ok(()) };
        let old = memory.published.clone();
        // What the log drops is in the published snapshot, and a little more is kept for readers close behind.
        let covered = head.snapshot_seq().min(memory.seq.saturating_sub(kept));
        let mut writes = vec![
            Write::SetMeta(Meta::Published, Some(encode(head)?)),
            Write::SetMeta(Meta::Sealed, None),
            Write::DropEntries(covered),
            Write::DropAnswers(Timestamp(memory.at.0 - answers_kept.0)),
            Write::DropSnapshots(head.snapshot_seq()),
        ];
        writes.extend(notes.iter().map(|stale| Write::NotesPublished(*stale)));
        writes.extend(self.superseded(old.as_ref(), &sealed, now));
        self.store.commit(writes).inspect_err(|_| self.forget())?;
        let has_stale_notes = !self.store.stale_buckets()?.is_empty();
        let memory = self.memory()?;
        memory.has_stale_notes = has_stale_notes;
        memory.sealed = None;
        memory.published = Some(head.clone());
        memory.head_at = Some(now);
        // What came meanwhile came after the publication was composed.
        memory.news_since = (memory.last_news > head.seq).then_some(head.published_at);
        Ok(())
    }

    /// Composes the next publication and stores it with its snapshot.
    fn compose(&mut self, now: Timestamp) -> Result<Sealed, Fault> {
        let (name, profile) = (self.name.clone(), self.profile);
        let memory = self.memory()?;
        let (seq, at, revision, snapshot_seq) = (memory.seq, memory.at, memory.state.revision, memory.snapshot_seq);
        let published = memory.published.clone();
        let last = published.as_ref().map_or(0, |head| head.seq);
        // A copy of another cluster does not stand on that one's objects.
        let is_copy = published.as_ref().is_some_and(|head| head.cluster != name.as_str());
        let is_long = memory.entry_bytes >= ENTRY_BYTES_MAX;
        let is_due = seq - snapshot_seq >= profile.snapshot_every || is_long || is_copy;
        let snapshot = is_due.then(|| text_of(&Snapshot::of(&memory.state))).transpose()?;

        let packed = self.pack_notes(published.as_ref(), now)?;
        let packs = packed.new.into_iter().map(|(pack, _)| pack).collect();
        let (old_snapshot, old_segments, history, milestones) = match published {
            Some(head) => (head.snapshot, head.segments, head.history, head.milestones),
            None => Default::default(),
        };
        let (first, kept) = match snapshot {
            Some(_) => (old_snapshot.as_ref().map_or(0, |old| old.seq), Vec::new()),
            None => merged(old_segments, last, seq, profile.segments_max),
        };
        let segments = cut(&name, &self.store.records(first, seq)?, profile.object_bytes_max);
        let segments: Vec<SegmentRef> = segments.into_iter().map(|(reference, _)| reference).collect();
        let listed: Vec<SegmentRef> = kept.into_iter().chain(segments.iter().cloned()).collect();

        let mut writes = Vec::new();
        let mut page = None;
        let has_snapshot = snapshot.is_some();
        let snapshot_bytes = snapshot.as_ref().map_or(0, |text| text.len() as u64);
        let mut head = Head {
            format: FORMAT,
            cluster: name.as_str().to_owned(),
            seq,
            revision,
            at,
            published_at: now,
            snapshot: old_snapshot.clone(),
            segments: Vec::new(),
            history,
            milestones,
            notes: Some(packed.named),
        };
        if let Some(text) = snapshot {
            let parts = parts(&text, profile.object_bytes_max).enumerate();
            let parts = parts.map(|(at, part)| name.snapshot_part(seq, at, part)).collect();
            head.snapshot = Some(SnapshotRef { seq, revision, at: Some(at), hash: sha256(text.as_bytes()), parts });
            let milestones = std::mem::take(&mut head.milestones);
            let previous = head.history.take();
            let closed = Page { format: FORMAT, previous, snapshot: old_snapshot, segments: listed, milestones };
            let key = name.page(seq, &encode(&closed)?);
            head.milestones = past::onward(&closed.milestones, Milestone { seq, revision, at, page: key.clone() });
            head.history = Some(key);
            page = Some(closed);
            writes.push(Write::PutSnapshot(Stored { seq, revision, at, text }));
        } else {
            head.segments = listed;
        }
        if let Some(kept) = profile.past_kept {
            // The pages of the others are about to be deleted.
            head.milestones.retain(|milestone| now < milestone.at + kept);
        }
        let sealed = Sealed { head, page, segments, has_snapshot, packs, stale: packed.stale };
        writes.push(Write::SetMeta(Meta::Sealed, Some(encode(&sealed)?)));
        self.store.commit(writes)?;
        if has_snapshot {
            let memory = self.memory()?;
            (memory.snapshot_seq, memory.snapshot_bytes, memory.entry_bytes) = (seq, snapshot_bytes, 0);
        }
        Ok(sealed)
    }

    /// A sealed publication with its contents, which the log still has.
    fn contents(&mut self, mut sealed: Sealed, now: Timestamp) -> Result<Publication, Fault> {
        let packs = self.packs_of(&mut sealed, now)?;
        let Sealed { head, page, segments, has_snapshot, packs: _, stale: notes } = sealed;
        let mut objects = Vec::new();
        if let Some(first) = segments.first() {
            let records = self.store.records(first.first - 1, head.seq)?;
            objects = cut(&self.name, &records, self.profile.object_bytes_max)
                .into_iter()
                .map(|(segment, text)| (segment.key, text))
                .collect();
        }
        if has_snapshot {
            let stored =
                self.store.snapshot()?.ok_or_else(|| Fault::damaged("the log", "the sealed snapshot is gone"))?;
            let texts = joined(snapshot_pieces(&self.store, stored.seq), self.profile.object_bytes_max)?;
            let named = |(at, text): (usize, String)| (self.name.snapshot_part(stored.seq, at, &text), text);
            objects.extend(texts.into_iter().enumerate().map(named));
        }
        if let (Some(page), Some(key)) = (&page, &head.history) {
            objects.push((key.clone(), encode(page)?));
        }
        objects.extend(packs);
        let is_promised =
            |key: &str| segments.iter().any(|segment| segment.key == key) || head.keys().any(|named| named == key);
        if let Some((key, _)) = objects.iter().find(|(key, _)| !is_promised(key)) {
            return Err(Fault::damaged("the sealed publication", format!("it does not name {key}")));
        }
        Ok(Publication { objects, notes, head_key: self.name.head(), head })
    }
}

/// Writes a publication. After an error it is unknown what has been written; writing it again is safe.
pub async fn put(kv: &impl KvStore, publication: &Publication) -> Result<(), Fault> {
    for (key, text) in &publication.objects {
        kv.put(key, text).await?;
    }
    // Last: whoever reads the head must find what it names.
    kv.put(&publication.head_key, &encode(&publication.head)?).await
}

/// The segments that stay, and after which entry the others are merged with what is new: the newest ones as long as they
/// are no longer than what is merged anyway, so that an entry is written again as often as the logarithm of all says.
fn merged(mut kept: Vec<SegmentRef>, last: u64, seq: u64, segments_max: usize) -> (u64, Vec<SegmentRef>) {
    let mut first = last;
    while let Some(newest) = kept.last().filter(|_| first < seq) {
        let is_short = newest.last + 1 - newest.first <= seq - first;
        if !is_short && kept.len() < segments_max {
            break;
        }
        first = newest.first - 1;
        kept.pop();
    }
    (first, kept)
}

/// Rows cut into segments of limited size.
fn cut(name: &ClusterName, records: &[Record], bytes_max: usize) -> Vec<(SegmentRef, String)> {
    let mut segments = Vec::new();
    let mut rest = records;
    while let Some(first) = rest.first() {
        let mut bytes = 0;
        let fitting = rest.iter().take_while(|record| {
            bytes += record.entry.len() + 1;
            bytes <= bytes_max
        });
        let (taken, left) = rest.split_at(fitting.count().max(1));
        rest = left;
        let last = taken.last().unwrap_or(first);
        let text = segment_text(first.seq, taken);
        let key = name.segment(first.seq, last.seq, &text);
        segments.push((SegmentRef { first: first.seq, last: last.seq, revision: last.revision, key }, text));
    }
    segments
}

/// A snapshot's text cut into parts of limited size.
fn parts(text: &str, bytes_max: usize) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (part, left) = rest.split_at(rest.floor_char_boundary(bytes_max.max(4)));
        rest = left;
        (!part.is_empty()).then_some(part)
    })
}

/// The same parts, of a text that comes in pieces of other sizes.
fn joined(pieces: impl Iterator<Item = Result<String, Fault>>, bytes_max: usize) -> Result<Vec<String>, Fault> {
    let bytes_max = bytes_max.max(4);
    let (mut parts, mut rest) = (Vec::new(), String::new());
    for piece in pieces {
        rest.push_str(&piece?);
        while rest.len() > bytes_max {
            let left = rest.split_off(rest.floor_char_boundary(bytes_max));
            rest.shrink_to_fit();
            parts.push(std::mem::replace(&mut rest, left));
        }
    }
    if !rest.is_empty() {
        parts.push(rest);
    }
    Ok(parts)
}
