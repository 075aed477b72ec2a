//! The fence before a cluster's first commit.
//!
//! A storage without a log belongs to a cluster that is new, or to one whose storage was lost. The storage cannot tell
//! which; KV can. So nothing is committed to it before somebody has looked what KV shows: a head that is there would be
//! overwritten by the first publication, and with it the way to all that can still be restored.

use crate::cluster::Cluster;
use crate::document::Head;
use crate::fault::Failure;
use crate::fault::Fault;
use crate::fault::Lost;
use crate::kv::KvStore;
use crate::log::LogStore;
use crate::log::encode;
use crate::name::ClusterName;

impl Lost {
    /// What a head shows.
    #[must_use]
    pub fn of(head: &Head) -> Self {
        Self { revision: head.revision, published_at: head.published_at }
    }
}

impl<S: LogStore> Cluster<S> {
    /// Whether KV has to be looked at before anything can be committed.
    pub fn is_unfounded(&mut self) -> Result<bool, Fault> {
        let memory = self.memory()?;
        Ok(memory.seq == 0 && !memory.is_new)
    }

    /// Takes note of what KV shows. `given_up` is the revision that somebody has said may be given up for a new cluster,
    /// after which the head has been [set aside](set_aside).
    ///
    /// # Errors
    /// [`Failure::Lost`] when KV shows a head that nobody gives up.
    pub fn found(&mut self, shown: Option<&Head>, given_up: Option<u64>) -> Result<(), Failure> {
        if let Some(lost) = shown.map(Lost::of).filter(|lost| given_up != Some(lost.revision)) {
            return Err(Failure::Lost(lost));
        }
        self.memory()?.is_new = true;
        Ok(())
    }
}

/// Keeps a head that is given up under a name of its own, so that what it names can be restored as another cluster.
/// Returns the key.
pub async fn set_aside(kv: &impl KvStore, cluster: &ClusterName, head: &Head) -> Result<String, Fault> {
    let text = encode(head)?;
    let key = cluster.given_up(head.seq, &text);
    kv.put(&key, &text).await?;
    Ok(key)
}
