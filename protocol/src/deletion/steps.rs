//! The steps in which KV is emptied: as much as one invocation may do, and then the next one.

use engine::unit::time::Millis;
use engine::unit::time::Timestamp;

use crate::cluster::Cluster;
use crate::deletion::tombstone::Tombstone;
use crate::fault::Fault;
use crate::kv::KvStore;
use crate::kv::Listed;
use crate::log::LogStore;
use crate::log::encode;
use crate::restore::steps::Holder;

/// How long KV may be old, if nothing else is said: what was put before is in a list by then.
pub const KV_LATE: Millis = Millis(2 * Millis::MINUTE.0);
/// What a step calls beside deleting what it finds: the tombstone's copy, the head, and a list.
const OVERHEAD: usize = 3;
/// How many keys a list of KV has at most.
const LISTED_MAX: usize = 1_000;

/// Goes on with `operations` calls of KV at most, which may be `late`. Answers the tombstone, which says when to go on; nothing where nothing is
/// deleted.
pub async fn go_on(
    kv: &impl KvStore,
    holder: &impl Holder,
    operations: usize,
    late: Millis,
    now: Timestamp,
) -> Result<Option<Tombstone>, Fault> {
    let Some(mut tombstone) = holder.work(|cluster| cluster.tombstone())? else { return Ok(None) };
    if tombstone.is_done || now < tombstone.next {
        return Ok(Some(tombstone));
    }
    let name = holder.work(|cluster| Ok(cluster.name.clone()))?;
    if tombstone.cursor.is_none() {
        // The copy comes first: at no moment does KV show neither the cluster nor that it was deleted.
        kv.put(&name.tombstone(), &encode(&tombstone)?).await?;
        kv.delete(&name.head()).await?;
    }
    let count = operations.saturating_sub(OVERHEAD).clamp(1, LISTED_MAX);
    let Listed { keys, cursor } = kv.list(&name.start(), tombstone.cursor.as_deref(), count).await?;
    for key in &keys {
        kv.delete(key).await?;
    }
    tombstone.objects += keys.len() as u64;
    tombstone.found += keys.len() as u64;
    tombstone.cursor = cursor;
    if tombstone.cursor.is_none() {
        // A publication that was under way is over when this begins again.
        tombstone.is_done = tombstone.found == 0 && now - tombstone.at >= late;
        tombstone.found = 0;
        tombstone.next = if tombstone.is_done { now } else { now + late };
    }
    holder.work(|cluster| cluster.bury(&tombstone))?;
    Ok(Some(tombstone))
}

impl<S: LogStore> Cluster<S> {
    /// Notes how far the deletion is, unless the name has been taken again.
    fn bury(&mut self, tombstone: &Tombstone) -> Result<(), Fault> {
        match self.tombstone()? {
            Some(_) => self.store.commit(vec![tombstone.write()?]),
            None => Ok(()),
        }
    }
}
