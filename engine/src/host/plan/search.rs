//! Finds the smallest change that reaches a goal: tries the members of a stated family from the smallest on, each by
//! simulation. What is found is the smallest member that works; of other families nothing is said.

use serde::Deserialize;
use serde::Serialize;

use crate::host::plan::base::Base;
use crate::host::plan::goal::Goal;
use crate::host::plan::goal::Reach;
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
        match self {
            Self::Amount { step, .. } if *step < 1 => {
                let what = "the step of the search".to_owned();
                Err(Rejection::OutOfRange { what, value: *step, min: 1, max: limit::AMOUNT_MAX })
            }
            Self::Amount { step, at_most, .. } if at_most < step => {
                let what = "the largest change of the search".to_owned();
                Err(Rejection::OutOfRange { what, value: *at_most, min: *step, max: limit::AMOUNT_MAX })
            }
            Self::Amount { dimension, .. } if state.cluster.dimension(dimension).is_none() => {
                unknown(Noun::Dimension, dimension)
            }
            Self::Amount { quota, from, dimension, .. } => {
                let mut quotas = [Some(quota), from.as_ref()].into_iter().flatten();
                quotas.try_for_each(|quota| has_dimension(state, quota, dimension))
            }
            Self::Settings { quota, .. } if state.quota_no(quota).is_none() => unknown(Noun::Quota, quota.as_str()),
            Self::Settings { .. } => Ok(()),
            Self::Priority { job } => {
                let Some(no) = state.jobs.find(job) else { return unknown(Noun::Job, job.as_str()) };
                if state.jobs[no].spec.priority < Priority::HIGHEST {
                    return Ok(());
                }
                let highest = Priority::HIGHEST;
                let reason = format!("{job} has priority {highest} already, the highest; look for another change");
                Err(Rejection::Structure { reason })
            }
        }
    }
}

/// An amount can grow and shrink only in a dimension that the quota is counted in.
fn has_dimension(state: &State, quota: &QuotaId, dimension: &str) -> Result<(), Rejection> {
    let Some(no) = state.quota_no(quota) else {
        return Err(Rejection::Unknown { noun: Noun::Quota, name: quota.to_string() });
    };
    let min = &state.quotas[no.at()].min;
    let stated = state.cluster.dimensions.iter().enumerate().filter(|(at, _)| min.states(*at));
    let stated: Vec<&str> = stated.map(|(_, known)| known.name.as_str()).collect();
    if stated.contains(&dimension) {
        return Ok(());
    }
    let reason = format!(
        "{quota} is not counted in {dimension}, only in {}; scale a quota that is, or give it an amount of {dimension} first",
        if stated.is_empty() { "nothing".to_owned() } else { stated.join(", ") }
    );
    Err(Rejection::Structure { reason })
}

/// What a search came to.
#[derive(Clone, Debug, PartialEq, Eq)]
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
        /// The largest that could be made, if one could.
        largest: Option<Command>,
        /// How near that comes, or the variant as it is.
        reach: Reach,
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
    /// Whether all that could be tried has been: the largest is run to its end.
    is_last: bool,
    /// Why there is no more, if one was refused.
    refused: Option<Rejection>,
    found: Option<Found>,
}

impl Search {
    /// A search for what would have to be added to a variant.
    ///
    /// # Errors
    /// [`Rejection::Unknown`] when the goal or the family names what is not there; [`Rejection::OutOfRange`] and
    /// [`Rejection::Structure`] when the family has no members.
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
        Ok(Self {
            base,
            variant,
            horizon,
            goal,
            family,
            start,
            run,
            tried: 0,
            command: None,
            is_last: false,
            refused: None,
            found: None,
        })
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
            if self.is_last {
                if self.run.is_over() {
                    let (refused, largest) = (self.refused.take(), self.command.take());
                    let reach = self.goal.reach(&self.run, self.base.from);
                    self.found = Some(Found::Nothing { tried: self.tried, refused, largest, reach });
                }
                continue;
            }
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
            if refused.is_some() {
                self.begin(self.member(i64::from(self.tried) - 1));
            }
            (self.is_last, self.refused) = (true, refused);
            return;
        };
        self.begin(Some(command));
        self.tried += 1;
    }

    /// Runs the variant with a member of the family, or as it is.
    fn begin(&mut self, member: Option<Command>) {
        let mut variant = self.variant.clone();
        let change = |command: &Command| Change { at: self.base.from, command: command.clone(), is_off: false };
        variant.changes.extend(member.as_ref().map(change));
        self.run = Run::new(&self.base, &variant, self.horizon);
        self.command = member;
    }

    /// The member of this number, counted from 1.
    #[must_use]
    pub fn member(&self, number: i64) -> Option<Command> {
        if !(1..=MEMBERS_MAX).contains(&number) {
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
