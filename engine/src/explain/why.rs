//! Why a job waits: the binding reason first, all others after it, its position, what would start it now, and when
//! it would start by itself (rules 10.1).

use crate::explain::blocker::blocker;
use crate::explain::remedy::Help;
use crate::explain::remedy::remedy;
use crate::explain::tip::next_round;
use crate::host::authority;
use crate::host::veil::Veil;
use crate::job::hold::Attempt;
use crate::job::hold::Blocker;
use crate::job::hold::Hold;
use crate::job::phase::Phase;
use crate::job::phase::Source;
use crate::message::command::Command;
use crate::message::command::Round;
use crate::quota::settings::QueueStrategy;
use crate::schedule::judge::ask;
use crate::schedule::judge::may_block;
use crate::schedule::order;
use crate::schedule::source;
use crate::schedule::trial::Trial;
use crate::state::world::State;
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
    /// The binding reason.
    pub binding: String,
    /// All others, each with the source that was tried.
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
    Some(told(state, no, hold(state, no, now)?, now))
}

/// Why a job waits, as somebody may know it: nothing but the reasons names other jobs.
#[must_use]
pub fn why_seen(veil: &Veil, no: JobNo, now: Timestamp) -> Option<Why> {
    let state = veil.state();
    Some(told(state, no, veil.hold(hold(state, no, now)?), now))
}

fn told(state: &State, no: JobNo, hold: Hold, now: Timestamp) -> Why {
    let job = &state.jobs[no];
    let sentence = |attempt: &Attempt| blocker(state, &attempt.blocker, now);
    let position = match state.bid_of(no) {
        Some((offer, ..)) => state.market.desks[offer.at()].waiting.iter().position(|(_, _, _, other)| *other == no),
        None => order::positions(state, job.spec.quota, now).iter().position(|other| *other == no),
    };
    Why {
        binding: hold.binding().map(sentence).unwrap_or_default(),
        others: hold.attempts.iter().skip(1).map(|attempt| (attempt.source, sentence(attempt))).collect(),
        position: position.map(|at| at + 1),
        help: remedy(state, no, &hold, now),
        estimate: estimate(state, no, now),
        hold,
    }
}

/// The reasons with today's numbers: the same question as in a round. What a whole queue decides (a strict head, a
/// reservation) is as the last round said, and what that named as binding stays so while it is true.
#[must_use]
pub fn hold(state: &State, no: JobNo, now: Timestamp) -> Option<Hold> {
    let job = state.jobs.get(no)?;
    let Phase::Queued { not_before } = &job.phase else { return None };
    if let Some((offer, ..)) = state.bid_of(no) {
        let next_round = || Blocker::NextRound { offer: state.market.offers[offer.at()].id.clone() };
        let offered = source::offer(Source::Spot, &Trial::new(state, now), &job.spec);
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
        let blocker = source::offer(told.source, &trial, job).err();
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

/// When the job starts if nobody submits anything: rounds ahead on a copy, as the service has them: one whenever time
/// alone changes something, and a scheduled one at the next full minute, which offers what that left over.
fn estimate(state: &State, no: JobNo, now: Timestamp) -> Option<Timestamp> {
    if state.jobs[no].bids() {
        // Nobody knows how prices go.
        return None;
    }
    let mut ahead = state.clone();
    let mut at = now;
    let mut is_scheduled = true;
    let rounds = (JOBS_AHEAD / state.jobs.len().max(1)).clamp(*ROUNDS_AHEAD.start(), *ROUNDS_AHEAD.end());
    for _ in 0..rounds {
        let (scheduled, minute) = next_round(&ahead, at);
        let wakeup = ahead.next_wakeup().map(|wakeup| wakeup.max(at));
        let round = match wakeup.filter(|wakeup| !is_scheduled || *wakeup < minute) {
            Some(wakeup) => {
                at = wakeup;
                Round::default()
            }
            None if is_scheduled => {
                at = minute;
                scheduled
            }
            None => return None,
        };
        let events = authority::step(&mut ahead, &Command::Round(round), at).ok()?;
        // What a start leaves over is offered by the scheduled round after it.
        is_scheduled = round.slot.is_none() || events.len() > 1;
        match ahead.jobs.get(no).map(|job| &job.phase) {
            Some(Phase::Queued { .. }) => {}
            Some(Phase::Starting { .. } | Phase::Running { .. }) => return Some(at),
            Some(Phase::Stopping { .. } | Phase::Ended { .. }) | None => return None,
        }
    }
    None
}
