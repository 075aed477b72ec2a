//! What can go wrong on our side. A [`Fault`] is logged and retried; the client sees "internal".

use std::fmt;

use engine::market::bill;
use engine::message::rejection::Rejection;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;

/// What KV shows of a cluster whose storage has no log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost {
    /// The revision of the head.
    pub revision: u64,
    /// When it was published.
    pub published_at: Timestamp,
}

/// A time as people read it.
#[must_use]
pub fn moment(at: Timestamp) -> String {
    let minutes = at.0.rem_euclid(Millis::DAY.0) / Millis::MINUTE.0;
    format!("{} {:02}:{:02} UTC", bill::date(bill::day_of(at)), minutes / 60, minutes % 60)
}

/// How far a restore is, in a few words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The revision that is restored.
    pub revision: u64,
    /// How many objects have been read.
    pub read: u64,
    /// How many objects the state has.
    pub state: u64,
}

impl fmt::Display for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { revision, read, state } = self;
        write!(
            f,
            "the cluster is being restored to revision {revision}: {read} objects are read, its state has {state}"
        )
    }
}

/// Our mistake, or that of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The log's storage failed. It may or may not have stored.
    Log {
        /// What it said.
        reason: String,
    },
    /// KV failed. It may or may not have stored.
    Kv {
        /// The key.
        key: String,
        /// What it said.
        reason: String,
    },
    /// KV does not show an object that is named; it may not be visible here yet.
    Missing {
        /// Its key.
        key: String,
    },
    /// Nobody has looked whether KV shows a cluster of which the storage has nothing (see [`crate::founding`]).
    Unfounded,
    /// The cluster is being restored; until then nothing else is done with it.
    Restoring(Progress),
    /// The cluster was deleted.
    Deleted,
    /// What is stored contradicts itself.
    Damaged {
        /// Where.
        place: String,
        /// What is wrong.
        reason: String,
    },
}

impl Fault {
    /// A fault of the log's storage.
    pub fn log(reason: impl fmt::Display) -> Self {
        Self::Log { reason: reason.to_string() }
    }

    /// Something stored that contradicts itself.
    pub fn damaged(place: impl fmt::Display, reason: impl fmt::Display) -> Self {
        Self::Damaged { place: place.to_string(), reason: reason.to_string() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Log { reason } => write!(f, "the log's storage failed: {reason}"),
            Self::Kv { key, reason } => write!(f, "KV failed at {key}: {reason}"),
            Self::Missing { key } => write!(f, "KV does not show {key}; repeat it in a minute"),
            Self::Unfounded => f.write_str("nobody has looked whether KV shows this cluster"),
            Self::Restoring(progress) => write!(f, "{progress}; send the same again when that is over"),
            Self::Deleted => f.write_str("the cluster was deleted"),
            Self::Damaged { place, reason } => write!(f, "{place} is damaged: {reason}"),
        }
    }
}

impl std::error::Error for Fault {}

/// Why a command has no receipt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The client can mend it. Nothing was stored.
    Refused(Rejection),
    /// The storage has lost the cluster that KV shows. Somebody has to restore it or to give it up. Nothing was stored.
    Lost(Lost),
    /// We have to. The same command may be sent again: it has one effect.
    Broken(Fault),
}

impl From<Rejection> for Failure {
    fn from(rejection: Rejection) -> Self {
        Self::Refused(rejection)
    }
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        Self::Broken(fault)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(rejection) => rejection.fmt(f),
            Self::Lost(Lost { revision, .. }) => {
                write!(f, "the storage has no log, and KV shows the cluster at revision {revision}")
            }
            Self::Broken(fault) => fault.fmt(f),
        }
    }
}

impl std::error::Error for Failure {}
