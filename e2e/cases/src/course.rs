//! What a case has come to.

use engine::message::event::Event;
use engine::state::world::State;
use engine::unit::time::Timestamp;

/// A case that has run: what happened from its event until it came to rest, and after that.
#[derive(Clone, Debug)]
pub(crate) struct Course {
    /// The state once nobody starts or stops any more.
    pub(crate) rest: State,
    /// When that was.
    pub(crate) rested: Timestamp,
    /// Events from the case's event to rest.
    pub(crate) until_rest: Vec<Event>,
    /// All events from the case's event on.
    pub(crate) all: Vec<Event>,
    /// When the case's event happened.
    pub(crate) began: Timestamp,
}
