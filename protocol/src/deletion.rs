//! Deleting a cluster: first what it costs, then all of it, in steps, and a tombstone that stays.
//!
//! 1. [`Cluster::deletion_cost`] says what ends and what goes, with a word that stands for exactly that. Of a cluster that
//!    is being restored, whose log cannot be read or whose storage is lost, it says that nobody knows, and the word stands
//!    for that.
//! 2. [`Cluster::delete`] takes that word. In one commit the log is dropped and a [`Tombstone`] put in its place: from then
//!    on every command, round and read of the cluster is refused, and agents are told that nothing is wanted any more.
//! 3. [`steps::go_on`] empties KV, head first, a few objects an invocation. Lists of KV may be old, and a publication may
//!    have been under way, so it goes over all keys again until it finds none.
//!
//! The tombstone prevents a command to the name from founding it anew by accident. A copy of it is in KV, for
//! a storage that is lost afterwards. Who says the revision at which the cluster was deleted may have the name again.

use engine::job::phase::Phase;
use engine::message::command::Command;
use engine::message::command::UpdateCluster;
use engine::state::jobs::Job;
use engine::unit::id::UserId;
use engine::unit::time::Timestamp;
use serde::Deserialize;
use serde::Serialize;

use crate::cluster::Cluster;
use crate::cluster::Done;
use crate::cluster::RESTORED_PREFIX;
use crate::deletion::left::InKv;
use crate::deletion::left::Left;
use crate::deletion::tombstone::Deletion;
use crate::deletion::tombstone::Tombstone;
use crate::digest::sha256;
use crate::document::Head;
use crate::fault::Failure;
use crate::fault::Fault;
use crate::log::LogStore;
use crate::log::Meta;
use crate::log::Write;
use crate::log::decode;
use crate::memory::fold;
use crate::restore::restoring::Restoring;

pub mod left;
pub mod steps;
pub mod tombstone;

/// How many characters the word has that confirms a deletion.
const WORD_CHARS: usize = 16;

/// What deleting a cluster costs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DeletionCost {
    /// The cluster.
    pub cluster: String,
    /// Its revision.
    pub revision: u64,
    /// Jobs that hold something, which end.
    pub running: u64,
    /// Jobs that wait, which never start.
    pub queued: u64,
    /// Quotas that go.
    pub quotas: u64,
    /// Workspaces that go.
    pub workspaces: u64,
    /// Access keys that open nothing any more.
    pub keys: u64,
    /// Entries of the log, of which nothing can be read any more.
    pub entries: u64,
    /// Objects of KV that are deleted, as far as one list shows them.
    pub objects: u64,
    /// Whether there are more.
    pub has_more_objects: bool,
    /// Why nobody can say what ends and what goes, if so: the cluster is being restored, its log cannot be read, or its
    /// storage is lost. What is counted of the log is 0 then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uncounted: Option<String>,
    /// Repeat the request with this as `confirm`. It stands for these jobs: when others run or wait, there is another one.
    pub confirm: String,
    /// The same as a sentence.
    pub message: String,
}

impl DeletionCost {
    /// A cost of which nothing is counted yet but the objects that a list of KV shows, and whether there are more. The word
    /// stands for what is at stake; `what` is said of it, up to the objects.
    fn uncounted(cluster: String, revision: u64, in_kv: &InKv, stakes: &str, what: &str) -> Self {
        let confirm = sha256(format!("{cluster}\n{stakes}").as_bytes())[..WORD_CHARS].to_owned();
        let InKv { objects, has_more: has_more_objects, left: _ } = *in_kv;
        let more = if has_more_objects { " or more" } else { "" };
        let message = format!(
            "deleting cluster {cluster} removes all of it for good{what}: {objects}{more}. Clusters restored from it lose \
             their history from before that. To go on, repeat this with confirm={confirm}"
        );
        Self {
            cluster,
            revision,
            running: 0,
            queued: 0,
            quotas: 0,
            workspaces: 0,
            keys: 0,
            entries: 0,
            objects,
            has_more_objects,
            uncounted: None,
            confirm,
            message,
        }
    }
}

/// The answer to the question what a deletion costs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum DeletionAnswer {
    /// This.
    Cost(Box<DeletionCost>),
    /// It is deleted already.
    Deleted(Deletion),
}

/// Why a cluster is not deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Undeleted {
    /// The word does not stand for what it costs now.
    OtherCost(Box<DeletionCost>),
    /// There is nothing to delete.
    Nothing,
}

impl<S: LogStore> Cluster<S> {
    /// What deleting the cluster costs; nothing where there is none.
    pub fn deletion_cost(&mut self, in_kv: &InKv) -> Result<Option<DeletionCost>, Fault> {
        match self.memory() {
            Ok(memory) if memory.seq > 0 => self.counted_cost(in_kv).map(Some),
            Ok(_) => {
                let lost = |left: &Left| self.uncounted_cost(left.revision(), left.reason(), in_kv);
                Ok(in_kv.left.as_ref().map(lost))
            }
            // Nobody can look into it, and somebody may want to be rid of it.
            Err(fault @ (Fault::Restoring(_) | Fault::Damaged { .. })) => {
                let (revision, reason) = match self.restoring()? {
                    // How far it is changes while somebody thinks it over.
                    Some(Restoring { head, .. }) => {
                        (head.revision, format!("the cluster is being restored to revision {}", head.revision))
                    }
                    None => (self.last_revision(), fault.to_string()),
                };
                Ok(Some(self.uncounted_cost(revision, reason, in_kv)))
            }
            Err(fault) => Err(fault),
        }
    }

