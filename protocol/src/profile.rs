//! How often a cluster publishes, what it keeps, and how much it takes.

use engine::unit::time::Millis;

use crate::limits::Limits;

/// When a publication may happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// After commands and rounds, but never within this time after the one before: KV takes one write a second and key.
    AtMostEvery(Millis),
    /// Once a scheduled round and not in between, for a plan with few writes a day.
    EachRound,
}

/// How many pages of the past an answer goes through; each names as many objects as there are segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pages {
    /// Of what the market's past tells, which is kept for further answers: the newest ones.
    pub kept: usize,
    /// Of an answer that says where to go on.
    pub at_once: usize,
}

/// The settings of a cluster's object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Profile {
    /// When a publication may happen.
    pub pace: Pace,
    /// How far heads keep from each other that rounds publish, where nothing else publishes.
    pub rounds_apart: Millis,
    /// How long a head waits that has nothing to tell but rounds in which nothing happened.
    pub idle: Millis,
    /// How far rounds that run because something is due keep from each other: each is an entry of the log.
    pub alarm_gap: Millis,
    /// Entries after which a publication carries a new snapshot.
    pub snapshot_every: u64,
    /// How many segments since the snapshot there are at most: the newest are merged with what is new.
    pub segments_max: usize,
    /// Bytes after which a segment is full, and a snapshot is cut. KV takes 25 MiB a value.
    pub object_bytes_max: usize,
    /// Entries that the log keeps although a snapshot covers them, for readers that are a little behind.
    pub entries_kept: u64,
    /// How long the past can be read: pages that end before are deleted with what only they need. For ever, if it is not
    /// said.
    pub past_kept: Option<Millis>,
    /// How long the answer to a command is remembered after it was decided. A retry that comes later is a new command.
    pub answers_kept: Millis,
    /// How many pages of the past an answer goes through.
    pub pages: Pages,
    /// How many unfinished jobs there may be.
    pub limits: Limits,
}

impl Default for Profile {
    fn default() -> Self {
        Self {
            pace: Pace::AtMostEvery(Millis(1000)),
            rounds_apart: Millis(0),
            idle: Millis(15 * Millis::MINUTE.0),
            alarm_gap: Millis(1000),
            snapshot_every: 1000,
            segments_max: 16,
            object_bytes_max: 8 * 1024 * 1024,
            entries_kept: 1000,
            past_kept: Some(Millis(400 * Millis::DAY.0)),
            answers_kept: Millis(7 * 24 * Millis::HOUR.0),
            // At a round a minute and a page for a thousand entries, the market's last week.
            pages: Pages { kept: 10, at_once: 2 },
            limits: Limits::USUAL,
        }
    }
}

impl Profile {
    /// For a plan with few writes a day, 1,000 to KV and 100,000 rows. A head takes up to three writes, with its segment
    /// and its notes, so at most 288 of them are published. A round in between takes six rows, and five more when they are
    /// dropped: one each 15 seconds leaves a third of the rows to everything else. An invocation has 50 calls there, so no
    /// answer goes through more than a page.
    #[must_use]
    pub fn of_few_writes() -> Self {
        Self {
            pace: Pace::EachRound,
            rounds_apart: Millis(5 * Millis::MINUTE.0),
            alarm_gap: Millis(15_000),
            pages: Pages { kept: 1, at_once: 1 },
            ..Self::default()
        }
    }
}
