//! A plan as a document: where it begins, and what can be moved in it. Examples and links are such
//! documents.

use engine::host::authority;
use engine::host::plan::base::Base;
use engine::message::command::AmountByName;
use engine::message::command::Command;
use engine::message::command::ScaleMode;
use engine::message::command::ScaleQuotas;
use engine::message::command::ScaleTarget;
use engine::message::command::SubmitJob;
use engine::message::plan::Change;
use engine::message::plan::Variant;
use engine::state::world::State;
use engine::unit::id::QuotaId;
use engine::unit::limit;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;
use serde::Deserialize;
use serde::Serialize;

/// The format of documents that are written today.
pub const FORMAT: u32 = 1;
/// Controls of a document.
pub const CONTROLS_MAX: usize = 32;
/// Commands by which a document describes its base.
pub const COMMANDS_MAX: usize = 100_000;

/// A text in the languages of the planner.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Text {
    /// In English.
    pub en: String,
    /// In Simplified Chinese.
    pub zh: String,
}

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

/// Something that a reader can move.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Control {
    /// GPUs from one quota to its sibling: the value is what the first one has then.
    Move {
        /// Who gets more.
        takes: QuotaId,
        /// Who has the rest.
        gives: QuotaId,
        /// The dimension.
        dimension: String,
        /// The smallest value, in the dimension's unit.
        least: i64,
        /// The largest value.
        most: i64,
        /// The distance between two values.
        step: i64,
    },
    /// The size of a job that is submitted at the beginning; at 0 it is not.
    Size {
        /// The job. Its first kind of pods gets the value.
        job: Box<SubmitJob>,
        /// The dimension.
        dimension: String,
        /// The value to begin with.
        value: i64,
        /// The largest value.
        most: i64,
        /// The distance between two values.
        step: i64,
    },
    /// Changes that are made or not: the value is 1 or 0.
    Switch {
        /// What people read.
        label: Text,
        /// What is made.
        changes: Vec<Change>,
    },
}

/// A document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// The format.
    pub format: u32,
    /// What it is called.
    pub title: Text,
    /// What made the cluster, and what is going to be asked for; what comes after `from` is the future.
    pub commands: Vec<Timed>,
    /// When the plan begins.
    #[serde(default)]
    pub from: Timestamp,
    /// How far it looks.
    #[serde(rename = "for_ms")]
    pub length: Millis,
    /// What a reader can move.
    #[serde(default)]
    pub controls: Vec<Control>,
    /// Where the controls stand, if not where they stand by themselves: a value for each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<i64>,
}

impl Document {
    /// Reads a document.
    ///
    /// # Errors
    /// In words: what is wrong, and where.
    pub fn read(json: &str) -> Result<Self, String> {
        let format =
            serde_json::from_str::<Header>(json).map_err(|error| format!("the plan cannot be read: {error}"))?;
        if format.format != FORMAT {
            return Err(format!(
                "the plan has format {}, this planner reads format {FORMAT}; reload the page to get the newer planner",
                format.format
            ));
        }
        let document: Self = serde_json::from_str(json).map_err(|error| format!("the plan cannot be read: {error}"))?;
        document.check()?;
        Ok(document)
    }

    fn check(&self) -> Result<(), String> {
        let within = |what: &str, count: usize, limit: usize| {
            if count > limit {
                Err(format!("{count} {what} are more than the {limit} that a plan may have"))
            } else {
                Ok(())
            }
        };
        within("controls", self.controls.len(), CONTROLS_MAX)?;
        within("commands", self.commands.len(), COMMANDS_MAX)?;
        if self.length.0 < 1 || self.length.0 > limit::PLAN_MS_MAX {
            let (length, most) = (self.length.0, limit::PLAN_MS_MAX);
            return Err(format!("the plan looks {length} ms ahead; it must be from 1 to {most}, which are 366 days"));
        }
        Ok(())
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

    /// When the plan ends.
    #[must_use]
    pub fn until(&self) -> Timestamp {
        self.from + self.length
    }

    /// Where a control stands when a reader first sees it.
    #[must_use]
    pub fn value(&self, control: usize, state: &State) -> i64 {
        let known = self.values.get(control).copied();
        known.or_else(|| self.controls.get(control).map(|control| control.initial(state))).unwrap_or(0)
    }

    /// The variant that the controls make at these values, one for each control.
    #[must_use]
    pub fn variant(&self, state: &State, values: &[i64]) -> Variant {
        let mut changes = Vec::new();
        for (control, value) in self.controls.iter().zip(values) {
            changes.extend(control.changes(state, self.from, *value));
        }
        Variant { name: String::new(), changes }
    }
}

/// What is read of a document before it is known to be readable.
#[derive(Deserialize)]
struct Header {
    format: u32,
}

impl Control {
    /// The value that changes nothing.
    fn rest(&self, state: &State) -> i64 {
        match self {
            Self::Move { takes, dimension, .. } => {
                amounts(state, takes).and_then(|amounts| amounts.get(dimension).copied()).unwrap_or(0)
            }
            Self::Size { .. } | Self::Switch { .. } => 0,
        }
    }

    fn initial(&self, state: &State) -> i64 {
        match self {
            Self::Size { value, .. } => *value,
            Self::Move { .. } | Self::Switch { .. } => self.rest(state),
        }
    }

    fn changes(&self, state: &State, from: Timestamp, value: i64) -> Vec<Change> {
        if value == self.rest(state) {
            return Vec::new();
        }
        let now = |command| vec![Change { at: from, command, is_off: false }];
        match self {
            Self::Move { takes, gives, dimension, .. } => {
                let Some(mut taken) = amounts(state, takes) else { return Vec::new() };
                let Some(mut given) = amounts(state, gives) else { return Vec::new() };
                let more = value.saturating_sub(taken.get(dimension).copied().unwrap_or(0));
                *taken.or_default(dimension.clone()) += more;
                *given.or_default(dimension.clone()) -= more;
                let target = |quota: &QuotaId, min| ScaleTarget { quota: quota.clone(), min };
                let targets = vec![target(takes, taken), target(gives, given)];
                now(Command::ScaleQuotas(ScaleQuotas { targets, mode: ScaleMode::Drain }))
            }
            Self::Size { job, dimension, .. } => {
                let mut job = SubmitJob::clone(job);
                if let Some(pods) = job.pods.first_mut() {
                    pods.amount.insert(dimension.clone(), value);
                }
                now(Command::SubmitJob(job))
            }
            Self::Switch { changes, .. } => changes.clone(),
        }
    }
}

/// What a quota is guaranteed, by dimension names.
fn amounts(state: &State, quota: &QuotaId) -> Option<AmountByName> {
    let min = &state.quotas[state.quota_no(quota)?.at()].min;
    let names = state.cluster.dimensions.iter().enumerate();
    Some(names.filter(|(at, _)| min.states(*at)).map(|(at, known)| (known.name.clone(), min.amount[at])).collect())
}
