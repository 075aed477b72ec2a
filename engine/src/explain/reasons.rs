//! Why a waiting job waits, with today's numbers (rules 10.1).

use crate::job::hold::Attempt;
use crate::job::hold::Blocker;
use crate::job::hold::Hold;
use crate::job::phase::Phase;
use crate::job::phase::Source;
use crate::quota::settings::QueueStrategy;
use crate::schedule::judge::ask;
use crate::schedule::judge::may_block;
use crate::schedule::order;
use crate::schedule::source;
use crate::schedule::trial::Trial;
use crate::state::world::State;
use crate::unit::id::JobNo;
use crate::unit::time::Timestamp;

/// The reasons with today's numbers: the same question as in a round. What a whole queue decides (a strict head, a
/// reservation) is as the last round said, and what that named as binding stays so while it is true.
#[must_use]
pub fn hold(state: &State, no: JobNo, now: Timestamp) -> Option<Hold> {
    let job = state.jobs.get(no)?;
    let Phase::Queued { not_before } = &job.phase else { return None };
    if let Some((offer, ..)) = state.bid_of(no) {
        let next_round = || Blocker::NextRound { offer: state.market.offers[offer.at()].id.clone() };
        let offered = source::assign(Source::Spot, &Trial::new(state, now), &job.spec);
        let blocker = offered.err().unwrap_or_else(next_round);
        return Some(Hold::of(vec![Attempt { source: Source::Spot, blocker }]));
    }
    if let Some(until) = not_before {
        return Some(Hold::of(vec![Attempt { source: Source::Own, blocker: Blocker::Backoff { until: *until } }]));
    }
    let told = job.class.and_then(|class| state.queue.classes[class.at()].hold.clone());
    if let Some(told) = told.as_ref().filter(|told| is_by_queue(state, told)) {
        return Some(with_todays_numbers(state, told, no, now));
    }
    match (ask(&Trial::new(state, now), &job.spec), told) {
        (Err(asked), Some(told)) if is_kept_for_others(state, &told, &asked) => Some((*told).clone()),
        (Err(asked), Some(told)) => Some(asked.bound_like(&told)),
        (Err(asked), None) => Some(asked),
        (Ok(offer), told) => {
            let left_over = || Hold::of(vec![Attempt { source: offer.placed.source, blocker: Blocker::LeftOver }]);
            let not_asked = || state.is_stale(now).then(left_over).or_else(|| told.map(|told| (*told).clone()));
            behind_head(state, no, now).or_else(not_asked)
        }
    }
}

/// What was told, where sources still refuse for the same reasons with the numbers that these have now.
fn with_todays_numbers(state: &State, told: &Hold, no: JobNo, now: Timestamp) -> Hold {
    let (trial, job) = (Trial::new(state, now), &state.jobs[no].spec);
    let today = |told: &Attempt| {
        let blocker = source::assign(told.source, &trial, job).err();
        let today = blocker.map(|blocker| Attempt { source: told.source, blocker });
        today.filter(|today| today.is_same_kind(told)).unwrap_or_else(|| told.clone())
    };
    Hold { attempts: told.attempts.iter().map(today).collect() }
}

/// Whether machines are coming free that nobody has been given: for whom they are kept is for the whole queue to say.
fn is_releasing(state: &State) -> bool {
    let has_heir =
        |no: &JobNo| matches!(&state.jobs[*no].phase, Phase::Stopping(stopping) if stopping.evicted_for.is_some());
    !state.shedding.is_empty() || !state.stopping.iter().all(has_heir)
}

/// Whether the round found too little because it keeps what is there for whom machines are coming free, which asking
/// the sources again does not say.
fn is_kept_for_others(state: &State, told: &Hold, asked: &Hold) -> bool {
    is_releasing(state) && is_short_of_others(told) && !told.binding().is_some_and(|it| asked.names(it))
}

/// Whether the round found too little of what others have.
fn is_short_of_others(told: &Hold) -> bool {
    told.binding().is_some_and(|attempt| {
        matches!(
            attempt.blocker,
            Blocker::IdleShort { .. } | Blocker::NothingLent | Blocker::NoVictim { .. } | Blocker::VictimsTooFew { .. }
        )
    })
}

/// In a strict queue, whoever is at its head by now: the one that was named has started.
fn behind_head(state: &State, no: JobNo, now: Timestamp) -> Option<Hold> {
    let quota = state.jobs[no].spec.quota;
    let is_strict = state.quotas[quota.at()].settings.strategy == QueueStrategy::StrictFifo;
    let trial = is_strict.then(|| Trial::new(state, now))?;
    let mut before = order::positions(state, quota, now).into_iter().take_while(|other| *other != no);
    let head = before.find(|other| may_block(&trial, *other))?;
    let blocker = Blocker::BehindHead { job: state.jobs[head].spec.id.clone() };
    Some(Hold::of(vec![Attempt { source: Source::Own, blocker }]))
}

/// Whether somebody else in the queue is the reason, and still waits there.
fn is_by_queue(state: &State, told: &Hold) -> bool {
    let named = told.binding().and_then(|attempt| {
        if let Blocker::BehindHead { job } | Blocker::Reserved { job, .. } = &attempt.blocker {
            Some(job)
        } else {
            None
        }
    });
    named.and_then(|id| state.jobs.find(id)).is_some_and(|no| state.jobs[no].is_queued())
}
