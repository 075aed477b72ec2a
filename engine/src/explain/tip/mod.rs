//! Changes that would start a waiting job, each tried on a copy before it is told (rules 10).
//!
//! A tip is a promise: whoever follows it now, by sending its command, or by cancelling the job and submitting it anew
//! as the tip says, sees the job started or granted by the next round. So each is followed here first, by the same
//! functions and with the whole round: the round at once, and the scheduled one after it.
//!
//! These single changes are looked for, the smallest of each kind:
//! 1. another priority, the next higher first, the lower ones last;
//! 2. child-level preemption of its quota, switched on or widened, with the smallest range of priorities;
//! 3. self-level preemption of its quota, switched on, with its priority in the High set, or with a wider Low set;
//! 4. idle resources *Acceptable*, submitted anew;
//! 5. lending, switched on in one quota;
//! 6. more for its quota, out of what a sibling, or the parent for itself, leaves unused; likewise for an ancestor;
//! 7. fewer pods of one kind (of an elastic job: a smaller minimum), submitted anew, as many as possible; a service in
//!    parts is resized instead, and is neither given idle resources nor smaller pods;
//! 8. fewer GPUs in each pod of one kind, submitted anew, as many as possible;
//! 9. of a bid: a higher one, or fewer instances, submitted anew.
//!
//! More is not always easier (strict heads, reservations, whoever else profits), so nothing is bisected: small ranges
//! are gone through, of large ones such values are tried as the free amounts suggest. In a large cluster a round on a
//! copy takes its time, and explanations are asked for while somebody types: there each kind has a share of trials
//! ([`TRIALS`]), spread over its range.

mod amounts;
mod follow;
mod policies;
mod sizes;
mod submission;

pub(super) use follow::Followed;
pub(super) use follow::follow;
pub(super) use follow::next_round;
pub(super) use sizes::fewer_pods;
pub(super) use submission::submission;

use crate::explain::remedy::Help;
use crate::explain::words;
use crate::job::hold::Attempt;
use crate::job::hold::Blocker;
use crate::job::hold::Hold;
use crate::job::never::Never;
use crate::job::phase::Source;
use crate::job::spec::JobSpec;
use crate::message::command::Command;
use crate::message::command::SubmitJob;
use crate::state::world::State;
use crate::unit::id::JobNo;
use crate::unit::time::Timestamp;

/// How many trials each kind of change has, in a large cluster and in a small one.
const TRIALS: std::ops::RangeInclusive<usize> = 4..=160;

/// The trials of a kind times the jobs, quotas and nodes that a copy has, as long as [`TRIALS`] allow.
const COPIED: usize = 200_000;

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// A command is sent.
    Send(Box<Command>),
    /// The job is cancelled and submitted anew.
    Resubmit(Box<SubmitJob>),
}

/// A change that may help.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Proposal {
    /// The change in words, without an end: `Give it priority 6`.
    pub(super) words: String,
    pub(super) change: Change,
}

impl Proposal {
    pub(super) fn send(words: String, command: Command) -> Self {
        Self { words, change: Change::Send(Box::new(command)) }
    }

    pub(super) fn resubmit(words: String, submission: SubmitJob) -> Self {
        Self { words, change: Change::Resubmit(Box::new(submission)) }
    }

    fn help(self, sentence: String, lacks: Option<Box<Blocker>>) -> Help {
        let (command, resubmit) = match self.change {
            Change::Send(command) => (Some(*command), None),
            Change::Resubmit(submission) => (None, Some(submission)),
        };
        Help { sentence, command, resubmit, lacks }
    }
}

/// The search for what would start a job.
pub(super) struct Search<'s> {
    pub(super) state: &'s State,
    pub(super) no: JobNo,
    pub(super) now: Timestamp,
    /// How many trials a kind has.
    share: usize,
    /// The change that came nearest, with what it lacks.
    nearest: Option<(Distance, Proposal, Attempt)>,
}

impl<'s> Search<'s> {
    pub(super) fn of(state: &'s State, no: JobNo, now: Timestamp) -> Self {
        let copied = state.jobs.len() + state.quotas.len() + state.nodes.len();
        let share = (COPIED / copied.max(1)).clamp(*TRIALS.start(), *TRIALS.end());
        Self { state, no, now, share, nearest: None }
    }

