//! Finds the smallest change that reaches a goal: tries the members of a stated family from the smallest on, each by
//! simulation. What is found is the smallest member that works; of other families nothing is said.

use serde::Deserialize;
use serde::Serialize;

use crate::host::plan::base::Base;
use crate::host::plan::goal::Goal;
use crate::host::plan::goal::Verdict;
use crate::host::plan::run::Horizon;
use crate::host::plan::run::Run;
use crate::message::command::AmountByName;
use crate::message::command::Command;
use crate::message::command::ScaleMode;
use crate::message::command::ScaleQuotas;
use crate::message::command::ScaleTarget;
use crate::message::command::SetPriority;
use crate::message::command::UpdateQuota;
use crate::message::plan::Change;
use crate::message::plan::Variant;
use crate::message::rejection::Noun;
use crate::message::rejection::Rejection;
use crate::quota::settings::QuotaSettings;
use crate::state::world::State;
use crate::unit::id::JobId;
use crate::unit::id::QuotaId;
use crate::unit::limit;
use crate::unit::priority::Priority;

/// How many members of a family are tried at most.
pub const MEMBERS_MAX: i64 = 256;
/// Events between two looks at a goal that needs to look at every job.
const EVENTS_BETWEEN_LOOKS: u64 = 256;

/// Changes of one kind, from the smallest to the largest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// The quota gets more of a dimension, step by step; a sibling gives it, or the parent has it left.
    Amount {
        /// The quota.
        quota: QuotaId,
        /// Who gives.
        #[serde(default)]
        from: Option<QuotaId>,
        /// The dimension's name.
        dimension: String,
        /// How much more each member is than the one before.
        step: i64,
        /// The largest.
        at_most: i64,
    },
    /// The job's declared priority is raised, one by one.
    Priority {
        /// The job.
        job: JobId,
    },
    /// The quota's settings are replaced; a family of one.
    Settings {
        /// The quota.
        quota: QuotaId,
        /// The new ones.
        settings: QuotaSettings,
    },
}

impl Family {
    fn check(&self, state: &State) -> Result<(), Rejection> {
        let unknown = |noun, name: &str| Err(Rejection::Unknown { noun, name: name.to_owned() });
        let quotas = match self {
            Self::Amount { step, .. } if *step < 1 => {
                let what = "the step of the search".to_owned();
                return Err(Rejection::OutOfRange { what, value: *step, min: 1, max: limit::AMOUNT_MAX });
            }
            Self::Amount { dimension, .. } if state.cluster.dimension(dimension).is_none() => {
                return unknown(Noun::Dimension, dimension);
            }
            Self::Amount { quota, from, .. } => [Some(quota), from.as_ref()],
            Self::Settings { quota, .. } => [Some(quota), None],
            Self::Priority { job } if state.jobs.find(job).is_none() => return unknown(Noun::Job, job.as_str()),
            Self::Priority { .. } => [None, None],
        };
        match quotas.into_iter().flatten().find(|quota| state.quota_no(quota).is_none()) {
            Some(quota) => unknown(Noun::Quota, quota.as_str()),
            None => Ok(()),
        }
    }
}

/// What a search came to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Found {
    /// The goal is reached without any change.
    Already,
    /// The smallest change that reaches the goal.
    Change {
        /// It.
        command: Command,
        /// How many members were tried, this one included.
        tried: u32,
    },
    /// No member of the family reaches the goal.
    Nothing {
        /// How many were tried.
        tried: u32,
        /// Why the next one could not be made, if that ended the search.
        refused: Option<Rejection>,
    },
}

/// A search on its way.
#[derive(Clone, Debug)]
pub struct Search {
    base: Base,
    variant: Variant,
    horizon: Horizon,
    goal: Goal,
    family: Family,
    /// The state after the variant's own changes at the beginning.
    start: State,
    run: Run,
    tried: u32,
    command: Option<Command>,
    found: Option<Found>,
}

