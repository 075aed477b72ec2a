//! From KV alone to the same cluster, object by object.
//!
//! [`Cluster::begin_restore`] notes which head is to be restored; while that is noted, nothing else is done with the
//! cluster. Then whoever drives it asks [`Cluster::restore_wants`] for a key, reads it, and gives what was there to
//! [`Cluster::restore_with`], until nothing is wanted and [`Cluster::finish_restore`] makes the cluster what the head
//! stands for. Each object is one commit, and the commit says how far the restore is: so it goes on after a crash at any
//! moment, in as many invocations as it takes, with one object in memory.
//!
//! First come the notes, the snapshot and the entries since: the state. Then, page by page back into the past, what was
//! answered in the last days ([`way`]), so that retries keep their first answers; what is missing there is noted and
//! passed over. A log that has something is dropped only once all objects of the state have been read and are whole.

use engine::message::envelope::Entry;
use engine::unit::time::Timestamp;

use crate::cluster::Cluster;
use crate::cluster::Position;
use crate::digest;
use crate::document::Head;
use crate::fault::Fault;
use crate::gap::Gap;
use crate::history;
use crate::kv::KvStore;
use crate::kv::whole;
use crate::log::Answered;
use crate::log::LogStore;
use crate::log::Meta;
use crate::log::Record;
use crate::log::Stored;
use crate::log::Write;
use crate::log::decode;
use crate::log::encode;
use crate::log::snapshot_pieces;
use crate::memory::fold;
use crate::note::NoteChange;
use crate::pack;
use crate::restore::item::Item;
use crate::restore::item::check;
use crate::restore::restoring::Restoring;
use crate::sealed::Sealed;

mod item;
pub mod restoring;
pub mod steps;
pub mod way;

/// How many batches the entries of a full segment are committed in.
const BATCHES: usize = 8;

/// What came of the wish to restore.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Begun {
    /// It has begun, or goes on.
    Yes,
    /// The log is what the head says.
    Same,
    /// The log has something else, and nobody insisted. It was left alone.
    Different(Position),
    /// The cluster has been further than what would be restored: readers would see it go back. It was left alone.
    Behind {
        /// The revision that readers may have seen.
        shown: u64,
        /// The revision of the head.
        restored: u64,
    },
}

/// What goes into the log at once.
#[derive(Default)]
struct Batch {
    writes: Vec<Write>,
    bytes: usize,
}

/// The last entry of a head, if it names a segment: by it a log is known to be the same.
pub async fn last_entry(kv: &impl KvStore, head: &Head) -> Result<Option<Entry>, Fault> {
    let Some(reference) = head.segments.last() else { return Ok(None) };
    Ok(history::segment(kv, reference).await?.pop().map(|(_, entry)| entry))
}

impl<S: LogStore> Cluster<S> {
    /// Begins to make what a head stands for the content of the log, or goes on where that is under way. A log with
    /// something else is replaced only by force, and never by less than readers have seen: neither than `shown`, which is
    /// what KV shows of this cluster, nor than what the log says, as far as it can be read. Another name has no such
    /// readers. `last` is the head's [last entry](last_entry).
    pub fn begin_restore(
        &mut self,
        head: Head,
        last: Option<&Entry>,
        is_forced: bool,
        shown: u64,
    ) -> Result<Begun, Fault> {
        let under_way = self.restoring()?;
        if !is_forced && under_way.as_ref().is_some_and(|restoring| restoring.head == head) {
            return Ok(Begun::Yes);
        }
        if !is_forced && under_way.is_none() {
            let here = self.position()?;
            if here.seq > 0 {
                let is_same = self.is_at(&head, last, &here)?;
                return Ok(if is_same { Begun::Same } else { Begun::Different(here) });
            }
        }
        let is_shown = head.revision == shown;
        // A log that is damaged does not tell how far it was; it is replaced all the same.
        let shown = self.mark().map_or(0, |here| here.revision).max(shown);
        if head.revision < shown {
            return Ok(Begun::Behind { shown, restored: head.revision });
        }
        let has_log = self.store.last_within(u64::MAX)?.is_some() || self.store.snapshot()?.is_some();
        let is_check = has_log && under_way.is_none_or(|restoring| restoring.is_check);
        let restoring = Restoring::new(head, is_check, is_shown);
        let mut writes = vec![restoring.meta()?];
        if !restoring.is_check {
            writes.insert(0, Write::Clear);
        }
        self.forget();
        self.store.commit(writes)?;
        Ok(Begun::Yes)
    }

