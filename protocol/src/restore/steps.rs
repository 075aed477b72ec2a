//! The steps of a restore: as much as one invocation may do, and then the next one.

use crate::cluster::Cluster;
use crate::fault::Fault;
use crate::gap::Gap;
use crate::kv::KvStore;
use crate::log::LogStore;

/// What one invocation may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// How many objects it reads.
    pub operations: usize,
    /// After how many bytes it reads no other object.
    pub bytes: usize,
}

/// Whoever has a cluster, and lets nobody else work with it at the same time.
pub trait Holder {
    /// The cluster's storage.
    type Store: LogStore;
    /// Works with the cluster.
    fn work<T>(&self, work: impl FnOnce(&mut Cluster<Self::Store>) -> Result<T, Fault>) -> Result<T, Fault>;
}

/// Goes on with a restore as far as one invocation may. Answers what is missing of the past, once it is over.
///
/// # Errors
/// As [`Cluster::restore_with`] and [`Cluster::finish_restore`], and when KV cannot be read: then it is tried again.
pub async fn go_on(kv: &impl KvStore, holder: &impl Holder, budget: Budget) -> Result<Option<Vec<Gap>>, Fault> {
    let mut bytes = 0;
    for _ in 0..budget.operations {
        let Some(key) = holder.work(Cluster::restore_wants)? else {
            return holder.work(Cluster::finish_restore).map(Some);
        };
        let text = kv.get(&key).await?;
        bytes += text.as_ref().map_or(0, String::len);
        holder.work(|cluster| cluster.restore_with(&key, text))?;
        if bytes >= budget.bytes {
            break;
        }
    }
    Ok(None)
}
