//! What the lines of a scenario do, as changes with their times: those of a scenario, or of a file of changes to a cluster
//! that is there.

use std::sync::Arc;

use engine::host::plan::base::Base;
use engine::message::command::Command;
use engine::message::command::market::PublishPrice;
use engine::message::plan::Change;
use engine::state::world::State;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;
use script::fault::Fault;
use script::line::Line;
use script::line::Scene;
use script::lines::MARK;
use script::session::Session;
use script::stage::Stage;

/// Goes through the lines.
pub(crate) struct Acts {
    /// What is there.
    pub(crate) stage: Stage,
    /// What is done.
    pub(crate) changes: Vec<Change>,
    /// When the next line is done.
    pub(crate) now: Timestamp,
}

impl Acts {
    /// Nothing is done yet with what is there.
    pub(crate) fn new(stage: Stage) -> Self {
        let now = stage.session.now;
        Self { stage, changes: Vec::new(), now }
    }

    /// Reads a line; gives back what sets the scene.
    pub(crate) fn read(&mut self, text: &str) -> Result<Option<Scene>, Fault> {
        if text.starts_with(MARK) {
            return Ok(None);
        }
        let Some(line) = self.stage.read(text)? else { return Ok(None) };
        match line {
            Line::Scene(scene) => return Ok(Some(scene)),
            Line::Act(command) => self.act(command),
            Line::Cordon(node, status) => {
                let command = self.stage.cordon(&node, status)?;
                self.act(command);
            }
            Line::Price { offer, price, shift } => {
                let at = shift.map(|shift| self.now + shift);
                self.act(Command::PublishPrice(PublishPrice { offer, price, at }));
            }
            // What was written before the round is one moment, what comes after it another.
            Line::Round => self.pass(Millis::MINUTE),
            Line::Advance(period) | Line::Pass(period) | Line::Skip(period) => self.pass(period),
            Line::Ask(..) | Line::Overdue => {}
        }
        Ok(None)
    }

    /// What is written in several lines happens one after the other, each followed by a round.
    fn act(&mut self, command: Command) {
        self.changes.push(Change { at: self.now, command, is_off: false });
        self.now = self.now + Millis(1);
    }

    fn pass(&mut self, period: Millis) {
        self.now.0 = self.now.0.saturating_add(period.0.max(0));
    }
}

/// Reads a file of changes: lines of a scenario that do something, each from where the base begins or as much later as
/// `advance` says. What stands together is done in one moment, as one plan.
///
/// # Errors
/// In words: which line is wrong, and what should stand there.
pub fn changes(text: &str, base: &Base) -> Result<Vec<Change>, String> {
    let mut stage = Stage::new().map_err(|rejection| rejection.to_string())?;
    stage.session = Session { state: State::clone(&Arc::clone(&base.state)), now: base.from, log: Vec::new() };
    let mut acts = Acts::new(stage);
    for (at, line) in text.lines().enumerate() {
        // One moment until time goes on: the engine takes all of it or says what it refuses.
        let (now, before) = (acts.now, acts.changes.len());
        let place = |fault: Fault| fault.in_line(at + 1);
        if acts.read(line).map_err(place)?.is_some() {
            return Err(place(Fault::of_word(line, 0, "it sets a scene; changes begin with update, scale, submit, cancel, priority, resize, cordon, price or inventory".to_owned())));
        }
        if acts.changes.len() > before {
            acts.now = now;
        }
    }
    Ok(acts.changes)
}
