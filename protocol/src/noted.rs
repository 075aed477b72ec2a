//! Commands with notes, and what a cluster keeps of them.

use engine::message::envelope::Envelope;
use engine::message::rejection::Rejection;
use engine::state::world::State;
use engine::transition::Sender;
use engine::unit::id::UserId;
use engine::unit::sort;
use engine::unit::time::Timestamp;

use crate::cluster::Cluster;
use crate::cluster::Done;
use crate::fault::Failure;
use crate::fault::Fault;
use crate::log::LogStore;
use crate::log::Write;
use crate::note::Held;
use crate::note::Note;
use crate::note::NoteChange;
use crate::note::bucket;
use crate::note::weight;
use crate::share;
use crate::share::Moves;

/// How many bytes a note may have.
pub const NOTE_BYTES_MAX: usize = 32 * 1024;

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
            self.memory()?.shares.follow(&kept.moves);
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
            self.memory()?.shares.follow(&kept.moves);
        }
        Ok(done)
    }

    /// Changes notes and nothing else.
    pub fn keep_notes(&mut self, notes: &[NoteChange], sender: &Sender) -> Result<(), Failure> {
        self.keep(notes, share::of(sender).as_ref())
    }

    fn keep(&mut self, notes: &[NoteChange], owner: Option<&UserId>) -> Result<(), Failure> {
        let kept = self.taken_in(notes, owner)?;
        self.store.commit(kept.writes).inspect_err(|_| self.forget())?;
        let memory = self.memory()?;
        memory.has_stale_notes = true;
        memory.shares.follow(&kept.moves);
        Ok(())
    }

    /// Changes of notes as somebody's, if there is room for them.
    fn taken_in(&mut self, notes: &[NoteChange], owner: Option<&UserId>) -> Result<TakenIn, Failure> {
        let (mut writes, mut held) = (Vec::new(), Vec::new());
        for change in notes {
            let (name, after, write) = match change {
                NoteChange::Put(note) => {
                    let kept = Note { owner: owner.cloned(), ..note.clone() };
                    (&note.name, Some(weighed(&kept)?), NoteChange::Put(kept))
                }
                NoteChange::Drop(name) => (name, None, NoteChange::Drop(name.clone())),
            };
            held.push((name, after));
            writes.push(Write::ChangeNote(write));
        }
        // Of several changes of a note the last one counts.
        sort::by_key(&mut held, |(name, _)| *name);
        let mut moves = Moves::default();
        for same in held.chunk_by(|(one, _), (other, _)| one == other) {
            let Some((name, after)) = same.last() else { continue };
            moves.add(bucket(name), self.store.held(name)?.as_ref(), after.as_ref());
        }
        let limits = self.profile.limits;
        self.memory()?;
        if let Some(memory) = &mut self.memory {
            memory.shares.admit(&self.store, &moves, &limits)?;
        }
        Ok(TakenIn { writes, moves })
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

/// Changes of notes for which there is room.
struct TakenIn {
    writes: Vec<Write>,
    /// What they change of what notes count for.
    moves: Moves,
}

/// What a note counts for, unless it is too large.
fn weighed(note: &Note) -> Result<Held, Rejection> {
    let Note { name, text, owner } = note;
    let bytes = text.len();
    if bytes > NOTE_BYTES_MAX {
        let what = "bytes of what is kept beside it".to_owned();
        return Err(Rejection::Limit { what, count: bytes as u64, limit: NOTE_BYTES_MAX as u64 });
    }
    Ok(Held { bytes: weight(name, text, owner.as_ref()), owner: owner.clone() })
}