impl Search {
    /// A search for what would have to be added to a variant.
    ///
    /// # Errors
    /// [`Rejection::Unknown`] when the goal or the family names what is not there; [`Rejection::OutOfRange`] for a
    /// step that is not positive.
    pub fn new(
        base: &Base,
        variant: &Variant,
        horizon: Horizon,
        goal: Goal,
        family: Family,
    ) -> Result<Self, Rejection> {
        let mut run = Run::new(base, variant, horizon);
        if variant.changes.iter().any(|change| !change.is_off && change.at <= base.from) {
            run.step();
        }
        let start = run.state().clone();
        let announced = |job: &JobId| {
            let ahead = base.ahead.iter().map(|(_, command)| command);
            let changes = variant.changes.iter().map(|change| &change.command);
            ahead.chain(changes).any(|command| matches!(command, Command::SubmitJob(submit) if submit.job == *job))
        };
        goal.check(&start, announced)?;
        family.check(&start)?;
        let (base, variant) = (base.clone(), variant.clone());
        Ok(Self { base, variant, horizon, goal, family, start, run, tried: 0, command: None, found: None })
    }

    /// What it has come to, once it is over.
    #[must_use]
    pub fn found(&self) -> Option<&Found> {
        self.found.as_ref()
    }

    /// How many members have been tried.
    #[must_use]
    pub fn tried(&self) -> u32 {
        self.tried
    }

    /// Goes on for so many events, and ends as soon as the answer is known.
    pub fn advance(&mut self, events: u64) {
        let mut left = events;
        while self.found.is_none() && left > 0 {
            let before = self.run.tally.events;
            self.run.advance(left.min(EVENTS_BETWEEN_LOOKS));
            // A look costs something, too: a search ends even where nothing happens.
            left = left.saturating_sub((self.run.tally.events - before).max(1));
            match self.verdict() {
                Verdict::Open => {}
                Verdict::Met => {
                    let tried = self.tried;
                    self.found = Some(match self.command.take() {
                        None => Found::Already,
                        Some(command) => Found::Change { command, tried },
                    });
                }
                Verdict::Missed => self.try_next(),
            }
        }
    }

    fn verdict(&self) -> Verdict {
        // A change that was refused reaches nothing; what the variant has of its own is for its owner to judge.
        let own = self.variant.changes.len();
        if self.run.refused.iter().any(|refusal| refusal.change == own) {
            return Verdict::Missed;
        }
        self.goal.verdict(&self.run)
    }

    fn try_next(&mut self) {
        let own = self.variant.changes.len();
        let refusal = self.run.refused.iter().find(|refusal| refusal.change == own);
        let refused = refusal.map(|refusal| refusal.rejection.clone());
        // What is larger than what is impossible is impossible as well.
        let next = if refused.is_some() { None } else { self.member(i64::from(self.tried) + 1) };
        let Some(command) = next else {
            self.found = Some(Found::Nothing { tried: self.tried, refused });
            return;
        };
        let mut variant = self.variant.clone();
        variant.changes.push(Change { at: self.base.from, command: command.clone(), is_off: false });
        self.run = Run::new(&self.base, &variant, self.horizon);
        self.command = Some(command);
        self.tried += 1;
    }

    /// The member of this number, counted from 1.
    #[must_use]
    pub fn member(&self, number: i64) -> Option<Command> {
        if number > MEMBERS_MAX {
            return None;
        }
        match &self.family {
            Family::Amount { quota, from, dimension, step, at_most } => {
                let more = step.saturating_mul(number);
                if more > *at_most {
                    return None;
                }
                let mut targets = vec![self.target(quota, dimension, more)?];
                if let Some(from) = from {
                    targets.push(self.target(from, dimension, -more)?);
                }
                Some(Command::ScaleQuotas(ScaleQuotas { targets, mode: ScaleMode::Drain }))
            }
            Family::Priority { job } => {
                let no = self.start.jobs.find(job)?;
                let value = self.start.jobs[no].spec.priority.get().checked_add(u8::try_from(number).ok()?)?;
                let priority = Priority::new(value.into()).ok()?;
                Some(Command::SetPriority(SetPriority { job: job.clone(), priority }))
            }
            Family::Settings { quota, settings } => (number == 1)
                .then(|| Command::UpdateQuota(UpdateQuota { quota: quota.clone(), settings: settings.clone() })),
        }
    }

    fn target(&self, quota: &QuotaId, dimension: &str, more: i64) -> Option<ScaleTarget> {
        let no = self.start.quota_no(quota)?;
        let min = &self.start.quotas[no.at()].min;
        let mut by_name = AmountByName::new();
        for (at, known) in self.start.cluster.dimensions.iter().enumerate() {
            if min.states(at) {
                by_name.insert(known.name.clone(), min.amount[at]);
            }
        }
        let value = by_name.get_mut(dimension)?;
        *value = value.saturating_add(more);
        Some(ScaleTarget { quota: quota.clone(), min: by_name })
    }
}
