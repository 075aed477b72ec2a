//! A plan as a document: a state, what is known to follow, and the variants. Links and files are such documents, so
//! that the same plan gives the same picture anywhere.

use engine::host::plan::base::Base;
use engine::message::command::ApplyPlan;
use engine::message::command::Command;
use engine::message::plan::Variant;
use engine::message::snapshot::Snapshot;
use engine::unit::limit;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;
use serde::Deserialize;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::page::link;
use fields::facts::Place;

/// The format of documents that are written today.
pub const FORMAT: u32 = 1;
/// The longest link that is offered; what is longer is saved as a file.
pub const LINK_MAX: usize = 30_000;
/// Variants of a plan.
pub const VARIANTS_MAX: usize = 8;

/// A command at a time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Timed {
    /// When.
    #[serde(default)]
    pub at: Timestamp,
    /// What.
    pub command: Command,
}

/// The document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sheet {
    /// The format.
    pub format: u32,
    /// What its beginning is called.
    pub title: String,
    /// The cluster that the beginning was taken from, if it was.
    #[serde(default)]
    pub place: Option<Place>,
    /// The state at the beginning.
    pub state: Snapshot,
    /// When it begins.
    pub from: Timestamp,
    /// What is asked for in every variant.
    #[serde(default)]
    pub ahead: Vec<Timed>,
    /// How far it looks; nothing: until nothing happens any more.
    #[serde(default)]
    pub length: Option<Millis>,
    /// The variants.
    #[serde(default)]
    pub variants: Vec<Variant>,
    /// Whether it comes from what has happened, and was not written.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_measured: bool,
}

/// What is read of a document before it is known to be readable.
#[derive(Deserialize)]
struct Header {
    format: u32,
}

/// Reads a document of today's format.
pub(crate) fn parse<T: DeserializeOwned>(json: &str) -> Result<T, String> {
    let unreadable = |error: serde_json::Error| format!("the plan cannot be read: {error}");
    let Header { format } = serde_json::from_str(json).map_err(unreadable)?;
    if format != FORMAT {
        return Err(format!(
            "the plan has format {format}, this console reads format {FORMAT}; reload the page to get the newer one"
        ));
    }
    serde_json::from_str(json).map_err(unreadable)
}

/// Whether a plan may look so far ahead.
pub(crate) fn check_length(length: Millis) -> Result<(), String> {
    let most = limit::PLAN_MS_MAX;
    if (1..=most).contains(&length.0) {
        return Ok(());
    }
    Err(format!("the plan looks {} ms ahead; it must be from 1 to {most}, which are 366 days", length.0))
}

/// A command without what it does with keys; nothing if it does nothing else.
fn without_keys(command: &Command) -> Option<Command> {
    if let Command::ApplyPlan(plan) = command {
        let commands: Vec<Command> = plan.commands.iter().filter_map(without_keys).collect();
        return (!commands.is_empty()).then_some(Command::ApplyPlan(ApplyPlan { commands }));
    }
    let is_of_keys = matches!(command, Command::CreateKey(_) | Command::RotateKey(_) | Command::RevokeKey(_));
    (!is_of_keys).then(|| command.clone())
}

impl Sheet {
    /// A base with variants.
    #[must_use]
    pub fn of(
        base: &Base,
        title: String,
        place: Option<Place>,
        length: Option<Millis>,
        variants: Vec<Variant>,
    ) -> Self {
        let mut state = Snapshot::of(&base.state);
        // Who holds a key is nobody's business, and no plan depends on it.
        state.keys.clear();
        let timed = |(at, command): &(Timestamp, Command)| Some(Timed { at: *at, command: without_keys(command)? });
        let ahead = base.ahead.iter().filter_map(timed).collect();
        Self { format: FORMAT, title, place, state, from: base.from, ahead, length, variants, is_measured: false }
    }

    /// Reads a document.
    ///
    /// # Errors
    /// In words: what is wrong, and what to do.
    pub fn read(json: &str) -> Result<Self, String> {
        let sheet: Self = parse(json)?;
        if sheet.variants.len() > VARIANTS_MAX {
            let count = sheet.variants.len();
            return Err(format!("the plan has {count} variants, which are more than {VARIANTS_MAX}"));
        }
        sheet.length.map_or(Ok(()), check_length)?;
        Ok(sheet)
    }

    /// Reads what stands in a link.
    ///
    /// # Errors
    /// In words: what is wrong, and what to do.
    pub fn read_link(text: &str) -> Result<Self, String> {
        Self::read(&link::unpack(text)?)
    }

    /// Where its variants begin.
    ///
    /// # Errors
    /// In words: what in the state does not fit together.
    pub fn base(&self) -> Result<Base, String> {
        let state = self
            .state
            .clone()
            .restore()
            .map_err(|rejection| format!("the plan's state does not fit together: {rejection}"))?;
        let ahead = self.ahead.iter().map(|Timed { at, command }| (*at, command.clone())).collect();
        Base::new(state, self.from, ahead).map_err(|rejection| rejection.to_string())
    }

    /// As what stands behind `#plan=`; nothing if it would be too long.
    #[must_use]
    pub fn link(&self) -> Option<String> {
        link::pack(self, LINK_MAX)
    }

    /// As the text of a file.
    #[must_use]
    pub fn text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}
