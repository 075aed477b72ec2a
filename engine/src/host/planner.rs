//! The planner: a copy of the state, on which a command is decided and applied as the authority would.

use crate::host::authority;
use crate::message::command::Command;
use crate::message::event::Event;
use crate::message::rejection::Rejection;
use crate::state::world::State;
use crate::unit::time::Timestamp;

/// What a command would come to.
#[derive(Clone, Debug)]
pub struct Preview {
    /// What would happen, the round at once included.
    pub events: Vec<Event>,
    /// The state after it.
    pub after: State,
}

/// What a command would come to now. The state stays as it is.
///
/// # Errors
/// The rejection that the command would get.
pub fn preview(state: &State, command: &Command, now: Timestamp) -> Result<Preview, Rejection> {
    let mut after = state.clone();
    let events = authority::step(&mut after, command, now)?;
    Ok(Preview { events, after })
}
