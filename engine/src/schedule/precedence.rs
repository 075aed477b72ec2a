//! Nobody starts to be preempted a minute later (rules 5.7).
//!
//! Policies take from who runs. So a job could start before one that comes later in the queue, and lose its GPUs to that
//! one in the next round. The same may befall a job that is lent what its own reservation keeps from others, be it by
//! one of their extra pods. Where this is so, the other one is asked first, and no such reservation binds it or its pods.

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
    pub(super) class: ClassNo,
    pub(super) of: Vec<ClassNo>,
}

/// Whether a policy lets a job take another one as soon as that one has started.
pub(super) fn may_take_at_once(state: &State, no: JobNo, other: JobNo) -> bool {
    let (job, other) = (&state.jobs[no].spec, &state.jobs[other].spec);
    let protection = state.quotas[other.quota.at()].settings.min_runtime;
    protection == Millis::ZERO && rule::may_take(state, job, other)
}
