//! An example as a document: the commands that make its cluster, and how far its plan looks.

use engine::host::authority;
use engine::host::plan::base::Base;
use engine::message::plan::Variant;
use engine::state::world::State;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;
use serde::Deserialize;

use crate::page::sheet;
use crate::page::sheet::Timed;

/// Commands by which an example describes its base.
pub const COMMANDS_MAX: usize = 100_000;

/// An example.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Example {
    /// The format.
    pub format: u32,
    /// What it is called.
    pub title: String,
    /// What made the cluster, and what is going to be asked for; what comes after `from` is the future.
    pub commands: Vec<Timed>,
    /// When the plan begins.
    #[serde(default)]
    pub from: Timestamp,
    /// How far it looks.
    #[serde(rename = "for_ms")]
    pub length: Millis,
    /// What it is about: the changes that are looked at first.
    #[serde(default)]
    pub variants: Vec<Variant>,
}

impl Example {
    /// Reads an example.
    ///
    /// # Errors
    /// In words: what is wrong, and where.
    pub fn read(json: &str) -> Result<Self, String> {
        let example: Self = sheet::parse(json)?;
        let count = example.commands.len();
        if count > COMMANDS_MAX {
            return Err(format!("{count} commands are more than the {COMMANDS_MAX} that an example may have"));
        }
        sheet::check_length(example.length)?;
        Ok(example)
    }

    /// The base: everything up to the beginning is played, what comes later is ahead.
    ///
    /// # Errors
    /// In words: which command was refused, and why.
    pub fn base(&self) -> Result<Base, String> {
        let mut state = State::default();
        let mut ahead = Vec::new();
        for (at, Timed { at: when, command }) in self.commands.iter().enumerate() {
            if *when > self.from {
                ahead.push((*when, command.clone()));
                continue;
            }
            authority::step(&mut state, command, *when)
                .map_err(|rejection| format!("command {} of the plan is refused: {rejection}", at + 1))?;
        }
        Base::new(state, self.from, ahead).map_err(|rejection| rejection.to_string())
    }
}
