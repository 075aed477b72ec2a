//! Commands with notes, and what a cluster keeps of them.

use engine::message::envelope::Envelope;
use engine::message::rejection::Rejection;
use engine::state::world::State;
use engine::transition::Sender;
use engine::unit::id::UserId;
use engine::unit::time::Timestamp;

use crate::cluster::Cluster;
use crate::cluster::Done;
use crate::fault::Failure;
use crate::fault::Fault;
use crate::log::LogStore;
use crate::log::Write;
use crate::note::Note;
use crate::note::NoteChange;
use crate::note::bucket;
use crate::note::weight;
use crate::share;

/// How many bytes a note may have.
pub const NOTE_BYTES_MAX: usize = 32 * 1024;
/// How many bytes the notes of a bucket may have, as they are published: one that changes is written anew.
pub const BUCKET_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// What is said where the notes of all users together fill a bucket.
const BUCKET_FULL: &str = "bytes of notes in one bucket (choose another name: it decides on the bucket)";

/// Reads a note; none if that fails.
pub type ReadNote<'a> = dyn Fn() -> Option<String> + 'a;

impl<S: LogStore> Cluster<S> {
    /// Handles a command. If it is accepted, the notes change with it; a repeated command changes none.
    pub fn submit_noted(
        &mut self,
        envelope: &Envelope,
        sender: &Sender,
        notes: &[NoteChange],
        now: Timestamp,
    ) -> Result<Done, Failure> {
        let owner = share::owner(envelope, sender);
        let kept = self.taken_in(notes, owner.as_ref())?;
        let done = self.submit_with(envelope, sender, kept.writes, now)?;
        // A dry run and a repeated command have changed none.
        if done.record.is_some() {
            self.memory()?.shares.follow(owner.as_ref(), kept.more, kept.is_less);
        }
        Ok(done)
    }

    /// The same of what the service itself sends in somebody's name, of whom it has been judged whether they may.
    pub(crate) fn handle_noted(
        &mut self,
        envelope: &Envelope,
        owner: &UserId,
        notes: &[NoteChange],
        now: Timestamp,
    ) -> Result<Done, Failure> {
        let kept = self.taken_in(notes, Some(owner))?;
        let done = self.handle(envelope, kept.writes, now)?;
        if done.record.is_some() {
            self.memory()?.shares.follow(Some(owner), kept.more, kept.is_less);
        }
        Ok(done)
    }

    /// Changes notes and nothing else.
    pub fn keep_notes(&mut self, notes: &[NoteChange], sender: &Sender) -> Result<(), Failure> {
        self.keep(notes, share::of(sender).as_ref())
    }

    fn keep(&mut self, notes: &[NoteChange], owner: Option<&UserId>) -> Result<(), Failure> {
        let kept = self.taken_in(notes, owner)?;
        self.store.commit(&kept.writes).inspect_err(|_| self.forget())?;
        let memory = self.memory()?;
        memory.has_stale_notes = true;
        memory.shares.follow(owner, kept.more, kept.is_less);
        Ok(())
    }

    /// Changes of notes as somebody's, if there is room for them.
    fn taken_in(&mut self, notes: &[NoteChange], owner: Option<&UserId>) -> Result<TakenIn, Failure> {
        let (mut kept, limits) = (TakenIn::default(), self.profile.limits);
        for change in notes {
            let change = match change {
                NoteChange::Put(note) => {
                    let note = Note { owner: owner.cloned(), ..note.clone() };
                    kept.weigh(&note, &self.store, limits.note_bytes_in_bucket)?;
                    NoteChange::Put(note)
                }
                NoteChange::Drop(name) => {
                    kept.is_less = true;
                    NoteChange::Drop(name.clone())
                }
            };
            kept.writes.push(Write::ChangeNote(change));
        }
        if let Some(owner) = owner.filter(|_| kept.more > 0) {
            self.memory()?;
            if let Some(memory) = &mut self.memory {
                memory.shares.admit(&self.store, owner, kept.more, limits.note_bytes_of_user)?;
            }
        }
        Ok(kept)
    }

    /// What a note says.
    pub fn note(&self, name: &str) -> Result<Option<String>, Fault> {
        self.store.note(name)
    }

    /// The names of the notes that begin so, in order.
    pub fn note_names(&self, start: &str) -> Result<Vec<String>, Fault> {
        self.store.note_names(start)
    }

    /// A field of the notes that begin so, by their names in order.
    pub fn note_fields(&self, start: &str, field: &'static str) -> Result<Vec<(String, String)>, Fault> {
        self.store.note_fields(start, field)
    }

    /// Drops the notes that nobody needs. `is_needed` is told a note's name, and can have its text read.
    pub fn sweep_notes(&mut self, is_needed: impl Fn(&State, &str, &ReadNote) -> bool) -> Result<(), Failure> {
        let names = self.store.note_names("")?;
        self.memory()?;
        let (store, memory) = (&self.store, self.memory.as_ref());
        let Some(state) = memory.map(|memory| &memory.state) else { return Ok(()) };
        let gone = |name: &String| !is_needed(state, name, &|| store.note(name).ok().flatten());
        let drops: Vec<NoteChange> = names.into_iter().filter(gone).map(NoteChange::Drop).collect();
        if drops.is_empty() { Ok(()) } else { self.keep(&drops, None) }
    }
}

/// What changes of notes come to.
#[derive(Default)]
struct TakenIn {
    writes: Vec<Write>,
    /// How much more its owner has by them.
    more: u64,
    /// Whether somebody may have less.
    is_less: bool,
}

impl TakenIn {
    /// Takes a note in, unless it is too large or its bucket or its owner's share of that is full.
    fn weigh(&mut self, note: &Note, store: &impl LogStore, limit: u64) -> Result<(), Failure> {
        let Note { name, text, owner } = note;
        let bytes = text.len();
        if bytes > NOTE_BYTES_MAX {
            return Err(too_much("bytes of what is kept beside it", bytes as u64, NOTE_BYTES_MAX as u64).into());
        }
        let held = store.held(name)?;
        let (before, after) = (held.as_ref().map_or(0, |held| held.bytes), weight(name, text, owner.as_ref()));
        let all = store.bucket_bytes(bucket(name))?.saturating_sub(before) + after;
        if after > before && all > BUCKET_BYTES_MAX {
            return Err(too_much(BUCKET_FULL, all, BUCKET_BYTES_MAX).into());
        }
        let own_before = held.filter(|held| held.owner == *owner).map_or(0, |held| held.bytes);
        if let Some(owner) = owner.as_ref().filter(|_| after > own_before) {
            share::admit_in_bucket(store, owner, bucket(name), (own_before, after), limit)?;
        }
        self.more += after.saturating_sub(own_before);
        self.is_less |= before > 0;
        Ok(())
    }
}

fn too_much(what: &str, count: u64, limit: u64) -> Rejection {
    Rejection::Limit { what: what.to_owned(), count, limit }
}
