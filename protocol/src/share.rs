//! How much of the notes may be one user's.
//!
//! Two shares: of a bucket, so that nobody who knows how buckets are chosen fills one in which others have notes too;
//! and of all notes, so that nobody fills the storage. What administrators keep without a user's name counts for nobody.

use std::collections::BTreeMap;

use engine::message::command::Command;
use engine::message::envelope::Envelope;
use engine::message::rejection::Rejection;
use engine::transition::Sender;
use engine::unit::id::UserId;

use crate::fault::Failure;
use crate::fault::Fault;
use crate::log::LogStore;
use crate::note::Bucket;

/// Of how many users it is remembered what their notes count for.
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

/// What the notes of users count for, as far as it is known: never less than it is. They are counted when somebody seems
/// to have too much and something may have gone since.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shares {
    known: BTreeMap<UserId, Known>,
    /// How often notes have gone or become smaller.
    drops: u64,
}

#[derive(Clone, Copy, Debug)]
struct Known {
    bytes: u64,
    drops: u64,
}

impl Shares {
    /// Whether so many bytes more are within somebody's share of all notes.
    pub(crate) fn admit(
        &mut self,
        store: &impl LogStore,
        owner: &UserId,
        more: u64,
        limit: u64,
    ) -> Result<(), Failure> {
        let bytes = self.bytes(store, owner, limit.saturating_sub(more))?.saturating_add(more);
        if bytes <= limit { Ok(()) } else { Err(too_much(owner, "", bytes, limit).into()) }
    }

    fn bytes(&mut self, store: &impl LogStore, owner: &UserId, enough: u64) -> Result<u64, Fault> {
        let known = self.known.get(owner).filter(|known| known.bytes <= enough || known.drops == self.drops);
        if let Some(known) = known {
            return Ok(known.bytes);
        }
        let bytes = store.owned_bytes(owner, None)?;
        if self.known.len() >= REMEMBERED_MAX {
            self.known.clear();
        }
        self.known.insert(owner.clone(), Known { bytes, drops: self.drops });
        Ok(bytes)
    }

    /// Takes into account what has been kept, and whether something has gone.
    pub(crate) fn follow(&mut self, owner: Option<&UserId>, more: u64, is_less: bool) {
        self.drops += u64::from(is_less);
        if let Some(known) = owner.and_then(|owner| self.known.get_mut(owner)) {
            known.bytes = known.bytes.saturating_add(more);
        }
    }
}

/// Whether a note that is put leaves its owner within their share of a bucket.
pub(crate) fn admit_in_bucket(
    store: &impl LogStore,
    owner: &UserId,
    bucket: Bucket,
    (before, after): (u64, u64),
    limit: u64,
) -> Result<(), Failure> {
    let own = store.owned_bytes(owner, Some(bucket))?;
    let bytes = own.saturating_sub(before).saturating_add(after);
    if bytes <= limit { Ok(()) } else { Err(too_much(owner, " in one bucket", bytes, limit).into()) }
}

fn too_much(owner: &UserId, place: &str, count: u64, limit: u64) -> Rejection {
    let what = format!("bytes of notes of user {owner}{place} ({ADVICE})");
    Rejection::Limit { what, count, limit }
}
