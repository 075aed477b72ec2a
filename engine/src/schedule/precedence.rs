//! Nobody starts to be preempted a minute later (rules 5.7).
//!
//! Policies take from who runs. So a job could start before one that comes later in the queue, and lose its GPUs to that
//! one in the next round. The same may befall a job that is lent what its own reservation keeps from others, be it by
//! one of their extra pods. Where this is so, the other one is asked first, and no such reservation binds it or its pods.

use crate::job::phase::Charge;
use crate::schedule::decision::Victim;
use crate::schedule::judge;
use crate::schedule::trial::Trial;
use crate::schedule::victims::rule;
use crate::state::world::State;
use crate::unit::id::ClassNo;
use crate::unit::id::JobNo;
use crate::unit::ordered::Map;
use crate::unit::ordered::Set;
use crate::unit::time::Millis;

/// Classes that are asked before others, by these.
#[derive(Default)]
pub(super) struct Precedence(Map<ClassNo, Set<ClassNo>>);

impl Precedence {
    /// Who is asked before a class has its turn.
    pub(super) fn ahead_of(&self, class: ClassNo) -> Vec<ClassNo> {
        self.0.get(&class).into_iter().flatten().copied().collect()
    }

    /// Whether a job that waits or starts is asked before another one that waits.
    pub(super) fn is_ahead(&self, state: &State, no: JobNo, other: JobNo) -> bool {
        let class = |no: JobNo| state.jobs[no].class.filter(|_| state.jobs[no].is_queued());
        let (class, behind) = (class(no), class(other).and_then(|behind| self.0.get(&behind)));
        class.zip(behind).is_some_and(|(class, before)| before.contains(&class))
    }

    /// Whether a class is not before all of these yet.
    pub(super) fn lacks(&self, ahead: &Ahead) -> bool {
        ahead.of.iter().any(|behind| self.0.get(behind).is_none_or(|before| !before.contains(&ahead.class)))
    }

    /// Puts a class before others.
    pub(super) fn put(&mut self, Ahead { class, of }: Ahead) {
        for behind in of {
            self.0.or_default(behind).insert(class);
        }
    }
}

/// A class that has to be asked before others.
pub(super) struct Ahead {
    class: ClassNo,
    of: Vec<ClassNo>,
}

impl Ahead {
    /// Those who start in this round before a job that was refused, and whom it could take in the next, if it would be
    /// served without them.
    pub(super) fn of(trial: &Trial<'_>, no: JobNo) -> Option<Self> {
        let state = trial.state;
        let job = &state.jobs[no];
        if !trial.has_lent && !rule::may_take_any(state, &job.spec, trial.starting) {
            return None;
        }
        let may_take = |other: JobNo, charge: Charge| may_take_back(state, no, other, charge);
        Self::of_whom(trial, no, may_take, |without| judge::would_serve(without, &job.spec))
    }

    /// Those who are lent something in this round that a pod of a job could take back at once in the next, if it would
    /// be served without them.
    pub(super) fn of_pod(
        trial: &Trial<'_>,
        no: JobNo,
        would_serve: impl FnOnce(&mut Trial<'_>) -> bool,
    ) -> Option<Self> {
        let may_take =
            |other: JobNo, charge: Charge| charge == Charge::Idle && trial.takes_time(&Victim::Job(other)).is_none();
        Self::of_whom(trial, no, may_take, would_serve)
    }

    fn of_whom(
        trial: &Trial<'_>,
        no: JobNo,
        may_take: impl Fn(JobNo, Charge) -> bool,
        would_serve: impl FnOnce(&mut Trial<'_>) -> bool,
    ) -> Option<Self> {
        let state = trial.state;
        let mut taken = trial.started().filter(|(other, placed)| may_take(*other, placed.charge));
        let first = taken.next()?;
        let mut of = Vec::new();
        let mut without = trial.fork();
        for (other, placed) in std::iter::once(first).chain(taken) {
            without.withdraw(other, placed);
            of.extend(state.jobs[other].class);
        }
        let is_served = would_serve(&mut without);
        state.jobs[no].class.filter(|_| is_served).map(|class| Self { class, of })
    }
}

/// Whether a job may take what another one was given in this round.
fn may_take_back(state: &State, no: JobNo, other: JobNo, charge: Charge) -> bool {
    match charge {
        Charge::InQuota => may_take_at_once(state, no, other),
        Charge::Idle => true,
        Charge::Spot => false,
    }
}

/// Whether a policy lets a job take another one as soon as that one has started.
pub(super) fn may_take_at_once(state: &State, no: JobNo, other: JobNo) -> bool {
    let (job, other) = (&state.jobs[no].spec, &state.jobs[other].spec);
    let protection = state.quotas[other.quota.at()].settings.min_runtime;
    protection == Millis::ZERO && rule::may_take(state, job, other)
}
