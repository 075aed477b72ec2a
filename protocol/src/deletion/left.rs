//! What KV shows of a cluster that is to be deleted. Where the storage has nothing, that is all there is of it.

use crate::deletion::tombstone::Tombstone;
use crate::deletion::tombstone::shown;
use crate::fault::Fault;
use crate::fault::Lost;
use crate::fault::moment;
use crate::history;
use crate::kv::KvStore;
use crate::kv::Listed;
use crate::name::ClusterName;

/// How many objects of KV are counted before somebody is asked.
const COUNTED_MAX: usize = 1_000;

/// What KV shows of a cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InKv {
    /// How many objects, as far as one list shows them.
    pub objects: u64,
    /// Whether there are more.
    pub has_more: bool,
    /// Which cluster there was, where the storage has nothing.
    pub left: Option<Left>,
}

/// What is left of a cluster whose storage is lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Left {
    /// Its head, from which it can be restored.
    Head(Lost),
    /// That it was deleted. What KV still has of it, nobody removes any more.
    Tombstone(Tombstone),
}

impl InKv {
    /// Looks at KV; `is_empty` tells that the storage has nothing of the cluster.
    pub async fn read(kv: &impl KvStore, cluster: &ClusterName, is_empty: bool) -> Result<Self, Fault> {
        let Listed { keys, cursor } = kv.list(&cluster.start(), None, COUNTED_MAX).await?;
        let left = if is_empty { left(kv, cluster).await? } else { None };
        Ok(Self { objects: keys.len() as u64, has_more: cursor.is_some(), left })
    }

    /// The tombstone of which the storage does not know, if there is nothing more to remove.
    #[must_use]
    pub fn gone(&self) -> Option<Tombstone> {
        match &self.left {
            Some(Left::Tombstone(tombstone)) if self.objects == 0 => {
                Some(Tombstone { is_done: true, ..tombstone.clone() })
            }
            Some(Left::Tombstone(_) | Left::Head(_)) | None => None,
        }
    }
}

impl Left {
    pub(crate) fn revision(&self) -> u64 {
        match self {
            Self::Head(lost) => lost.revision,
            Self::Tombstone(tombstone) => tombstone.revision,
        }
    }

    /// Why nobody can look into the cluster, and what can be done instead.
    pub(crate) fn reason(&self) -> String {
        match self {
            Self::Head(Lost { revision, published_at }) => format!(
                "its storage is lost, and KV shows it at revision {revision}, published at {}; to keep it, restore it (POST \
                 restore)",
                moment(*published_at)
            ),
            Self::Tombstone(Tombstone { at, revision, .. }) => format!(
                "it was deleted at {} (revision {revision}), and its storage was lost before all of it was removed",
                moment(*at)
            ),
        }
    }
}

async fn left(kv: &impl KvStore, cluster: &ClusterName) -> Result<Option<Left>, Fault> {
    if let Some(head) = history::head(kv, cluster).await? {
        return Ok(Some(Left::Head(Lost::of(&head))));
    }
    Ok(shown(kv, cluster).await?.map(Left::Tombstone))
}
