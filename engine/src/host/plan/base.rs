//! What all variants of a plan have in common: a state, and what is going to be asked for anyway.

use std::sync::Arc;

use crate::job::phase::Phase;
use crate::message::command::Command;
use crate::message::rejection::Rejection;
use crate::message::snapshot::Snapshot;
use crate::state::cluster::Execution;
use crate::state::world::State;
use crate::unit::sort;
use crate::unit::time::Timestamp;

/// A beginning with what is known to follow, such as the submissions of a trace.
#[derive(Clone, Debug)]
pub struct Base {
    /// The state at the beginning.
    pub state: Arc<State>,
    /// When it begins.
    pub from: Timestamp,
    /// What is asked for in every variant, by time.
    pub ahead: Arc<[(Timestamp, Command)]>,
}

impl Base {
    /// The future of a state, from a time on that is not before its last submission: whoever asks may have another clock
    /// than whoever accepted that.
    ///
    /// Nobody reports what jobs of a plan do: a cluster whose jobs are reported is planned as if they were simulated, so
    /// that a job that declares a duration ends after it.
    ///
    /// # Errors
    /// Never for a state that commands have made: it is restored from its own snapshot.
    pub fn new(state: State, from: Timestamp, mut ahead: Vec<(Timestamp, Command)>) -> Result<Self, Rejection> {
        let from = state.jobs.iter().fold(from, |from, (_, job)| from.max(job.submitted));
        let mut state = match state.cluster.execution {
            Execution::Simulated => state,
            Execution::Reported => simulated(&state, from)?,
        };
        // A plan of a state is the plan of what is stored of it.
        state.market.look_at_all();
        sort::by_key(&mut ahead, |(at, _)| *at);
        Ok(Self { state: Arc::new(state), from, ahead: ahead.into() })
    }

    /// When the last of what is known to follow is asked for.
    #[must_use]
    pub fn last(&self) -> Timestamp {
        self.ahead.last().map_or(self.from, |(at, _)| (*at).max(self.from))
    }
}

/// As if its jobs were simulated. Whoever should have stopped by now has not, and does so when the plan begins.
fn simulated(state: &State, from: Timestamp) -> Result<State, Rejection> {
    let mut snapshot = Snapshot::of(state);
    snapshot.cluster.execution = Execution::Simulated;
    for (_, job) in snapshot.jobs.iter_mut() {
        if let Phase::Stopping(stopping) = &mut job.phase {
            stopping.until = stopping.until.max(from);
        }
        if let Some(run) = &mut job.run {
            run.confirmed.get_or_insert(run.told);
            run.leaving.iter_mut().for_each(|leaving| leaving.until = leaving.until.max(from));
        }
    }
    snapshot.restore()
}
