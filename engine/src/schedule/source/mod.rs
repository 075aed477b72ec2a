//! The ways to get GPUs, one file each, from least to most disruptive (rules 3.4).
//!
//! Each returns an assignment or the blocker; the blocker is the explanation. There is no other.

mod child_level;
pub mod idle;
pub mod own;
pub mod reclaim;
mod room;
mod self_level;
pub mod spot;

pub use room::closed;
pub use room::find_room;
pub use room::place_on;

use crate::job::hold::Blocker;
use crate::job::phase::Source;
use crate::job::spec::JobSpec;
use crate::schedule::decision::Assignment;
use crate::schedule::trial::Trial;

/// The sources of a quota's jobs in the order in which they are tried. A job with a bid has one: the spot market.
pub const SOURCES: [Source; 5] = [Source::Own, Source::Idle, Source::Reclaim, Source::ChildLevel, Source::SelfLevel];

/// What a source offers to a job now, or why it has nothing to offer.
pub fn assign(source: Source, trial: &Trial<'_>, job: &JobSpec) -> Result<Assignment, Blocker> {
    match source {
        Source::Own => own::assign(trial, job),
        Source::Idle => idle::assign(trial, job),
        Source::Reclaim => reclaim::assign(trial, job),
        Source::ChildLevel => child_level::assign(trial, job),
        Source::SelfLevel => self_level::assign(trial, job),
        Source::Spot => spot::assign_now(trial, job),
    }
}
