//! What would start a waiting job now: the smallest single change, or the change that comes nearest. Each is tried on a
//! copy by the same rules before it is told; [`crate::explain::tip`] has the list.

use crate::explain::help::Help;
use crate::explain::raise;
use crate::explain::tip::Search;
use crate::explain::tip::kinds;
use crate::job::hold::Hold;
use crate::state::world::State;
use crate::unit::id::JobNo;
use crate::unit::time::Timestamp;

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
        kinds().into_iter().find_map(|kind| kind(&mut search))
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
    kinds().into_iter().filter_map(|kind| kind(&mut search)).take(at_most).collect()
}