    pub(super) fn spec(&self) -> &'s JobSpec {
        &self.state.jobs[self.no].spec
    }

    /// Whether the next round starts the job if nothing changes.
    pub(super) fn starts_anyway(&self) -> bool {
        matches!(follow(self.state, self.no, None, self.now), Followed::Starts(_))
    }

    /// Every kind of change, the smallest first.
    pub(super) fn kinds() -> [fn(&mut Search<'_>) -> Option<Help>; 8] {
        [
            policies::priority,
            policies::child_level,
            policies::self_level,
            sizes::idle,
            policies::lending,
            amounts::more,
            sizes::fewer_pods,
            sizes::fewer_gpus,
        ]
    }

    /// The help that a proposal is, if it does help. The end of its sentence says by what.
    pub(super) fn try_out(&mut self, proposal: Proposal, end: fn(Source) -> &'static str) -> Option<Help> {
        match follow(self.state, self.no, Some(&proposal.change), self.now) {
            Followed::Starts(source) => {
                let sentence = format!("{}{}", proposal.words, end(source));
                Some(proposal.help(sentence, None))
            }
            Followed::Waits(Some(hold)) => {
                self.note(proposal, &hold);
                None
            }
            Followed::Waits(None) | Followed::Refused => None,
        }
    }

    fn note(&mut self, proposal: Proposal, hold: &Hold) {
        let Some(binding) = hold.binding() else { return };
        let distance = Distance::of(&binding.blocker);
        if self.nearest.as_ref().is_none_or(|(nearest, ..)| distance < *nearest) {
            self.nearest = Some((distance, proposal, binding.clone()));
        }
    }

    /// What to say when nothing helps: the change that comes nearest, and what it lacks still.
    pub(super) fn nearest_miss(self, hold: &Hold) -> Help {
        let (state, now) = (self.state, self.now);
        let lack = |blocker: &Blocker| super::blocker(state, blocker, now);
        let as_it_is = hold.binding().map(|attempt| Distance::of(&attempt.blocker));
        let nearer = self.nearest.filter(|(distance, ..)| as_it_is.is_none_or(|as_it_is| *distance < as_it_is));
        let (sentence, lacks) = if let Some((_, proposal, Attempt { blocker, .. })) = nearer {
            let (words, lack) = (words::uncapitalised(&proposal.words), lack(&blocker));
            let nearest = format!("No single change would start it. Nearest: {words}. It would still wait: {lack}");
            (nearest, Some(Box::new(blocker)))
        } else {
            let blocker = hold.binding().map(|attempt| Box::new(attempt.blocker.clone()));
            let lack = blocker.as_ref().map(|blocker| format!(" {}", lack(blocker))).unwrap_or_default();
            (format!("No single change would start it.{lack}"), blocker)
        };
        Help { sentence, command: None, resubmit: None, lacks }
    }

    /// As many of these as the kind has trials: all of them, or some from its whole range, both ends among them.
    pub(super) fn within_share<T>(&self, candidates: Vec<T>) -> Vec<T> {
        let (count, share) = (candidates.len(), self.share);
        if count <= share {
            return candidates;
        }
        let is_chosen = |at: usize| (0..share).any(|chosen| chosen * (count - 1) / (share - 1) == at);
        candidates.into_iter().enumerate().filter(|(at, _)| is_chosen(*at)).map(|(_, candidate)| candidate).collect()
    }
}

/// How far a job is from its start: first by what kind of thing is in its way, then by the share of what it asks for
/// that is missing, in millionths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Distance(u8, i64);

impl Distance {
    fn of(blocker: &Blocker) -> Self {
        let share = |missing: i64, asked: i64| {
            let millionths = i128::from(missing.max(0)) * 1_000_000 / i128::from(asked.max(1));
            i64::try_from(millionths).unwrap_or(i64::MAX)
        };
        match blocker {
            Blocker::WaitingForRelease { .. } | Blocker::NextRound { .. } | Blocker::LeftOver => Self(0, 0),
            Blocker::VictimProtected { .. } => Self(0, 1),
            Blocker::QuotaFull { asked, free, .. }
            | Blocker::IdleShort { asked, idle: free, .. }
            | Blocker::InventoryShort { asked, free, .. } => Self(1, share(asked - free, *asked)),
            Blocker::VictimsTooFew { missing, could_free, .. } => Self(1, share(missing - could_free, *missing)),
            Blocker::BelowMarket { bid, price, .. } | Blocker::BelowAverage { bid, average: price, .. } => {
                Self(1, share(price - bid, *price))
            }
            Blocker::NoRoom { pods, fit, .. } => Self(1, share(i64::from(*pods) - i64::from(*fit), i64::from(*pods))),
            Blocker::NotSolved { .. } => Self(2, 0),
            Blocker::Backoff { .. } | Blocker::BehindHead { .. } | Blocker::Reserved { .. } => Self(3, 0),
            Blocker::NoVictim { .. }
            | Blocker::PriorityNotHigh { .. }
            | Blocker::ChildLevelOff { .. }
            | Blocker::SelfLevelOff { .. }
            | Blocker::NoChildren { .. }
            | Blocker::NothingLent
            | Blocker::IdleOff
            | Blocker::IdleOnly
            | Blocker::NoBid => Self(4, 0),
            Blocker::LargerThanQuota { asked, min: most, .. }
            | Blocker::Never(
                Never::Own { asked, own: most, .. }
                | Never::Level { asked, level: most, .. }
                | Never::Lent { asked, lent: most, .. },
            ) => Self(5, share(asked - most, *asked)),
            Blocker::LargerThanNodes { .. } | Blocker::Never(_) => Self(6, 0),
        }
    }
}
