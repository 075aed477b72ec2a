//! How far the bench has come.

use engine::unit::time::Timestamp;

/// How far everything has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Progress {
    /// In thousandths.
    pub(crate) done: i64,
    /// Events so far.
    pub(crate) events: u64,
    /// When it began.
    pub(crate) since: Timestamp,
    /// When that was told.
    pub(crate) now: Timestamp,
}

/// How far the log of the past has been read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reading {
    /// In thousandths.
    pub(crate) done: i64,
    /// Entries so far.
    pub(crate) entries: u64,
    /// When the last of them was decided.
    pub(crate) at: Option<Timestamp>,
}
