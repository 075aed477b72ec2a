//! Jobs on idle resources that do not come back when these are taken back (rules 7.2).

use crate::job::phase::Charge;
use crate::job::spec::IdlePolicy;
use crate::schedule::work;
use crate::state::world::State;
use crate::unit::id::JobNo;

/// That a job ends for good if it is evicted from idle resources, on which it runs or may start; nothing if it does not.
#[must_use]
pub fn for_good(state: &State, no: JobNo) -> Option<&'static str> {
    let job = state.jobs.get(no).filter(|job| !job.is_ended() && !job.bids())?;
    let may_borrow = match job.placed() {
        Some(placed) => placed.charge == Charge::Idle,
        None => job.spec.idle != IdlePolicy::Off,
    };
    let comes_back = work::comes_back(&job.spec, Charge::Idle, job.progress.evictions);
    (may_borrow && !comes_back).then_some(
        "When idle resources are taken back from it, it ends for good: without automatic fault tolerance it is not queued again.",
    )
}
