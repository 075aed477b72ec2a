//! One scheduling round (semantics section 3).
//!
//! 1. What time alone changes has been applied before ([`crate::transition`]);
//! 2. loans that nothing covers any more end;
//! 3. the queue is taken in its order, and each class is judged by its head;
//! 4. elastic jobs grow where there is room;
//! 5. every class that waits has a reason.

use std::sync::Arc;

use crate::job::hold::Attempt;
use crate::job::hold::Blocker;
use crate::job::hold::Hold;
use crate::job::phase::Charge;
use crate::job::phase::Source;
use crate::quota::settings::QueueStrategy;
use crate::schedule::backfill::Reservations;
use crate::schedule::decision::Decision;
use crate::schedule::grow;
use crate::schedule::judge::Refusals;
use crate::schedule::judge::judge;
use crate::schedule::lending;
use crate::schedule::order::Heads;
use crate::schedule::recheck;
use crate::schedule::trial::Trial;
use crate::state::world::State;
use crate::unit::id::ClassNo;
use crate::unit::id::GroupNo;
use crate::unit::id::JobNo;
use crate::unit::id::QuotaNo;
use crate::unit::ordered::Set;
use crate::unit::sort;
use crate::unit::sparse::Sparse;
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
    let scope = if is_complete { Scope::complete(state) } else { Scope::changed(state) };
    if scope.is_empty() && !is_complete {
        return Vec::new();
    }
    conclude(state, now, &scope)
}

/// The round of whoever is in its scope. Most rounds are the round of nobody, and do not come through this code.
#[inline(never)]
fn conclude(state: &State, now: Timestamp, scope: &Scope) -> Vec<Decision> {
    let mut trial = Trial::new(state, now);
    let mut decisions = lending::end_uncovered(&mut trial);
    let mut started = Vec::new();
    // What a start in this round leaves over is offered in the next one.
    let classes = scope.unsettled(&trial);
    judge_queue(&mut trial, classes, &mut decisions, &mut started);
    decisions.extend(grow::grow(&mut trial, &started));
    decisions
}

/// Whose judgement may differ from the last.
struct Scope {
    /// Whole queues.
    quotas: Set<QuotaNo>,
    /// Single classes of other queues.
    classes: Set<ClassNo>,
}

impl Scope {
    /// Everybody, after a release.
    fn complete(state: &State) -> Self {
        Self { quotas: state.queue.of_quota.keys().copied().collect(), classes: Set::new() }
    }

    /// The changed classes, those that wait for a time, and whole quotas where the head speaks for the rest or where
    /// somebody has left.
    fn changed(state: &State) -> Self {
        let queue = &state.queue;
        let mut quotas = queue.left.clone();
        let mut classes = Set::new();
        for no in queue.fresh.iter().chain(&queue.restless) {
            let class = &queue.classes[no.at()];
            if is_strict(state, class.key.quota) {
                quotas.insert(class.key.quota);
            } else if !class.waiting.is_empty() && !quotas.contains(&class.key.quota) {
                classes.insert(*no);
            }
        }
        quotas.retain(|quota| queue.of_quota.contains_key(quota));
        Self { quotas, classes }
    }

    fn is_empty(&self) -> bool {
        self.quotas.is_empty() && self.classes.is_empty()
    }

    /// The classes in it whose reasons do not plainly hold still.
    fn unsettled(&self, trial: &Trial<'_>) -> Vec<ClassNo> {
        let mut unsettled = Vec::new();
        for quota in &self.quotas {
            if is_strict(trial.state, *quota) {
                unsettled.extend(trial.state.queue.classes_of(*quota));
            } else {
                unsettled.extend(recheck::unsettled(trial, *quota));
            }
        }
        unsettled.extend(self.classes.iter().copied().filter(|class| !recheck::holds_still(trial, *class)));
        unsettled
    }
}

/// Whether the head of a quota's queue speaks for the rest.
fn is_strict(state: &State, quota: QuotaNo) -> bool {
    state.quotas[quota.at()].settings.strategy == QueueStrategy::StrictFifo
}

fn judge_queue(
    trial: &mut Trial<'_>,
    classes: Vec<ClassNo>,
    decisions: &mut Vec<Decision>,
    started: &mut Vec<(JobNo, Charge, GroupNo)>,
) {
    let state = trial.state;
    let mut heads = Heads::of(state, trial.now, classes);
    let mut reservations = Reservations::default();
    let mut refusals = Refusals::default();
    let mut holds: Sparse<Arc<Hold>> = Sparse::default();
    while let Some(head) = heads.head(|class| is_settled(trial, class)) {
        match judge(trial, &mut reservations, &mut refusals, head) {
            Ok(offer) => {
                trial.accept(head.job, &offer);
                refusals = Refusals::default();
                let spec = &state.jobs[head.job].spec;
                if spec.shape.extra_pods() > 0 && offer.victims.is_empty() {
                    started.push((head.job, offer.placed.charge, offer.placed.home));
                }
                if !offer.victims.is_empty() || !offer.promoted.is_empty() {
                    heads.look_again();
                }
                decisions.push(Decision::Serve { job: head.job, offer });
                heads.pass(head);
            }
            Err(hold) => {
                let is_reserved = matches!(hold.binding(), Some(Attempt { blocker: Blocker::Reserved { .. }, .. }));
                if is_strict(state, state.queue.classes[head.class.at()].key.quota) && !hold.is_for_ever() {
                    for behind in heads.close_quota(head) {
                        *holds.slot(behind.at()) = Some(behind_head(state, head.job));
                    }
                } else if is_reserved {
                    // Another job of the class may be short enough for the gap.
                    heads.pass(head);
                } else {
                    heads.close(head);
                }
                holds.slot(head.class.at()).get_or_insert(hold);
            }
        }
    }
    let first_of = |class: ClassNo| state.queue.classes[class.at()].waiting.first().map(|no| state.jobs[no].place());
    let told = holds.into_values().map(|(at, hold)| (ClassNo::from_index(at), hold));
    let news = told.filter(|(class, hold)| is_news(state, *class, hold));
    let mut news: Vec<_> = news.map(|(class, hold)| (first_of(class), class, hold)).collect();
    // In the order of who waits first: the numbers of classes differ after a restore.
    sort::by(&mut news, |a, b| a.0.cmp(&b.0));
    decisions.extend(news.into_iter().map(|(_, class, hold)| Decision::Hold { class, hold }));
}

/// Whether the reasons of a class plainly hold still. What a start in this round leaves over is offered in the next one.
fn is_settled(trial: &Trial<'_>, class: ClassNo) -> bool {
    let quota = trial.state.queue.classes[class.at()].key.quota;
    !is_strict(trial.state, quota) && recheck::holds_still(trial, class)
}

fn behind_head(state: &State, head: JobNo) -> Arc<Hold> {
    let blocker = Blocker::BehindHead { job: state.jobs[head].spec.id.clone() };
    Arc::new(Hold::of(vec![Attempt { source: Source::Own, blocker }]))
}

/// A hold is told once: again only when its reasons change, not when their numbers do.
fn is_news(state: &State, class: ClassNo, hold: &Hold) -> bool {
    let known = state.queue.classes[class.at()].hold.as_ref();
    known.is_none_or(|known| !known.is_same_kind(hold))
}
