//! One scheduling round (semantics section 3).
//!
//! 1. What time alone changes has been applied before ([`crate::transition`]);
//! 2. loans that nothing covers any more end;
//! 3. the queue is taken in its order, and each class is judged by its head;
//! 4. elastic jobs grow where there is room;
//! 5. every class that waits has a reason.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::sync::Arc;

use crate::job::hold::Attempt;
use crate::job::hold::Blocker;
use crate::job::hold::Hold;
use crate::job::phase::Charge;
use crate::quota::settings::QueueStrategy;
use crate::schedule::backfill::Reservations;
use crate::schedule::decision::Decision;
use crate::schedule::grow;
use crate::schedule::judge::judge;
use crate::schedule::lending;
use crate::schedule::order::Heads;
use crate::schedule::recheck;
use crate::schedule::trial::Trial;
use crate::state::world::State;
use crate::unit::id::ClassNo;
use crate::unit::id::GroupNo;
use crate::unit::id::JobNo;
use crate::unit::sort;
use crate::unit::time::Timestamp;

/// Who is judged in a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Whoever may be judged differently since the last round.
    Changed,
    /// Everybody who waits.
    Everybody,
}

/// What a round at this time concludes, in the order in which it takes effect.
#[must_use]
pub fn round(state: &State, now: Timestamp, reach: Reach) -> Vec<Decision> {
    let is_complete = reach == Reach::Everybody || state.queue.is_released;
    let classes = to_judge(state, is_complete);
    if classes.is_empty() && !is_complete {
        return Vec::new();
    }
    let mut trial = Trial::new(state, now);
    let mut decisions = lending::end_uncovered(&mut trial);
    let mut started = Vec::new();
    judge_queue(&mut trial, classes, &mut decisions, &mut started);
    decisions.extend(grow::grow(&mut trial, &started));
    decisions
}

/// Classes whose judgement may differ from the last: all after a release, otherwise the changed ones, those that
/// wait for a time, and whole quotas where the head speaks for the rest.
fn to_judge(state: &State, is_complete: bool) -> BTreeSet<ClassNo> {
    if is_complete {
        return sort::set(state.queue.of_quota.values().flatten().copied());
    }
    let mut classes = BTreeSet::new();
    for no in state.queue.fresh.iter().chain(&state.queue.restless) {
        let quota = state.queue.classes[no.at()].key.quota;
        if let Some(waiting) = state.queue.of_quota.get(&quota) {
            if state.quotas[quota.at()].settings.strategy == QueueStrategy::StrictFifo {
                classes.extend(waiting);
            } else if waiting.contains(no) {
                classes.insert(*no);
            }
        }
    }
    classes
}

fn judge_queue(
    trial: &mut Trial<'_>,
    classes: BTreeSet<ClassNo>,
    decisions: &mut Vec<Decision>,
    started: &mut Vec<(JobNo, Charge, GroupNo)>,
) {
    let state = trial.state;
    let open = classes.into_iter().filter(|class| !still_blocked(trial, *class)).collect::<Vec<ClassNo>>();
    let mut heads = Heads::of(state, trial.now, open);
    let mut reservations = Reservations::default();
    let mut holds: BTreeMap<ClassNo, Hold> = BTreeMap::new();
    while let Some((class, no)) = heads.head() {
        match judge(trial, &mut reservations, no) {
            Ok(offer) => {
                trial.accept(no, &offer);
                if state.jobs[no].spec.shape.extra_pods() > 0 && offer.victims.is_empty() {
                    started.push((no, offer.placed.charge, offer.placed.home));
                }
                decisions.push(Decision::Serve { job: no, offer });
                heads.pass(class);
            }
            Err(hold) => {
                let is_reserved = matches!(hold.binding(), Some(Attempt { blocker: Blocker::Reserved { .. }, .. }));
                let is_strict =
                    state.quotas[state.jobs[no].spec.quota.at()].settings.strategy == QueueStrategy::StrictFifo;
                let is_hopeless = hold.is_for_ever();
                if is_strict && !is_hopeless {
                    for behind in heads.close_quota(class) {
                        holds.insert(behind, behind_head(state, no));
                    }
                } else if is_reserved {
                    // Another job of the class may be short enough for the gap.
                    heads.pass(class);
                } else {
                    heads.close(class);
                }
                holds.entry(class).or_insert(hold);
            }
        }
    }
    let mut told: Vec<(ClassNo, Hold)> =
        holds.into_iter().filter(|(class, hold)| is_news(state, *class, hold)).collect();
    // In the order of who waits first: the numbers of classes differ after a restore.
    sort::by_key(&mut told, |(class, _)| state.queue.classes[class.at()].waiting.first());
    decisions.extend(told.into_iter().map(|(class, hold)| Decision::Hold { class, hold: Arc::new(hold) }));
}

/// Whether the reasons that a class was given plainly hold still, before anything has started in this round. What a
/// start in this round leaves over is offered in the next one.
fn still_blocked(trial: &Trial<'_>, no: ClassNo) -> bool {
    let class = &trial.state.queue.classes[no.at()];
    let is_strict = trial.state.quotas[class.key.quota.at()].settings.strategy == QueueStrategy::StrictFifo;
    !is_strict && class.hold.as_ref().is_some_and(|hold| recheck::holds_still(trial, &class.key, hold))
}

fn behind_head(state: &State, head: JobNo) -> Hold {
    let blocker = Blocker::BehindHead { job: state.jobs[head].spec.id.clone() };
    Hold::of(vec![Attempt { source: crate::job::phase::Source::Own, blocker }])
}

/// A hold is told once: again only when its reasons change, not when their numbers do.
fn is_news(state: &State, class: ClassNo, hold: &Hold) -> bool {
    let known = state.queue.classes[class.at()].hold.as_ref();
    known.is_none_or(|known| !known.is_same_kind(hold))
}
