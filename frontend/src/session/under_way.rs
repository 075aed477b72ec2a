//! How far the bench has come.

use engine::unit::time::Millis;
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

/// Where the runs of a plan are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Going {
    /// Nothing has been told of them yet.
    NotYet,
    /// They are under way.
    On(Progress),
    /// They are over: how many events, in how many milliseconds.
    Over(u64, i64),
    /// They have been given up.
    GivenUp,
}

impl Going {
    /// How far they have come, while they are under way.
    pub(crate) fn progress(self) -> Option<Progress> {
        match self {
            Self::On(progress) => Some(progress),
            Self::NotYet | Self::Over(..) | Self::GivenUp => None,
        }
    }
}

/// How far a plan looks; nothing: until nothing happens any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Length {
    /// How far it looks now.
    pub(crate) is: Option<Millis>,
    /// How far it would look if nobody asked for anything else.
    pub(crate) usual: Option<Millis>,
}
