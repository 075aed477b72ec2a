//! What is newest of a cluster, for a front that answers reads of its past from KV: who asks, the head that is known to
//! be published, and the entries after it.
//!
//! The object says that in bounded size and decodes nothing; the past is read and decoded by the front, whose time nobody
//! else waits for. The entries make the published state the one that is, by which it is judged what somebody may see, and
//! people find at least what they wrote themselves.

use engine::message::envelope::Entry;
use engine::state::world::State;
use engine::transition::Sender;
use engine::unit::id::UserId;
use serde::Deserialize;

use crate::cluster::Cluster;
use crate::document::Head;
use crate::fault::Fault;
use crate::kv::KvStore;
use crate::log::LogStore;
use crate::log::encode;
use crate::past;
use crate::past::Kept;
use crate::past::Numbered;
use crate::past::Search;
use crate::replay::replay;

/// How many entries may follow the head, and how many bytes. There are more where publishing has failed for long.
const TAIL_MAX: u64 = 1_000;
const TAIL_BYTES_MAX: usize = 8 * 1024 * 1024;
/// How many of them are read at once: an entry with a plan may have megabytes.
const ROWS_AT_ONCE: u64 = 16;

/// What the object says.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Newest {
    /// Who asks.
    pub user: UserId,
    /// Whether they administer the cluster.
    pub administers: bool,
    /// Under which name it is counted what they read; none where nobody counts.
    pub rated: Option<String>,
    /// The revision of the state as it is.
    pub revision: u64,
    /// The head that is known to be published.
    pub head: Option<Head>,
    /// All entries after it, in order.
    pub tail: Vec<Entry>,
}

impl<S: LogStore> Cluster<S> {
    /// What is newest, as the text of a [`Newest`]; none if too much is not published.
    pub fn newest(&mut self, sender: &Sender, rated: Option<&str>) -> Result<Option<String>, Fault> {
        let memory = self.memory()?;
        let (last, revision, head) = (memory.seq, memory.state.revision, memory.published.clone());
        let mut seq = head.as_ref().map_or(0, |head| head.seq);
        if last.saturating_sub(seq) > TAIL_MAX {
            return Ok(None);
        }
        let mut tail = String::new();
        while seq < last {
            let next = last.min(seq + ROWS_AT_ONCE);
            for record in self.store.records(seq, next)? {
                tail.push_str(if tail.is_empty() { "" } else { "," });
                tail.push_str(&record.entry);
            }
            if tail.len() > TAIL_BYTES_MAX {
                return Ok(None);
            }
            seq = next;
        }
        let (user, rated, head) = (encode(&sender.user)?, encode(&rated)?, encode(&head)?);
        let administers = sender.administers;
        Ok(Some(format!(
            "{{\"user\":{user},\"administers\":{administers},\"rated\":{rated},\"revision\":{revision},\"head\":{head},\
             \"tail\":[{tail}]}}"
        )))
    }
}

impl Newest {
    /// What a reader of KV takes for the newest.
    #[must_use]
    pub fn published(sender: &Sender, head: Head) -> Self {
        let Sender { user, administers } = sender.clone();
        Self { user, administers, rated: None, revision: head.revision, head: Some(head), tail: Vec::new() }
    }

    /// Who asks.
    #[must_use]
    pub fn sender(&self) -> Sender {
        Sender { user: self.user.clone(), administers: self.administers }
    }

    /// The state as it is, from the one that the head names.
    pub fn state(&self, mut published: State) -> Result<State, Fault> {
        for entry in &self.tail {
            replay(&mut published, entry)?;
        }
        Ok(published)
    }

    /// The entries that are not published, with their numbers.
    fn numbered(&self) -> Vec<(u64, Entry)> {
        let first = self.head.as_ref().map_or(0, |head| head.seq) + 1;
        (first..).zip(self.tail.iter().cloned()).collect()
    }

    /// Shows a search the newest entries, and of what is published at most `pages_max` pages.
    pub async fn find(
        &self,
        kv: &impl KvStore,
        pages_max: usize,
        search: &mut Search<impl Fn(&Entry) -> bool>,
    ) -> Result<Kept<()>, Fault> {
        // An entry beyond what is asked for says nothing of where to go on.
        let newest = search.newest();
        for (seq, entry) in self.numbered().into_iter().rev().filter(|(_, entry)| entry.revision <= newest) {
            search.look_at(seq, entry);
        }
        match self.head.as_ref().filter(|_| !search.is_over()) {
            Some(head) => past::find(kv, head, u64::MAX, pages_max, search).await,
            None => Ok(Kept::Yes(())),
        }
    }

    /// The entry that led to a revision; none where no entry ends with it.
    pub async fn entry_at(&self, kv: &impl KvStore, revision: u64) -> Result<Kept<Option<Entry>>, Fault> {
        match self.head.as_ref().filter(|head| revision <= head.revision) {
            Some(head) => past::entry_at(kv, head, revision).await,
            // An entry without events leaves the revision as it was; the one that reached it comes first.
            None => Ok(Kept::Yes(self.tail.iter().find(|entry| entry.revision == revision).cloned())),
        }
    }

    /// The newest entries up to a revision.
    pub async fn entries(&self, kv: &impl KvStore, before: u64, pages_max: usize) -> Result<Kept<Numbered>, Fault> {
        past::newest_with(kv, self.head.as_ref(), self.numbered(), before, pages_max).await
    }
}
