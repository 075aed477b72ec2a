//! Places in the order of the queue.

use std::cmp::Reverse;

use crate::unit::id::Spelling;
use crate::unit::priority::Priority;
use crate::unit::time::Timestamp;

/// A place among jobs of one level: who waits longer, then the higher declared priority, then the name.
pub(in crate::schedule) type Turn<'s> = (Timestamp, Reverse<Priority>, Spelling<'s>);

/// A place in the order: the smallest comes first.
pub(in crate::schedule) type Rank<'s> = (Reverse<i64>, Turn<'s>);
