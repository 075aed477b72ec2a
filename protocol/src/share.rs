//! How much of the notes may be one user's.
//!
//! Two shares: of a bucket, so that nobody who knows how buckets are chosen fills one in which others have notes too;
//! and of all notes, so that nobody fills the storage. What administrators keep without a user's name counts for nobody.
//!
//! The sums are in memory: the storage adds one up when it is needed first, and from then on it follows each change.

use std::collections::BTreeMap;

use engine::message::command::Command;
use engine::message::envelope::Envelope;
use engine::message::rejection::Rejection;
use engine::transition::Sender;
use engine::unit::id::UserId;

use crate::fault::Failure;
use crate::fault::Fault;
use crate::limits::Limits;
use crate::log::LogStore;
use crate::note::Bucket;
use crate::note::Held;

/// How many bytes the notes of a bucket may have, as they are published: one that changes is written anew.
const BUCKET_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// What is said where the notes of all users together fill a bucket.
const BUCKET_FULL: &str = "bytes of notes in one bucket (choose another name: it decides on the bucket)";
/// How many sums are remembered.
const REMEMBERED_MAX: usize = 10_000;
/// What somebody can do whose share is full.
const ADVICE: &str = "use shorter command lines and descriptions, or cancel jobs and delete what is not needed; notes of \
                      ended jobs go when the jobs are forgotten";

/// Whose share what comes with a command counts for.
pub(crate) fn owner(envelope: &Envelope, sender: &Sender) -> Option<UserId> {
    let named = if let Command::SubmitJob(command) = &envelope.command { command.user.clone() } else { None };
    named.or_else(|| of(sender))
}

/// Whose share counts what a sender keeps beside no command.
pub(crate) fn of(sender: &Sender) -> Option<UserId> {
    (!sender.administers).then(|| sender.user.clone())
}

/// Which notes are added up, in the order in which sums are held against their limits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Sum {
    /// Those of a bucket.
    Bucket(Bucket),
    /// Those of a user in a bucket.
    OwnInBucket(UserId, Bucket),
    /// Those of a user.
    Own(UserId),
}

impl Sum {
    /// Every sum that a note is in.
    fn all(bucket: Bucket, owner: Option<&UserId>) -> impl Iterator<Item = Self> {
        let own = owner.map(|owner| [Self::OwnInBucket(owner.clone(), bucket), Self::Own(owner.clone())]);
        [Self::Bucket(bucket)].into_iter().chain(own.into_iter().flatten())
    }

    fn read(&self, store: &impl LogStore) -> Result<i64, Fault> {
        let bytes = match self {
            Self::Bucket(bucket) => store.bucket_bytes(*bucket)?,
            Self::OwnInBucket(owner, bucket) => store.owned_bytes(owner, Some(*bucket))?,
            Self::Own(owner) => store.owned_bytes(owner, None)?,
        };
        Ok(signed(bytes))
    }

    fn limit(&self, limits: &Limits) -> u64 {
        match self {
            Self::Bucket(_) => BUCKET_BYTES_MAX,
            Self::OwnInBucket(..) => limits.note_bytes_in_bucket,
            Self::Own(_) => limits.note_bytes_of_user,
        }
    }

    fn rejection(&self, count: u64, limit: u64) -> Rejection {
        let of_user = |owner, place| format!("bytes of notes of user {owner}{place} ({ADVICE})");
        let what = match self {
            Self::Bucket(_) => BUCKET_FULL.to_owned(),
            Self::OwnInBucket(owner, _) => of_user(owner, " in one bucket"),
            Self::Own(owner) => of_user(owner, ""),
        };
        Rejection::Limit { what, count, limit }
    }
}

/// By how much sums change.
#[derive(Debug, Default)]
pub(crate) struct Moves(BTreeMap<Sum, i64>);

impl Moves {
    /// Adds what a note in a bucket counted for, and what it counts for now.
    pub(crate) fn add(&mut self, bucket: Bucket, before: Option<&Held>, after: Option<&Held>) {
        for (held, sign) in [(before, -1), (after, 1)] {
            let Some(Held { bytes, owner }) = held else { continue };
            for sum in Sum::all(bucket, owner.as_ref()) {
                *self.0.entry(sum).or_default() += sign * signed(*bytes);
            }
        }
    }
}

/// The sums of notes that have been asked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shares(BTreeMap<Sum, i64>);

impl Shares {
    /// Whether changes leave every sum that grows within its limit.
    pub(crate) fn admit(&mut self, store: &impl LogStore, moves: &Moves, limits: &Limits) -> Result<(), Failure> {
        for (sum, more) in moves.0.iter().filter(|(_, more)| **more > 0) {
            let limit = sum.limit(limits);
            if let Sum::OwnInBucket(_, bucket) = sum {
                // Nobody has more of a bucket than is in it.
                let all = Sum::Bucket(*bucket);
                if self.after(store, &all, moves.0.get(&all).copied().unwrap_or_default())? <= limit {
                    continue;
                }
            }
            let bytes = self.after(store, sum, *more)?;
            if bytes > limit {
                return Err(sum.rejection(bytes, limit).into());
            }
        }
        Ok(())
    }

    /// A sum after a change.
    fn after(&mut self, store: &impl LogStore, sum: &Sum, more: i64) -> Result<u64, Fault> {
        let bytes = match self.0.get(sum) {
            Some(bytes) => *bytes,
            None => self.learn(sum, sum.read(store)?),
        };
        Ok(u64::try_from(bytes.saturating_add(more)).unwrap_or_default())
    }

    fn learn(&mut self, sum: &Sum, bytes: i64) -> i64 {
        if self.0.len() >= REMEMBERED_MAX {
            self.0.clear();
        }
        self.0.insert(sum.clone(), bytes);
        bytes
    }

    /// Takes changes that have been made into account.
    pub(crate) fn follow(&mut self, moves: &Moves) {
        for (sum, more) in &moves.0 {
            if let Some(bytes) = self.0.get_mut(sum) {
                *bytes = bytes.saturating_add(*more);
            }
        }
    }
}

fn signed(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}
