//! Commands with notes, and what a cluster keeps of them.

use engine::message::envelope::Envelope;
use engine::message::rejection::Rejection;
use engine::state::world::State;
use engine::transition::Sender;
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

/// How many bytes a note may have.
pub const NOTE_BYTES_MAX: usize = 32 * 1024;
/// How many bytes the notes of a bucket may have, as they are published: one that changes is written anew.
pub const BUCKET_BYTES_MAX: u64 = 4 * 1024 * 1024;

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
        let writes = self.note_writes(notes)?;
        self.submit_with(envelope, sender, writes, now)
    }

    /// Changes notes and nothing else.
    pub fn keep_notes(&mut self, notes: &[NoteChange]) -> Result<(), Failure> {
        let writes = self.note_writes(notes)?;
        self.store.commit(&writes).inspect_err(|_| self.forget())?;
        self.memory()?.has_stale_notes = true;
        Ok(())
    }

    fn note_writes(&self, notes: &[NoteChange]) -> Result<Vec<Write>, Failure> {
        let mut writes = Vec::new();
        for change in notes {
            if let NoteChange::Put(Note { name, text }) = change {
                let bytes = text.len();
                if bytes > NOTE_BYTES_MAX {
                    return Err(too_much("bytes of what is kept beside it", bytes as u64, NOTE_BYTES_MAX as u64).into());
                }
                let before = self.store.note(name)?.map_or(0, |before| weight(name, &before));
                let after = weight(name, text);
                let all = self.store.bucket_bytes(bucket(name))?.saturating_sub(before) + after;
                if after > before && all > BUCKET_BYTES_MAX {
                    return Err(too_much("bytes of notes in one bucket", all, BUCKET_BYTES_MAX).into());
                }
            }
            writes.push(Write::ChangeNote(change.clone()));
        }
        Ok(writes)
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
        if drops.is_empty() { Ok(()) } else { self.keep_notes(&drops) }
    }
}

fn too_much(what: &str, count: u64, limit: u64) -> Rejection {
    Rejection::Limit { what: what.to_owned(), count, limit }
}
