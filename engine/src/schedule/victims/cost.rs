//! What a victim costs (semantics section 5).

use std::cmp::Reverse;

use crate::job::phase::Charge;
use crate::unit::id::JobId;
use crate::unit::priority::Priority;
use crate::unit::time::Timestamp;

/// How valuable a victim's class is: in quota above idle, high priority above low, whole jobs above pods that an
/// elastic job can spare.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ValueClass(u8);

impl ValueClass {
    /// The class of a victim.
    #[must_use]
    pub fn of(charge: Charge, priority: Priority, is_whole: bool) -> Self {
        let charge = match charge {
            Charge::Idle => 0,
            // Whoever runs on the market is nobody's victim here.
            Charge::InQuota | Charge::Spot => 18,
        };
        Self(charge + (priority.get() - 1) * 2 + u8::from(is_whole))
    }
}

/// The order in which victims of one class are taken, the first first: least unsaved work, newest start, name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Worth<'a> {
    /// Unsaved work, in GPU-milliseconds.
    pub lost: i64,
    /// When it started; the newest is taken first.
    pub started: Reverse<Timestamp>,
    /// The job.
    pub id: &'a JobId,
    /// The position of an extra pod, the last first; nothing for a whole job.
    pub pod: Reverse<Option<u32>>,
}