    /// Whether the log is what a head says.
    fn is_at(&self, head: &Head, last: Option<&Entry>, here: &Position) -> Result<bool, Fault> {
        if (head.seq, head.revision) != (here.seq, here.revision) {
            return Ok(false);
        }
        let own = self.store.records(here.seq - 1, here.seq)?;
        match (last, own.first()) {
            (Some(last), Some(own)) => Ok(Record::of(here.seq, last)? == *own),
            (None, _) => Ok(head.snapshot.as_ref().is_some_and(|snapshot| snapshot.hash == here.hash)),
            (Some(_), None) => Ok(false),
        }
    }

    /// The restore that is under way.
    pub fn restoring(&self) -> Result<Option<Restoring>, Fault> {
        self.store.meta(Meta::Restoring)?.map(|text| decode("the restore", &text)).transpose()
    }

    /// The key that is to be read next; none if all has been read, or nothing is restored.
    pub fn restore_wants(&mut self) -> Result<Option<String>, Fault> {
        let Some(restoring) = self.restoring()? else { return Ok(None) };
        let items = restoring.items()?;
        Ok(restoring.wants(&items, self.remembered(&restoring.head)).map(str::to_owned))
    }

    /// Takes what KV holds under the key that was wanted.
    ///
    /// # Errors
    /// What the state needs is not there, or damaged. The restore stays where it is; if the log still has something else,
    /// it is given up.
    pub fn restore_with(&mut self, key: &str, text: Option<String>) -> Result<(), Fault> {
        let Some(mut restoring) = self.restoring()? else { return Ok(()) };
        let items = restoring.items()?;
        if restoring.wants(&items, self.remembered(&restoring.head)) != Some(key) {
            return Ok(());
        }
        restoring.n_read += 1;
        let Some(item) = items.get(restoring.done) else { return self.take_past(restoring, text) };
        let is_last = restoring.done + 1 == items.len();
        if !restoring.is_check {
            return self.take(restoring, item, text);
        }
        if let Err(fault) = check(&restoring.head, item, text) {
            self.store.commit(vec![Write::SetMeta(Meta::Restoring, None)])?;
            return Err(fault);
        }
        restoring.done += 1;
        if is_last {
            let next = Restoring::new(restoring.head, false, restoring.is_shown);
            let next = Restoring { n_read: restoring.n_read, ..next };
            self.forget();
            return self.store.commit(vec![Write::Clear, next.meta()?]);
        }
        self.store.commit(vec![restoring.meta()?])
    }

    /// Takes an object of the state into the log.
    fn take(&mut self, mut restoring: Restoring, item: &Item, text: Option<String>) -> Result<(), Fault> {
        let mut writes = Vec::new();
        match item {
            Item::Notes(pack) => {
                let notes = pack::content(pack, text)?;
                writes.extend(notes.into_iter().map(|note| Write::ChangeNote(NoteChange::Put(note))));
            }
            Item::Part(key) => {
                let text = whole(key, text)?;
                if let Some(snapshot) = &restoring.head.snapshot {
                    let at = snapshot.at.unwrap_or(restoring.head.at);
                    let (seq, revision) = (snapshot.seq, snapshot.revision);
                    writes.push(Write::ExtendSnapshot(Stored { seq, revision, at, text }));
                }
            }
            Item::Segment(reference) => {
                let entries = history::content(reference, &whole(&reference.key, text)?)?;
                self.append_all(&mut restoring, entries)?;
            }
        }
        restoring.done += 1;
        writes.push(restoring.meta()?);
        self.store.commit(writes)
    }

