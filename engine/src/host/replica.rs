//! The replica: the console's copy. What is confirmed, with the own commands that have no answer yet replayed over it.

use crate::host::authority;
use crate::message::envelope::Entry;
use crate::message::envelope::Envelope;
use crate::message::event::Event;
use crate::message::rejection::Rejection;
use crate::message::snapshot::Snapshot;
use crate::state::world::State;
use crate::transition::apply_all;
use crate::unit::id::CommandId;
use crate::unit::time::Timestamp;

/// Whether an entry could be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// It is part of the confirmed state now, or has been before.
    Yes,
    /// Entries before it are missing: fetch the snapshot.
    Gap,
}

/// A copy that is ahead of its confirmed state by the own commands on their way.
#[derive(Clone, Debug)]
pub struct Replica {
    confirmed: State,
    pending: Vec<(Envelope, Timestamp)>,
    shown: State,
}

impl Replica {
    /// A copy of a snapshot.
    ///
    /// # Errors
    /// When the snapshot is damaged or of an unknown format.
    pub fn new(snapshot: Snapshot) -> Result<Self, Rejection> {
        let confirmed = snapshot.restore()?;
        Ok(Self { shown: confirmed.clone(), confirmed, pending: Vec::new() })
    }

    /// The state to show: confirmed, and pending commands replayed over it.
    #[must_use]
    pub fn state(&self) -> &State {
        &self.shown
    }

    /// The confirmed revision.
    #[must_use]
    pub fn revision(&self) -> u64 {
        self.confirmed.revision
    }

    /// Own commands without an answer.
    pub fn pending(&self) -> impl Iterator<Item = &CommandId> {
        self.pending.iter().map(|(envelope, _)| &envelope.id)
    }

    /// Shows an own command before its answer.
    ///
    /// # Errors
    /// When it is refused here already; then it is not pending.
    pub fn send(&mut self, envelope: Envelope, now: Timestamp) -> Result<(), Rejection> {
        authority::step(&mut self.shown, &envelope.command, now)?;
        self.pending.push((envelope, now));
        Ok(())
    }

    /// Takes a confirmed entry.
    pub fn receive<C>(&mut self, entry: &Entry<C>) -> Taken {
        if entry.revision <= self.confirmed.revision {
            // An own command that changed nothing has been answered all the same.
            self.answered(&entry.envelope.id);
            return Taken::Yes;
        }
        if self.confirmed.revision + entry.events.len() as u64 != entry.revision {
            return Taken::Gap;
        }
        let had_pending = !self.pending.is_empty();
        self.pending.retain(|(envelope, _)| envelope.id != entry.envelope.id);
        take(&mut self.confirmed, &entry.events);
        if had_pending {
            self.replay();
        } else {
            // What is shown is what is confirmed: no need for a new copy.
            take(&mut self.shown, &entry.events);
        }
        Taken::Yes
    }

    /// Takes back an own command that was refused.
    pub fn refused(&mut self, id: &CommandId) {
        self.answered(id);
    }

    fn answered(&mut self, id: &CommandId) {
        self.pending.retain(|(envelope, _)| envelope.id != *id);
        self.replay();
    }

    /// What is pending may be refused over the newer state; then it simply does not show.
    fn replay(&mut self) {
        self.shown = self.confirmed.clone();
        for (envelope, sent) in &self.pending {
            let _ = authority::step(&mut self.shown, &envelope.command, *sent);
        }
    }
}

fn take(state: &mut State, events: &[Event]) {
    apply_all(state, events);
    state.settle();
}
