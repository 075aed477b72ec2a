//! From KV alone to the same cluster.
//!
//! [`read`] folds what a head names into a state and collects the commands that have been answered, so that retries of
//! them keep their first answers. [`Cluster::adopt`] makes that the content of a log, in one transaction. KV can be
//! old: then an older state comes out, never a mixed one.

use engine::message::envelope::Entry;
use engine::state::world::State;
use engine::unit::time::Timestamp;

use crate::cluster::Cluster;
use crate::cluster::Position;
use crate::cluster::replay;
use crate::cluster::restore_state;
use crate::digest;
use crate::document::Head;
use crate::fault::Fault;
use crate::gap::Gap;
use crate::history;
use crate::kv::KvStore;
use crate::log::Answered;
use crate::log::LogStore;
use crate::log::Meta;
use crate::log::Record;
use crate::log::Stored;
use crate::log::Write;
use crate::log::encode;
use crate::note::Note;
use crate::note::NoteChange;
use crate::past;

/// What KV has of a cluster.
#[derive(Clone, Debug)]
pub struct Restored {
    /// The head that was read.
    pub head: Head,
    /// The state that it leads to.
    pub state: State,
    /// The snapshot's bytes, if there is one.
    pub snapshot: Option<String>,
    /// The entries since the snapshot.
    pub tail: Vec<(u64, Entry)>,
    /// Earlier entries, as far as they were asked for and KV has them.
    pub earlier: Vec<(u64, Entry)>,
    /// Earlier entries that KV does not have, the newest first.
    pub missing: Vec<Gap>,
}

impl Restored {
    /// Where the restored cluster is.
    #[must_use]
    pub fn position(&self) -> Position {
        Position { seq: self.head.seq, revision: self.head.revision, hash: digest::of_state(&self.state) }
    }
}

/// What came of a restore.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Adopted {
    /// The log is now what KV says.
    Yes,
    /// The log was the same already.
    Same,
    /// The log has something else, and nobody insisted. It was left alone.
    Different(Position),
    /// The cluster has been further than what was restored: readers would see it go back. It was left alone.
    Behind {
        /// The revision that readers may have seen.
        shown: u64,
        /// The revision that was restored.
        restored: u64,
    },
}

/// Reads what a head names. `pages_max` pages of history are searched for answered commands; what is missing there is
/// said, for the state does not need it.
pub async fn read(kv: &impl KvStore, head: Head, pages_max: usize) -> Result<Restored, Fault> {
    let (mut state, mut seq, mut snapshot) = (State::default(), 0, None);
    if let Some(reference) = &head.snapshot {
        let text = history::snapshot_text(kv, reference).await?;
        state = restore_state("the published snapshot", &text)?;
        if digest::sha256(text.as_bytes()) != reference.hash || digest::of_state(&state) != reference.hash {
            return Err(Fault::damaged("the published snapshot", "its state has another digest"));
        }
        (seq, snapshot) = (reference.seq, Some(text));
    }
    let tail = history::segments(kv, &head.segments).await?;
    for (number, entry) in &tail {
        if *number != seq + 1 {
            return Err(Fault::damaged("the published log", format!("entry {number} follows {seq}")));
        }
        replay(&mut state, entry)?;
        seq = *number;
    }
    if (seq, state.revision) != (head.seq, head.revision) {
        return Err(Fault::damaged("the published head", format!("it leads to entry {seq}, not {}", head.seq)));
    }
    let (earlier, missing) = earlier(kv, &head, pages_max).await?;
    Ok(Restored { head, state, snapshot, tail, earlier, missing })
}

/// The entries before a head's snapshot, of at most `pages_max` pages, and those that are missing. Beyond a page that is
/// gone, milestones lead on.
async fn earlier(kv: &impl KvStore, head: &Head, pages_max: usize) -> Result<(Vec<(u64, Entry)>, Vec<Gap>), Fault> {
    let (mut next, mut milestones) = (head.history.clone(), head.milestones.clone());
    let (mut before, mut parts, mut gaps) = (head.snapshot_seq() + 1, Vec::new(), Vec::new());
    for _ in 0..pages_max {
        let Some(key) = next else { break };
        match past::page(kv, &key).await {
            Ok(page) => {
                for segment in page.segments.iter().rev() {
                    match history::segment(kv, segment).await {
                        Ok(entries) => parts.push(entries),
                        Err(fault) => gaps.push(Gap::of(fault, &segment.key, segment.first, segment.last)?),
                    }
                }
                before = page.snapshot.map_or(0, |snapshot| snapshot.seq) + 1;
                (next, milestones) = (page.previous, page.milestones);
            }
            Err(fault) => {
                let beyond = milestones.iter().rev().find(|milestone| milestone.seq + 1 < before);
                let last_beyond = beyond.map_or(0, |beyond| beyond.seq);
                gaps.push(Gap::of(fault, &key, last_beyond + 1, before - 1)?);
                (next, before) = (beyond.map(|beyond| beyond.page.clone()), last_beyond + 1);
            }
        }
    }
    Ok((parts.into_iter().rev().flatten().collect(), gaps))
}

impl<S: LogStore> Cluster<S> {
    /// Makes what was restored the content of the log, and the notes what is beside it. A log with something else is
    /// replaced only by force, and never by less than readers have seen: neither than `shown`, which is what KV shows
    /// of this cluster, nor than what the log says, as far as it can be read. Another name has no such readers.
    pub fn adopt(
        &mut self,
        restored: &Restored,
        notes: &[Note],
        is_forced: bool,
        shown: u64,
    ) -> Result<Adopted, Fault> {
        if !is_forced {
            let here = self.position()?;
            if here == restored.position() && here.seq > 0 {
                return Ok(Adopted::Same);
            }
            if here.seq > 0 {
                return Ok(Adopted::Different(here));
            }
        }
        // A log that is damaged does not tell how far it was; it is replaced all the same.
        let shown = self.mark().map_or(0, |here| here.revision).max(shown);
        if restored.head.revision < shown {
            return Ok(Adopted::Behind { shown, restored: restored.head.revision });
        }
        let Restored { head, state: _, snapshot, tail, earlier, missing: _ } = restored;
        let mut writes = vec![Write::Clear];
        // What had been forgotten stays so: its name may have been used again.
        let remembered = Timestamp(head.at.0 - self.profile.answers_kept.0);
        for (_, entry) in earlier.iter().chain(tail).filter(|(_, entry)| entry.at >= remembered) {
            writes.push(Write::Remember(entry.envelope.id.clone(), Answered::of(entry)?));
        }
        if let (Some(text), Some(reference)) = (snapshot, &head.snapshot) {
            let at = earlier.last().map_or(head.at, |(_, entry)| entry.at);
            writes.push(Write::PutSnapshot(Stored {
                seq: reference.seq,
                revision: reference.revision,
                at,
                text: text.clone(),
            }));
        }
        for (seq, entry) in tail {
            writes.push(Write::Append(Record::of(*seq, entry)?));
        }
        writes.extend(notes.iter().map(|note| Write::ChangeNote(NoteChange::Put(note.clone()))));
        writes.push(Write::SetMeta(Meta::Published, Some(encode(head)?)));
        self.forget();
        self.store.commit(&writes)?;
        self.memory()?;
        Ok(Adopted::Yes)
    }
}
