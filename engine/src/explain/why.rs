//! Why a job waits: the binding reason first, all others after it, its position, what would start it now, and when
//! it would start by itself (rules 10.1).

use crate::explain::blocker::blocker;
use crate::explain::blocker::short_of;
use crate::explain::blocker::told_first;
use crate::explain::help::Help;
use crate::explain::holders::holders;
use crate::explain::reasons::hold;
use crate::explain::remedy::remedy;
use crate::host::clock;
use crate::host::visibility::Visibility;
use crate::job::hold::Attempt;
use crate::job::hold::Hold;
use crate::job::phase::Phase;
use crate::job::phase::Source;
use crate::schedule::order;
use crate::state::world::State;
use crate::unit::id::JobId;
use crate::unit::id::JobNo;
use crate::unit::time::Timestamp;

/// How many rounds ahead a start is looked for, in a small cluster and in a large one.
const ROUNDS_AHEAD: std::ops::RangeInclusive<usize> = 4..=1_000;

/// How many jobs are copied or looked at for an estimate, at most, as long as the rounds allow: it has to be there
/// while somebody types.
const JOBS_AHEAD: usize = 100_000;

/// Why a job waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Why {
    /// The reasons as data, the binding one first.
    pub hold: Hold,
    /// The binding reason, after what the quota is short of if that alone does not tell why.
    pub binding: String,
    /// All others that are not told with it, each with the source that was tried.
    pub others: Vec<(Source, String)>,
    /// Its place in the queue of its quota, or among the bids on its offer, from 1; none during a backoff.
    pub position: Option<usize>,
    /// The smallest single change that would start it now, or the change that comes nearest; nothing if the next round
    /// starts it anyway.
    pub help: Option<Help>,
    /// When it would start by itself, if running jobs declare their durations.
    pub estimate: Option<Timestamp>,
}

/// Why a waiting job waits; nothing for a job that does not.
#[must_use]
pub fn why(state: &State, no: JobNo, now: Timestamp) -> Option<Why> {
    Some(told(state, no, hold(state, no, now)?, now, &JobId::clone))
}

/// Why a job waits, as somebody may know it: only the reasons, and who holds what is missing, name
/// other jobs.
#[must_use]
pub fn why_seen(visibility: &Visibility, no: JobNo, now: Timestamp) -> Option<Why> {
    let state = visibility.state();
    Some(told(state, no, visibility.hold(hold(state, no, now)?), now, &|job| visibility.job(job)))
}

fn told(state: &State, no: JobNo, hold: Hold, now: Timestamp, known_as: &dyn Fn(&JobId) -> JobId) -> Why {
    let job = &state.jobs[no];
    let sentence = |attempt: &Attempt| {
        let (before, after) = holders(state, no, &attempt.blocker, now, known_as);
        format!("{before}{}{after}", blocker(state, &attempt.blocker, now))
    };
    let position = match state.bid_of(no) {
        Some((offer, ..)) => state.market.desks[offer.at()].waiting.iter().position(|(_, _, _, other)| *other == no),
        None => order::positions(state, job.spec.quota, now).iter().position(|other| *other == no),
    };
    let leads = short_of(&hold);
    let others =
        hold.attempts.iter().skip(1).filter(|attempt| leads.is_none_or(|leads| leads.blocker != attempt.blocker));
    Why {
        binding: told_first(&hold).map(sentence).collect::<Vec<_>>().join(" "),
        others: others.map(|attempt| (attempt.source, sentence(attempt))).collect(),
        position: position.map(|at| at + 1),
        help: remedy(state, no, &hold, now),
        estimate: estimate(state, no, now),
        hold,
    }
}

/// When the job starts if nobody submits anything: time goes on for a copy as it does for the service and for plans.
fn estimate(state: &State, no: JobNo, now: Timestamp) -> Option<Timestamp> {
    if state.jobs[no].bids() {
        // Nobody knows how prices go.
        return None;
    }
    let (mut ahead, mut at) = (state.clone(), now);
    let rounds = (JOBS_AHEAD / state.jobs.len().max(1)).clamp(*ROUNDS_AHEAD.start(), *ROUNDS_AHEAD.end());
    for _ in 0..rounds {
        let tick = clock::next(&ahead, at)?;
        at = tick.at;
        tick.take(&mut ahead).ok()?;
        match ahead.jobs.get(no).map(|job| &job.phase) {
            Some(Phase::Queued { .. }) => {}
            Some(Phase::Starting { .. } | Phase::Running { .. }) => return Some(at),
            Some(Phase::Stopping { .. } | Phase::Ended { .. }) | None => return None,
        }
    }
    None
}
