//! A cluster in one hand: a state, a clock, and all that has happened.
//!
//! Commands go through the authority, as in the worker. Time moves only forward, and never jumps over a moment at
//! which time alone changes something.

use std::borrow::Cow;

use engine::host::authority;
use engine::host::clock;
use engine::message::command::Command;
use engine::message::command::Report;
use engine::message::command::Round;
use engine::message::event::Event;
use engine::message::rejection::Rejection;
use engine::state::world::State;
use engine::transition;
use engine::unit::time::Timestamp;

/// A cluster with its clock and its log.
#[derive(Clone, Debug, Default)]
pub struct Session {
    /// The state now.
    pub state: State,
    /// The time now.
    pub now: Timestamp,
    /// What has happened.
    pub log: Vec<Event>,
}

impl Session {
    /// A session without a cluster, at this time.
    #[must_use]
    pub fn at(now: Timestamp) -> Self {
        Self { now, ..Self::default() }
    }

    /// Sends a command to the authority; the events, the round at once included, are also kept in the log.
    pub fn send(&mut self, command: &Command) -> Result<Vec<Event>, Rejection> {
        let before = self.log.len();
        self.act(command)?;
        Ok(self.log[before..].to_vec())
    }

    /// Sends a command to the authority; the events are in the log alone, for whoever replays many.
    pub fn act(&mut self, command: &Command) -> Result<(), Rejection> {
        let command = self.named(command);
        let events = authority::step(&mut self.state, &command, self.now)?;
        self.log.extend(events);
        Ok(())
    }

    /// The command, with the run that a report means which names none: the one that the job has now.
    fn named<'c>(&self, command: &'c Command) -> Cow<'c, Command> {
        if let Command::Report(report) = command
            && let (None, Some(no)) = (report.run, self.state.jobs.find(&report.job))
            && let Some(run) = self.state.jobs[no].run_no().filter(|run| run.is_numbered())
        {
            return Cow::Owned(Command::Report(Report { run: Some(run), ..report.clone() }));
        }
        Cow::Borrowed(command)
    }

    /// Decides a command at any time, applies what it comes to, and runs no round: for setting the scene.
    pub fn stage(&mut self, command: &Command, at: Timestamp) -> Result<Vec<Event>, Rejection> {
        let events = transition::decide(&self.state, command, at)?;
        for event in &events {
            self.apply(event.clone());
        }
        Ok(events)
    }

    /// Applies an event: for setting the scene.
    pub fn apply(&mut self, event: Event) {
        transition::apply(&mut self.state, &event);
        self.log.push(event);
    }

    /// Runs a round now.
    pub fn round(&mut self) -> Result<Vec<Event>, Rejection> {
        self.send(&Command::Round(Round { slot: None }))
    }

    /// Runs the scheduled round of this minute, or of the next one if that has been decided.
    pub fn scheduled_round(&mut self) -> Result<Vec<Event>, Rejection> {
        let minute = self.now.0.div_euclid(60_000);
        let slot = self.state.last_slot.map_or(minute, |last| minute.max(last + 1));
        self.send(&Command::Round(Round { slot: Some(slot) }))
    }

    /// Moves the clock to `to`, with what comes by itself on the way, as it comes in plans and replays.
    pub fn advance(&mut self, to: Timestamp) -> Result<(), Rejection> {
        while let Some(tick) = clock::next(&self.state, self.now).filter(|tick| tick.at <= to) {
            self.now = tick.at;
            let events = tick.take(&mut self.state)?;
            self.log.extend(events);
        }
        self.now = to.max(self.now);
        Ok(())
    }
}
