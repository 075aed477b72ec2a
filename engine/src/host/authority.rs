//! The authority: the copy of the state that counts.

use std::borrow::Cow;
use std::slice;

use crate::message::FORMAT;
use crate::message::command::Command;
use crate::message::command::Round;
use crate::message::envelope::Answer;
use crate::message::envelope::Envelope;
use crate::message::envelope::Receipt;
use crate::message::event::Event;
use crate::message::rejection::Rejection;
use crate::state::world::State;
use crate::transition::apply_all;
use crate::transition::decide;
use crate::transition::elapse;
use crate::transition::is_due;
use crate::transition::missed_slots;
use crate::unit::id::UserId;
use crate::unit::time::Timestamp;

/// Decides a command and applies what happens, and what follows at once: a command that could start something runs a
/// round in the same step. When it is refused, nothing has changed.
///
/// # Errors
/// The command's rejection; [`Rejection::UnknownFormat`]; [`Rejection::MovedOn`] when the cluster is not at the base.
pub fn handle(state: &mut State, envelope: &Envelope, now: Timestamp) -> Answer {
    let Envelope { format, id, by, base, dry_run, command } = envelope;
    let by = by.as_ref();
    if *format != FORMAT {
        return Err(Rejection::UnknownFormat { format: *format });
    }
    if let Some(base) = base.filter(|base| *base != state.revision) {
        return Err(Rejection::MovedOn { base, revision: state.revision });
    }
    let events =
        if *dry_run { step_by(&mut state.clone(), command, by, now)? } else { step_by(state, command, by, now)? };
    let revision = if *dry_run { state.revision.saturating_add(events.len() as u64) } else { state.revision };
    Ok(Receipt { id: id.clone(), revision, at: now, events })
}

/// Applies what is due, decides and applies a command, and the round at once that either asks for. When the command is
/// refused, nothing has changed: whatever is due stays due.
///
/// # Errors
/// The command's rejection.
pub fn step(state: &mut State, command: &Command, now: Timestamp) -> Result<Vec<Event>, Rejection> {
    step_by(state, command, None, now)
}

/// The same for somebody.
fn step_by(state: &mut State, command: &Command, by: Option<&UserId>, now: Timestamp) -> Result<Vec<Event>, Rejection> {
    if !is_due(state, now) {
        return act(state, command, by, now, Vec::new());
    }
    if let Command::Round(round) = command {
        // A round is refused for its slot alone, whatever is due.
        missed_slots(state, *round)?;
        let elapsed = catch_up(state, now);
        return act(state, command, by, now, elapsed);
    }
    let mut ahead = state.clone();
    let elapsed = catch_up(&mut ahead, now);
    let events = act(&mut ahead, command, by, now, elapsed)?;
    *state = ahead;
    Ok(events)
}

/// A state as it is by now: with what is due applied, which the next command or alarm will write down.
#[must_use]
pub fn as_of(state: &State, now: Timestamp) -> Cow<'_, State> {
    if !is_due(state, now) {
        return Cow::Borrowed(state);
    }
    let mut ahead = state.clone();
    catch_up(&mut ahead, now);
    Cow::Owned(ahead)
}

/// Applies what is due, each at its time, with what follows from it until now.
fn catch_up(state: &mut State, now: Timestamp) -> Vec<Event> {
    let mut events = Vec::new();
    loop {
        let elapsed = elapse(state, now);
        if elapsed.is_empty() {
            return events;
        }
        take(state, elapsed, &mut events);
    }
}

/// Decides and applies a command after what has happened so far.
fn act(
    state: &mut State,
    command: &Command,
    by: Option<&UserId>,
    now: Timestamp,
    mut events: Vec<Event>,
) -> Result<Vec<Event>, Rejection> {
    let decided = decide(state, command, now)?;
    let cancelled = by.map(|by| cancelled_by(state, command, by, now)).unwrap_or_default();
    take(state, cancelled, &mut events);
    take(state, decided, &mut events);
    if !state.is_settled(now) && !matches!(command, Command::Round(_)) {
        let decided = decide(state, &Command::Round(Round::default()), now)?;
        take(state, decided, &mut events);
    }
    state.settle();
    Ok(events)
}

/// Who cancels what a command cancels.
fn cancelled_by(state: &State, command: &Command, by: &UserId, at: Timestamp) -> Vec<Event> {
    let commands = if let Command::ApplyPlan(plan) = command { &plan.commands } else { slice::from_ref(command) };
    let cancelled = commands.iter().filter_map(|command| {
        let Command::CancelJob(cancel) = command else { return None };
        state.jobs.find(&cancel.job)
    });
    let live = cancelled.filter(|no| !state.jobs[*no].is_ended());
    live.map(|job| Event::CancelledBy { job, at, by: by.clone() }).collect()
}

fn take(state: &mut State, decided: Vec<Event>, events: &mut Vec<Event>) {
    apply_all(state, &decided);
    if events.is_empty() {
        *events = decided;
    } else {
        events.extend(decided);
    }
}
