//! From a command to what happens.

use crate::message::command::Command;
use crate::message::event::Event;
use crate::message::rejection::Rejection;
use crate::state::world::State;
use crate::transition::plan;
use crate::transition::single;
use crate::unit::time::Timestamp;

/// What the command comes to at this time, or why it is refused. Nothing is changed.
pub fn decide(state: &State, command: &Command, now: Timestamp) -> Result<Vec<Event>, Rejection> {
    if let Command::ApplyPlan(command) = command {
        single::need_cluster(state)?;
        // Each of its commands comes with its own bills.
        return plan::apply_plan(state, command, now);
    }
    single::decide(state, command, now)
}