    /// The same where jobs and quotas are not known.
    fn uncounted_cost(&self, revision: u64, reason: String, in_kv: &InKv) -> DeletionCost {
        let what = format!(". How many jobs end, and what else goes, nobody can say: {reason}. Objects in KV");
        let cost = DeletionCost::uncounted(self.name.to_string(), revision, in_kv, &reason, &what);
        DeletionCost { uncounted: Some(reason), ..cost }
    }

    /// The last revision of a log that cannot be read, as far as it tells.
    fn last_revision(&self) -> u64 {
        let last = self.store.last_within(u64::MAX).ok().flatten().unwrap_or_default();
        let records = self.store.records(last.saturating_sub(1), last).unwrap_or_default();
        let published = self.store.meta(Meta::Published).ok().flatten();
        let published = published.and_then(|text| decode::<Head>("the published head", &text).ok());
        let revisions = records.iter().map(|record| record.revision).chain(published.map(|head| head.revision));
        revisions.max().unwrap_or_default()
    }

    fn counted_cost(&mut self, in_kv: &InKv) -> Result<DeletionCost, Fault> {
        let cluster = self.name.to_string();
        let memory = self.memory()?;
        let (state, entries) = (&memory.state, memory.seq);
        let is_queued = |job: &Job| matches!(job.phase, Phase::Queued { .. });
        let unfinished: Vec<&Job> = state.jobs.iter().map(|(_, job)| job).filter(|job| !job.is_ended()).collect();
        let queued = unfinished.iter().filter(|job| is_queued(job)).count() as u64;
        let running = unfinished.len() as u64 - queued;
        let mut stakes: Vec<String> =
            unfinished.iter().map(|job| format!("{} {}", job.spec.id, is_queued(job))).collect();
        stakes.sort();
        let (quotas, workspaces) = (state.live_quotas().count() as u64, state.workspaces.len() as u64);
        let keys = state.keys.values().filter(|key| !key.is_revoked).count() as u64;
        let what = format!(
            ": running jobs that end: {running}, queued jobs: {queued}, quotas: {quotas}, workspaces: {workspaces}, access \
             keys: {keys}, log entries: {entries}, objects in KV"
        );
        let cost = DeletionCost::uncounted(cluster, state.revision, in_kv, &stakes.join("\n"), &what);
        Ok(DeletionCost { running, queued, quotas, workspaces, keys, entries, ..cost })
    }

    /// Deletes the cluster, if the word stands for what that costs now.
    pub fn delete(
        &mut self,
        confirm: &str,
        by: &UserId,
        in_kv: &InKv,
        now: Timestamp,
    ) -> Result<Result<Tombstone, Undeleted>, Fault> {
        let Some(cost) = self.deletion_cost(in_kv)? else { return Ok(Err(Undeleted::Nothing)) };
        if cost.confirm != confirm {
            return Ok(Err(Undeleted::OtherCost(Box::new(cost))));
        }
        let seconds = u64::try_from(now.0 / 1_000).unwrap_or(0);
        // Where nobody knows the epoch, the time is later than it: epochs begin with the second that they begin in.
        let known = self.memory().map_or(0, |memory| memory.state.cluster.epoch);
        let epoch = known.saturating_add(1).max(seconds);
        let tombstone = Tombstone {
            at: now,
            by: by.clone(),
            revision: cost.revision,
            epoch,
            objects: 0,
            found: 0,
            cursor: None,
            next: now,
            is_done: false,
        };
        self.forget();
        self.store.commit(vec![Write::Clear, tombstone.write()?])?;
        Ok(Ok(tombstone))
    }

    /// What stays of the cluster, if it was deleted. Costs nothing where the cluster is in use.
    pub fn tombstone(&self) -> Result<Option<Tombstone>, Fault> {
        if self.memory.is_some() {
            return Ok(None);
        }
        self.store.meta(Meta::Deleted)?.map(|text| decode("the tombstone", &text)).transpose()
    }

    /// Opens a deleted cluster for its first command, or for a restore, which drop the tombstone: until then memory alone knows of it, and
    /// whoever does not go through with it has to [forget](Cluster::forget) that.
    pub fn take_again(&mut self) -> Result<(), Fault> {
        self.memory = Some(fold(&self.store)?);
        Ok(())
    }

    /// Begins an epoch later than that of the cluster that had the name: its agents may still have runs of it.
    pub fn begin_again(&mut self, now: Timestamp) -> Result<Done, Failure> {
        let name = format!("{RESTORED_PREFIX}{}", self.memory()?.seq);
        let update = UpdateCluster { execution: None, start_within_ms: None, is_restored: true };
        self.handle_own(&name, None, Command::UpdateCluster(update), now)
    }
}
