//! What a published log tells of the market, which goes on with the heads: after the first read of bills or of an offer's
//! past, a further one reads only what is new.

use crate::document::Head;
use crate::fault::Fault;
use crate::history;
use crate::kv::KvStore;
use crate::market::kept::Kept;
use crate::past;

/// What the entries up to a head tell.
#[derive(Clone, Debug)]
pub struct Told {
    /// The head.
    pub head: Head,
    /// What they tell.
    pub kept: Kept,
}

/// What the entries up to a head tell; where it goes on from what is `known`, only what is new is read, and at most
/// `pages_max` pages of the past.
pub async fn told(
    kv: &impl KvStore,
    head: &Head,
    known: Option<Told>,
    pages_max: usize,
) -> Result<past::Kept<Told>, Fault> {
    let is_older = |known: &Told| known.head.cluster == head.cluster && known.head.seq <= head.seq;
    if let Some(known) = known.filter(is_older)
        && let Some(kept) = onward(kv, head, known, pages_max).await?
    {
        return Ok(past::Kept::Yes(Told { head: head.clone(), kept }));
    }
    let (entries, is_whole) = match past::newest(kv, head, u64::MAX, pages_max).await? {
        past::Kept::Yes(newest) => newest,
        past::Kept::Since(revision, gap) => return Ok(past::Kept::Since(revision, gap)),
    };
    let entries = entries.into_iter().map(|(_, entry)| entry).collect();
    Ok(past::Kept::Yes(Told { head: head.clone(), kept: Kept::of(entries, is_whole) }))
}

/// What is known with what follows it; none if the head stands for another log, or for too much more.
async fn onward(kv: &impl KvStore, head: &Head, known: Told, pages_max: usize) -> Result<Option<Kept>, Fault> {
    let Told { head: before, mut kept } = known;
    if before == *head {
        return Ok(Some(kept));
    }
    let mut new = history::segments_back(kv, head, pages_max, |segment| segment.last >= before.seq).await?;
    new.reverse();
    let entries = history::segments(kv, &new).await?;
    // Another cluster of that name has another entry there, decided at another time.
    let is_last = |(seq, entry): &(u64, _)| history::mark(*seq, entry) == (before.seq, before.revision, before.at);
    if !entries.iter().any(is_last) {
        return Ok(None);
    }
    for (_, entry) in entries.iter().filter(|(seq, _)| *seq > before.seq) {
        kept.follow(entry);
    }
    Ok(Some(kept))
}
