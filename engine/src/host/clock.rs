//! How time goes on where it is simulated: in plans, and in replays of traces.
//!
//! A service looks when somebody sends a command, when something is due that could serve somebody who waits, and once a
//! minute. Here nobody looks who would find nothing: of the whole minutes only those are visited in which a scheduled
//! round has something to do, and what comes of it is the same.

use crate::host::authority;
use crate::message::command::Command;
use crate::message::command::Round;
use crate::message::event::Event;
use crate::message::rejection::Rejection;
use crate::state::world::State;
use crate::unit::time::Millis;
use crate::unit::time::Timestamp;

/// A moment that comes by itself, and the round that it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tick {
    /// When.
    pub at: Timestamp,
    /// The slot of a scheduled round; none for a round because something is due.
    pub slot: Option<i64>,
}

impl Tick {
    /// Takes it: applies what is due, and rounds.
    ///
    /// # Errors
    /// Never for a tick that is the next one of this state.
    pub fn take(self, state: &mut State) -> Result<Vec<Event>, Rejection> {
        authority::step(state, &Command::Round(Round { slot: self.slot }), self.at)
    }
}

/// What comes next by itself after all that happened at `now`; nothing if time alone changes nothing any more. Of one
/// moment the scheduled round comes, since it applies what is due as well.
#[must_use]
pub fn next(state: &State, now: Timestamp) -> Option<Tick> {
    let due = due(state, now);
    let minute = minute(state, now);
    match (due, minute) {
        (Some(due), Some(minute)) if due.at < minute.at => Some(due),
        (due, minute) => minute.or(due),
    }
}

/// Something is due. What nobody waits for the service finds in the next minute; that matters to elastic jobs alone,
/// which grow then.
fn due(state: &State, now: Timestamp) -> Option<Tick> {
    let due = state.next_due(now)?;
    let minute = scheduled(state, now, due);
    let look = if state.growing.is_empty() { Some(due) } else { state.next_chance(now) };
    Some(look.filter(|at| *at < minute.at).map_or(minute, |at| Tick { at, slot: None }))
}

/// The next scheduled round that has something to do: for the market, for what rounds in between left over, or because
/// a reservation passes on.
fn minute(state: &State, now: Timestamp) -> Option<Tick> {
    let market = &state.market;
    let is_left_over = state.queue.is_stale && (state.is_waited_for() || !state.growing.is_empty());
    if is_left_over || !market.changed.is_empty() {
        return Some(scheduled(state, now, now));
    }
    let takeover = state.next_takeover().map(|at| at + Millis(1));
    let due = market.timers.first().map(|(at, _)| *at).into_iter().chain(takeover).min()?;
    Some(scheduled(state, now, due))
}

/// The first scheduled round after now that is not before a time.
#[must_use]
pub fn scheduled(state: &State, now: Timestamp, from: Timestamp) -> Tick {
    let minute = Millis::MINUTE.0;
    let slot = from.0.saturating_add(minute - 1).div_euclid(minute).max(now.0.div_euclid(minute) + 1);
    let slot = state.last_slot.map_or(slot, |last| slot.max(last.saturating_add(1)));
    Tick { at: Timestamp(slot.saturating_mul(minute)), slot: Some(slot) }
}
