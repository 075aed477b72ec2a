//! The search for what would start a job: each change is followed on a copy, and the nearest miss is kept.

use crate::explain::blocker::blocker as in_words;
use crate::explain::help::Help;
use crate::explain::tip::follow::Followed;
use crate::explain::tip::follow::follow;
use crate::explain::tip::price::price;
use crate::explain::tip::proposal::Proposal;
use crate::explain::words;
use crate::job::hold::Attempt;
use crate::job::hold::Blocker;
use crate::job::hold::Hold;
use crate::job::never::Never;
use crate::job::phase::Source;
use crate::job::spec::JobSpec;
use crate::state::world::State;
use crate::unit::id::JobNo;
use crate::unit::time::Timestamp;

/// How many trials each kind of change has, in a large cluster and in a small one.
const TRIALS: std::ops::RangeInclusive<usize> = 4..=160;

/// The trials of a kind times the jobs, quotas and nodes that a copy has, as long as [`TRIALS`] allow.
const COPIED: usize = 200_000;

/// The search for what would start a job.
pub(in crate::explain) struct Search<'s> {
    pub(in crate::explain) state: &'s State,
    pub(in crate::explain) no: JobNo,
    pub(in crate::explain) now: Timestamp,
    /// How many trials a kind has.
    share: usize,
    /// The change that came nearest, with what it lacks.
    nearest: Option<(Distance, Proposal, Attempt)>,
}

impl<'s> Search<'s> {
    pub(in crate::explain) fn of(state: &'s State, no: JobNo, now: Timestamp) -> Self {
        let copied = state.jobs.len() + state.quotas.len() + state.nodes.len();
        let share = (COPIED / copied.max(1)).clamp(*TRIALS.start(), *TRIALS.end());
        Self { state, no, now, share, nearest: None }
    }

    pub(in crate::explain) fn spec(&self) -> &'s JobSpec {
        &self.state.jobs[self.no].spec
    }

    /// Whether the next round starts the job if nothing changes.
    pub(in crate::explain) fn starts_anyway(&self) -> bool {
        matches!(follow(self.state, self.no, None, self.now), Followed::Starts(_))
    }

    /// The help that a proposal is, if it does help. The end of its sentence says by what; what it takes from others
    /// follows.
    pub(in crate::explain) fn try_out(&mut self, proposal: Proposal, end: fn(Source) -> &'static str) -> Option<Help> {
        match follow(self.state, self.no, Some(&proposal.change), self.now) {
            Followed::Starts(start) => {
                let price = price(self.state, &start, self.now).map_or_else(String::new, |price| format!(" {price}"));
                let sentence = format!("{}{}{price}", proposal.words, end(start.source));
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
    pub(in crate::explain) fn nearest_miss(self, hold: &Hold) -> Help {
        let (state, now) = (self.state, self.now);
        let lack = |blocker: &Blocker| in_words(state, blocker, now);
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
    pub(in crate::explain) fn within_share<T>(&self, candidates: Vec<T>) -> Vec<T> {
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