    /// Takes entries into the log, some at a time.
    fn append_all(&mut self, restoring: &mut Restoring, entries: Vec<(u64, Entry)>) -> Result<(), Fault> {
        let remembered = self.remembered(&restoring.head);
        let mut batch = Batch::default();
        let known = restoring.last;
        for (seq, entry) in entries.into_iter().filter(|(seq, _)| *seq > known) {
            if seq != restoring.last + 1 {
                return Err(Fault::damaged("the published log", format!("entry {seq} follows {}", restoring.last)));
            }
            let record = Record::of(seq, &entry)?;
            batch.bytes += record.entry.len();
            batch.writes.push(Write::Append(record));
            // What had been forgotten stays so: its name may have been used again.
            if entry.at >= remembered {
                batch.writes.push(Write::Remember(entry.envelope.id.clone(), Answered::of(&entry)?));
            }
            restoring.last = seq;
            self.commit_if_full(&mut batch, restoring)?;
        }
        self.commit_batch(batch, restoring)
    }

    fn commit_if_full(&mut self, batch: &mut Batch, restoring: &Restoring) -> Result<(), Fault> {
        if batch.bytes < self.profile.object_bytes_max / BATCHES {
            return Ok(());
        }
        self.commit_batch(std::mem::take(batch), restoring)
    }

    /// Commits what has been taken, with how far the restore is by that.
    fn commit_batch(&mut self, mut batch: Batch, restoring: &Restoring) -> Result<(), Fault> {
        batch.writes.push(restoring.meta()?);
        self.store.commit(batch.writes)
    }

    /// Takes a page of the past, or the answers of a segment.
    fn take_past(&mut self, mut restoring: Restoring, text: Option<String>) -> Result<(), Fault> {
        let remembered = self.remembered(&restoring.head);
        let found = restoring.way.take(text)?;
        restoring.missing.extend(found.gap);
        let (mut batch, mut is_over) = (Batch::default(), false);
        for (seq, entry) in found.entries.into_iter().rev() {
            is_over = entry.at < remembered;
            if is_over {
                restoring.way.end();
                break;
            }
            let answered = Answered::of(&entry)?;
            batch.bytes += answered.receipt.len();
            batch.writes.push(Write::Remember(entry.envelope.id, answered));
            restoring.way.reached(seq);
            self.commit_if_full(&mut batch, &restoring)?;
        }
        if let Some(first) = found.segment.filter(|_| !is_over) {
            restoring.way.pass(first);
        }
        self.commit_batch(batch, &restoring)
    }

    /// Since when answers are remembered.
    fn remembered(&self, head: &Head) -> Timestamp {
        Timestamp(head.at.0 - self.profile.answers_kept.0)
    }

    /// What was missing of the past when the cluster was restored, the newest first.
    pub fn missing(&self) -> Result<Vec<Gap>, Fault> {
        let text = self.store.meta(Meta::Missing)?;
        Ok(text.map(|text| decode("what is missing", &text)).transpose()?.unwrap_or_default())
    }

    /// Once nothing is wanted any more: the cluster is what the head stands for. Answers what is missing of its past.
    pub fn finish_restore(&mut self) -> Result<Vec<Gap>, Fault> {
        let Some(Restoring { head, is_shown, missing, .. }) = self.restoring()? else { return Ok(Vec::new()) };
        if let (Some(reference), Some(stored)) = (&head.snapshot, self.store.snapshot()?)
            && digest::of_pieces(snapshot_pieces(&self.store, stored.seq))? != reference.hash
        {
            return Err(Fault::damaged("the published snapshot", "its state has another digest"));
        }
        // What is folded is gone before it is folded anew, as what it is then: one state takes enough memory.
        let (seq, revision) = fold(&self.store).map(|memory| (memory.seq, memory.state.revision))?;
        if (seq, revision) != (head.seq, head.revision) {
            let reason = format!("it leads to entry {seq}, not {}", head.seq);
            return Err(Fault::damaged("the published head", reason));
        }
        let mut writes =
            vec![Write::SetMeta(Meta::Published, Some(encode(&head)?)), Write::SetMeta(Meta::Restoring, None)];
        writes.push(Write::SetMeta(Meta::Missing, Some(encode(&missing)?)));
        if head.cluster == self.name.as_str() && !is_shown {
            writes.push(Write::SetMeta(Meta::Sealed, Some(encode(&Sealed::again(head.clone()))?)));
        }
        if head.cluster == self.name.as_str() && head.notes.is_some() {
            writes.extend(self.store.stale_buckets()?.into_iter().map(Write::NotesPublished));
        }
        self.forget();
        self.store.commit(writes)?;
        self.memory()?;
        Ok(missing)
    }
}
