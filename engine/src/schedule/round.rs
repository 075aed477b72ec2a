//! One scheduling round (rules 3).
//!
//! 1. What time alone changes has been applied before ([`crate::transition`]);
//! 2. loans that nothing covers any more end;
//! 3. the queue is taken in its order, and everybody gets what it has a right to; an *Acceptable* job for which
//!    somebody would have to go is put off; if somebody gets what another one would take in the next round, the round is
//!    held anew, and that one is asked first;
//! 4. elastic jobs grow within their quotas; if a pod would take in the next round what has been lent, the round is
//!    held anew, and its job is asked first;
//! 5. who was put off takes idle amounts; if these do not suffice for somebody, the round is held anew, and that job
//!    takes what it has a right to in its turn;
//! 6. if somebody who was refused may start now, the round goes on with 3, and if not everybody was asked, it is held
//!    anew with everybody; so it is if anything was given that a reservation may no longer keep from others;
//! 7. what is left idle is lent in the order of the queue, but for what those start on who wait for others to leave;
//! 8. elastic jobs grow on idle amounts;
//! 9. every class that waits has a reason.

use crate::schedule::decision::Decision;
use crate::schedule::lending;
use crate::schedule::open_round::OpenRound;
use crate::schedule::open_round::PutOff;
use crate::schedule::order::is_strict;
use crate::schedule::precedence::Ahead;
use crate::schedule::precedence::Precedence;
use crate::schedule::recheck;
use crate::schedule::trial::Trial;
use crate::state::waiting::Half;
use crate::state::world::State;
use crate::unit::id::ClassNo;
use crate::unit::id::QuotaNo;
use crate::unit::ordered::Set;
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
    let is_complete = reach == Reach::Everybody || state.queue.open.everybody;
    let scope = if is_complete { Scope::complete() } else { Scope::changed(state, now) };
    // Who has left the queue may have kept something from extra pods alone.
    let may_grow = !state.growing.is_empty() && !state.queue.open.classes.is_empty();
    if scope.is_empty() && !is_complete && !may_grow {
        return Vec::new();
    }
    // To lend between two scheduled rounds, everybody has to be asked; most are asked already.
    let scope = if state.queue.is_stale && scope.is_most(state) { Scope::complete() } else { scope };
    conclude(state, now, scope)
}

/// The round of whoever is in its scope. Most rounds are the round of nobody, and do not come through this code.
#[inline(never)]
fn conclude(state: &State, now: Timestamp, mut scope: Scope) -> Vec<Decision> {
    let (mut firm, mut precedence) = (Set::new(), Precedence::default());
    let mut foreseen = None;
    loop {
        let mut trial = Trial::new(state, now);
        let ended_loans = lending::end_uncovered(&mut trial);
        let by_right = scope.unsettled(&trial, Half::ByRight);
        let is_nobody_asked = || by_right.is_empty() && scope.unsettled(&trial, Half::Idle).is_empty();
        if ended_loans.is_empty() && state.growing.is_empty() && is_nobody_asked() {
            return Vec::new();
        }
        let mut round = OpenRound::begin(trial, ended_loans, &firm, foreseen.as_ref(), &precedence);
        let anew = match hold(&mut round, &scope, by_right) {
            Ok(()) => return round.conclude(),
            Err(anew) => anew,
        };
        foreseen = None;
        match anew {
            Anew::Insist(insisting) => {
                firm.extend(insisting.iter().map(|put_off| put_off.job));
                foreseen = insisting.into_iter().next();
            }
            Anew::Ahead(ahead) => precedence.put(ahead),
            Anew::Everybody => scope = Scope::complete(),
        }
    }
}

/// Why a round is held anew.
pub(super) enum Anew {
    /// Too little is idle for these, who were put off.
    Insist(Vec<PutOff>),
    /// This one has to be asked before those who start before it.
    Ahead(Ahead),
    /// Not everybody was asked, and those who gave way have left something over, or something was given that a
    /// reservation no longer keeps from others; or something would be lent to which others may have a right: it was left
    /// over since the last scheduled round, or they wait for others to stop.
    Everybody,
}

