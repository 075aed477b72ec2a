//! A scenario as a plan: the scene is where it begins, and what happens then is what a reader can move.

use std::sync::Arc;

use engine::host::plan::base::Base;
use engine::message::plan::Change;
use engine::message::plan::Variant;
use engine::message::rejection::Rejection;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;
use script::fault::Fault;
use script::lines::Document;
use script::lines::MARK;
use script::stage::BEGINNING;
use script::stage::Stage;
use script::stage::Trouble;

use crate::acts::Acts;
use crate::embed::control;
use crate::embed::control::Control;

/// Lines of a scenario.
pub const LINES_MAX: usize = 1_000;
/// How far a plan looks at least.
const LEAST: Millis = Millis(12 * 3_600_000);

/// A scenario that has been read, with its scene set.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Its lines, without what the engine is expected to say.
    pub lines: Vec<String>,
    /// The scene.
    pub base: Base,
    /// What happens then, as it is written.
    pub acts: Vec<Change>,
    /// When the last of its lines is over.
    pub end: Timestamp,
    /// What a reader can move: a control for each of the first acts.
    pub controls: Vec<Control>,
    /// What the engine refuses of the scene.
    pub refused: Vec<Rejection>,
}

impl Scenario {
    /// Reads a scenario: the first block of a Markdown file, or lines alone.
    ///
    /// # Errors
    /// In words: which line is wrong, and what should stand there.
    pub fn read(text: &str) -> Result<Self, String> {
        let block = Document::read(text).blocks.into_iter().next();
        let (first, lines) =
            block.map_or_else(|| (1, text.lines().map(str::to_owned).collect()), |block| (block.first, block.lines));
        if lines.len() > LINES_MAX {
            return Err(format!("the scenario has {} lines; a planner reads at most {LINES_MAX}", lines.len()));
        }
        let mut reader = Reader::new()?;
        for (at, line) in lines.iter().enumerate() {
            let number = first + at;
            reader.line(line).map_err(|fault| fault.in_line(number))?;
        }
        if reader.is_empty {
            return Err("there is no scenario here; its first lines name quotas or offers".to_owned());
        }
        let Reader { acts: Acts { stage, changes: acts, now }, refused, .. } = reader;
        let state = Arc::new(stage.session.state);
        let controls = control::of(&state, &acts);
        let base = Base { state, from: BEGINNING, ahead: Arc::default() };
        let lines = lines.into_iter().filter(|line| !line.starts_with(MARK) && !line.trim().is_empty()).collect();
        Ok(Self { lines, base, acts, end: now, controls, refused })
    }

    /// When its plan ends: full hours after its beginning.
    #[must_use]
    pub fn until(&self) -> Timestamp {
        let hours = (self.end - self.base.from).0 / Millis::HOUR.0;
        self.base.from + LEAST + Millis(hours.saturating_mul(Millis::HOUR.0))
    }

    /// What happens with the controls at these values; a control without a value stays where it is.
    #[must_use]
    pub fn variant(&self, values: &[i64]) -> Variant {
        let change = |(at, act): (usize, &Change)| match self.controls.get(at) {
            Some(control) => control.apply(act, values.get(at).copied().unwrap_or(control.value)),
            None => Some(act.clone()),
        };
        Variant { name: String::new(), changes: self.acts.iter().enumerate().filter_map(change).collect() }
    }
}

/// Goes through the lines.
struct Reader {
    acts: Acts,
    refused: Vec<Rejection>,
    is_empty: bool,
}

impl Reader {
    fn new() -> Result<Self, String> {
        let stage = Stage::new().map_err(|rejection| rejection.to_string())?;
        Ok(Self { acts: Acts::new(stage), refused: Vec::new(), is_empty: true })
    }

    fn line(&mut self, text: &str) -> Result<(), Fault> {
        let Some(scene) = self.acts.read(text)? else { return Ok(()) };
        self.is_empty = false;
        match self.acts.stage.set(&scene) {
            Ok(()) => {}
            Err(Trouble::Refused(rejection)) => self.refused.push(rejection),
            Err(Trouble::Impossible(reason)) => return Err(reason.into()),
        }
        Ok(())
    }
}
