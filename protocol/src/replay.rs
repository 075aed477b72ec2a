//! States from what is stored: a snapshot, and entries after it.

use engine::message::envelope::Entry;
use engine::message::snapshot::pieces::Pieces;
use engine::state::world::State;
use engine::transition::apply_all;

use crate::fault::Fault;

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

/// The state of a snapshot's bytes, as they come piece by piece. Each is gone before the next one is asked for.
pub fn restore_state(place: &str, text: impl IntoIterator<Item = Result<String, Fault>>) -> Result<State, Fault> {
    let mut pieces = Pieces::default();
    for piece in text {
        pieces.add(&piece?).map_err(|rejection| Fault::damaged(place, rejection))?;
    }
    pieces.restore().map_err(|rejection| Fault::damaged(place, rejection))
}
