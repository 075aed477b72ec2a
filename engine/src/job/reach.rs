//! Of several refusals, which came furthest: that one is the binding reason of a job that waits.

use std::cmp::Reverse;

use crate::job::hold::Attempt;
use crate::job::hold::Blocker;
use crate::job::hold::Hold;
use crate::job::never::Never;
use crate::job::phase::Source;

impl Hold {
    /// A hold of these attempts, which are in the order of the sources; of those that came furthest the last is binding.
    #[must_use]
    pub fn of(mut attempts: Vec<Attempt>) -> Self {
        let binding = (0..attempts.len()).max_by_key(|&at| reach_of(&attempts[at]));
        if let Some(at) = binding {
            attempts[..=at].rotate_right(1);
        }
        Self { attempts }
    }
}

/// How far it came: of two policies that free something, the one that leaves less to be wished for.
fn reach_of(attempt: &Attempt) -> (u8, Reverse<i64>) {
    if let Blocker::VictimsTooFew { missing, could_free, .. } = attempt.blocker {
        return (7, Reverse(missing.saturating_sub(could_free)));
    }
    // All who may be taken would make room in the quota, and then the machines do not fit.
    let is_after_victims = matches!(attempt.blocker, Blocker::NoRoom { .. })
        && matches!(attempt.source, Source::ChildLevel | Source::SelfLevel);
    (if is_after_victims { 7 } else { weight(&attempt.blocker) }, Reverse(0))
}

/// How far a request came that was refused so: what can never change first, then what changes by itself, then the
/// furthest rule that is switched on, then the switches, then plain shortage.
fn weight(blocker: &Blocker) -> u8 {
    match blocker {
        Blocker::LargerThanQuota { .. } => 12,
        Blocker::Backoff { .. } | Blocker::BehindHead { .. } => 11,
        Blocker::WaitingForRelease { .. } => 10,
        Blocker::Reserved { .. } => 9,
        Blocker::VictimProtected { .. } => 8,
        Blocker::NotSolved { .. } | Blocker::VictimsTooFew { .. } => 7,
        Blocker::PriorityNotHigh { .. } | Blocker::NoVictim { .. } => 6,
        Blocker::ChildLevelOff { .. } => 5,
        // Of a proof about a parent's own part the switch that keeps it so helps more.
        Blocker::NoRoom { .. } | Blocker::Never(Never::Own { .. }) => 4,
        Blocker::LargerThanNodes { .. } | Blocker::Never(_) => 13,
        Blocker::QuotaFull { .. }
        | Blocker::IdleShort { .. }
        | Blocker::BelowMarket { .. }
        | Blocker::BelowAverage { .. }
        | Blocker::InventoryShort { .. }
        | Blocker::NextRound { .. }
        | Blocker::LeftOver => 3,
        Blocker::NothingLent => 2,
        Blocker::IdleOff
        | Blocker::IdleOnly
        | Blocker::NoBid
        | Blocker::SelfLevelOff { .. }
        | Blocker::NoChildren { .. } => 1,
    }
}