/// Goes through the steps of a round after the second; ends early if it has to be held anew.
fn hold(round: &mut OpenRound<'_>, scope: &Scope, mut by_right: Vec<ClassNo>) -> Result<(), Anew> {
    loop {
        let is_left_over = round.serve_by_right(&by_right).map_err(Anew::Ahead)?;
        if is_left_over && !scope.is_complete {
            return Err(Anew::Everybody);
        }
        round.grow_within_quotas().map_err(Anew::Ahead)?;
        round.lend_to_who_was_put_off().map_err(Anew::Insist)?;
        round.lend_to_who_blocks();
        if !is_left_over && !round.is_unblocked() {
            break;
        }
        by_right = scope.unsettled(round.trial(), Half::ByRight);
    }
    if !scope.is_complete && round.gives_before_who_was_kept_out() {
        return Err(Anew::Everybody);
    }
    round.keep_for_who_awaits();
    let may_be_owed = |round: &OpenRound<'_>| !scope.is_complete && round.may_be_claimed();
    round.lend(scope, may_be_owed)?;
    round.grow_on_idle();
    if round.has_lent() && may_be_owed(round) { Err(Anew::Everybody) } else { Ok(()) }
}

/// Whose judgement may differ from the last.
pub(super) struct Scope {
    /// Whole queues, by number.
    quotas: Vec<QuotaNo>,
    /// Single classes of other queues, by number.
    classes: Vec<ClassNo>,
    /// Whether it is everybody, whatever is named.
    is_complete: bool,
}

impl Scope {
    /// Everybody, after a release.
    fn complete() -> Self {
        Self { quotas: Vec::new(), classes: Vec::new(), is_complete: true }
    }

    /// The classes whose answers are not kept, and whole quotas where the head speaks for the rest.
    fn changed(state: &State, now: Timestamp) -> Self {
        let queue = &state.queue;
        let (mut quotas, mut classes) = (Vec::new(), Vec::new());
        for no in queue.open.classes.iter().copied().chain(queue.open.expired(now)) {
            let class = &queue.classes[no.at()];
            if is_strict(state, class.key.quota) {
                quotas.push(class.key.quota);
            } else if !class.waiting.is_empty() {
                classes.push(no);
            }
        }
        sort::by_key(&mut quotas, |quota| *quota);
        quotas.dedup();
        sort::by_key(&mut classes, |class| *class);
        classes.dedup();
        quotas.retain(|quota| queue.quotas.contains(quota));
        Self { quotas, classes, is_complete: false }
    }

    fn is_empty(&self) -> bool {
        self.quotas.is_empty() && self.classes.is_empty()
    }

    /// Whether those in it that stand alone are more than half of all who wait.
    fn is_most(&self, state: &State) -> bool {
        self.classes.len() > state.queue.patience.len() / 2
    }

    /// The classes in it that are judged in this half and whose reasons do not plainly hold still.
    pub(super) fn unsettled(&self, trial: &Trial<'_>, half: Half) -> Vec<ClassNo> {
        let queue = &trial.state.queue;
        let concerns = |class: &ClassNo| half.concerns(queue.classes[class.at()].key.idle);
        let mut unsettled = Vec::new();
        let everybody = if self.is_complete { recheck::unsettled_quotas(trial, half) } else { Vec::new() };
        for quota in everybody.into_iter().chain(self.quotas.iter().copied()) {
            if is_strict(trial.state, quota) {
                unsettled.extend(queue.classes_of(quota).filter(concerns));
            } else {
                recheck::add_unsettled(trial, quota, half, &mut unsettled);
            }
        }
        let single = self.classes.iter().copied().filter(concerns);
        unsettled.extend(single.filter(|class| !recheck::holds_still(trial, *class, half)));
        unsettled
    }
}
