//! What KV does not need any more.
//!
//! Segments are merged, buckets of notes are packed again, and the past is kept for as long as the profile says. What no
//! head and no page names any more is noted when the head that replaces it has been published, with the time from which
//! on it may go: readers hold heads for a while. Then it is deleted, some at a time, and the note with it.

use engine::unit::time::Millis;
use engine::unit::time::Timestamp;

use crate::cluster::Cluster;
use crate::document::Head;
use crate::document::Page;
use crate::fault::Fault;
use crate::kv::KvStore;
use crate::log::Garbage;
use crate::log::LogStore;
use crate::log::Write;
use crate::note::Bucket;
use crate::restore::steps::Holder;
use crate::sealed::Sealed;

/// How long something stays after the last head that named it has been replaced.
pub const KEPT: Millis = Millis::HOUR;

/// How much later than a page what it names may go.
const AFTER_PAGE: Millis = Millis::MINUTE;

impl<S: LogStore> Cluster<S> {
    /// What a published head has made superfluous.
    pub(crate) fn superseded(&self, old: Option<&Head>, sealed: &Sealed, now: Timestamp) -> Vec<Write> {
        let Sealed { head, page, .. } = sealed;
        let is_named = |key: &str| {
            head.keys().any(|named| named == key)
                || page.iter().flat_map(|page| &page.segments).any(|segment| segment.key == key)
        };
        let mut keys: Vec<String> = Vec::new();
        if let Some(old) = old.filter(|old| old.cluster == self.name.as_str()) {
            keys.extend(old.segments.iter().map(|segment| segment.key.clone()));
            match &old.notes {
                Some(packs) => keys.extend(packs.iter().map(|pack| pack.key.clone())),
                None => keys.extend((Bucket::MIN..=Bucket::MAX).map(|bucket| self.name.notes(bucket))),
            }
        }
        keys.retain(|key| !is_named(key));
        let mut writes = self.dumped(keys, now + KEPT);
        if let (Some(page), Some(key), Some(kept)) = (page, &head.history, self.profile.past_kept) {
            let due = head.at + kept + KEPT;
            writes.extend(self.dumped(vec![key.clone()], due));
            // Who still finds the page finds what it names.
            writes.extend(self.dumped(of_page(page), due + AFTER_PAGE));
        }
        writes
    }

    /// Notes that own objects may go.
    pub(crate) fn dumped(&self, mut keys: Vec<String>, due: Timestamp) -> Vec<Write> {
        // A copy of another cluster names objects of that one.
        keys.retain(|key| key.starts_with(&self.name.start()));
        keys.into_iter().map(|key| Write::AddGarbage(Garbage { due, key })).collect()
    }

    /// Some of what may go by now.
    pub fn garbage(&mut self, now: Timestamp, count: usize) -> Result<Vec<Garbage>, Fault> {
        let mut garbage = self.store.garbage(now, count)?;
        let memory = self.memory()?;
        let heads = memory.published.iter().chain(memory.sealed.as_ref().map(|sealed| &sealed.head));
        let named: Vec<&str> = heads.flat_map(Head::keys).collect();
        garbage.retain(|garbage| !named.contains(&garbage.key.as_str()));
        Ok(garbage)
    }

    /// Forgets what has been deleted.
    pub fn collected(&mut self, garbage: Vec<Garbage>) -> Result<(), Fault> {
        let writes: Vec<Write> = garbage.into_iter().map(Write::DropGarbage).collect();
        if writes.is_empty() { Ok(()) } else { self.store.commit(writes).inspect_err(|_| self.forget()) }
    }
}

/// What only a page's part of the past needs.
fn of_page(page: &Page) -> Vec<String> {
    let segments = page.segments.iter().map(|segment| &segment.key);
    let parts = page.snapshot.iter().flat_map(|snapshot| &snapshot.parts);
    segments.chain(parts).cloned().collect()
}

/// Deletes at most so many objects that may go. A crash in between costs a second deletion of the same.
pub async fn collect(kv: &impl KvStore, holder: &impl Holder, now: Timestamp, count: usize) -> Result<usize, Fault> {
    let garbage = holder.work(|cluster| cluster.garbage(now, count))?;
    for Garbage { key, .. } in &garbage {
        kv.delete(key).await?;
    }
    let count = garbage.len();
    holder.work(|cluster| cluster.collected(garbage))?;
    Ok(count)
}
