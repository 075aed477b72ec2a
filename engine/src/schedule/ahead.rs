//! Who has to be asked before others, as a round finds out ([`crate::schedule::precedence`]).

use crate::job::phase::Charge;
use crate::schedule::decision::Victim;
use crate::schedule::judge;
use crate::schedule::precedence::Ahead;
use crate::schedule::precedence::may_take_at_once;
use crate::schedule::trial::Trial;
use crate::schedule::victims::rule;
use crate::state::world::State;
use crate::unit::id::JobNo;

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
