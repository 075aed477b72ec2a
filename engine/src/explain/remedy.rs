//! What would start a waiting job now: the smallest single change, or the change that comes nearest. Each is tried on a
//! copy by the same rules before it is told; [`crate::explain::tip`] has the list.

use crate::explain::raise;
use crate::explain::tip::Search;
use crate::job::hold::Blocker;
use crate::job::hold::Hold;
use crate::message::command::Command;
use crate::message::command::SubmitJob;
use crate::state::world::State;
use crate::unit::id::JobNo;
use crate::unit::time::Timestamp;

/// A change that would start the job now, or comes nearest to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Help {
    /// What to change.
    pub sentence: String,
    /// The command for it; none where the job itself would have to be submitted differently.
    pub command: Option<Command>,
    /// What to submit, under a new name, once the job has been cancelled; none where a command does it.
    pub resubmit: Option<Box<SubmitJob>>,
    /// Of the nearest miss: what the job would lack still. Nothing is to be sent then.
    pub lacks: Option<Box<Blocker>>,
}

impl Help {
    /// Whether following it starts the job.
    #[must_use]
    pub fn works(&self) -> bool {
        self.lacks.is_none()
    }
}

/// The smallest change that starts the job, or the one that comes nearest; nothing if the next round starts it anyway.
#[must_use]
pub fn remedy(state: &State, no: JobNo, hold: &Hold, now: Timestamp) -> Option<Help> {
    let mut search = Search::of(state, no, now);
    if search.starts_anyway() {
        return None;
    }
    let found = if state.jobs[no].bids() {
        raise::tips(&mut search, 1).pop()
    } else {
        Search::kinds().into_iter().find_map(|kind| kind(&mut search))
    };
    Some(found.unwrap_or_else(|| search.nearest_miss(hold)))
}

/// Changes of different kinds, each of which starts the job: the smallest first, and no more than so many. None if the
/// next round starts it anyway.
#[must_use]
pub fn tips(state: &State, no: JobNo, now: Timestamp, at_most: usize) -> Vec<Help> {
    let mut search = Search::of(state, no, now);
    if !state.jobs[no].is_queued() || search.starts_anyway() {
        return Vec::new();
    }
    if state.jobs[no].bids() {
        return raise::tips(&mut search, at_most);
    }
    Search::kinds().into_iter().filter_map(|kind| kind(&mut search)).take(at_most).collect()
}
