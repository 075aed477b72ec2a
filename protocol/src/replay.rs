//! States from what is stored: a snapshot, and entries after it.

use engine::message::envelope::Entry;
use engine::message::snapshot::Snapshot;
use engine::state::world::State;
use engine::transition::apply_all;

use crate::fault::Fault;
use crate::log::decode;

/// Applies an entry's events and checks where that leads.
pub fn replay(state: &mut State, entry: &Entry) -> Result<(), Fault> {
    apply_all(state, &entry.events);
    if state.revision == entry.revision {
        return Ok(());
    }
    Err(Fault::damaged(
        "the log",
        format!(
            "the events of command {} lead to revision {}, not {}",
            entry.envelope.id, state.revision, entry.revision
        ),
    ))
}

/// The state of a snapshot's bytes. They are gone before the state is built, which takes as much memory again.
pub fn restore_state(place: &str, text: String) -> Result<State, Fault> {
    let snapshot: Snapshot = decode(place, &text)?;
    drop(text);
    snapshot.restore().map_err(|rejection| Fault::damaged(place, rejection))
}
