//! What stays of a deleted cluster, and what it answers: to people, and to agents whose runs have to end.

use agent::message::FORMAT;
use agent::message::Hello;
use agent::message::RunReport;
use agent::message::RunState;
use agent::message::StopOrder;
use agent::message::SyncAnswer;
use agent::message::SyncRequest;
use agent::message::Welcome;
use agent::run::Version;
use engine::unit::id::UserId;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;
use serde::Deserialize;
use serde::Serialize;

use crate::fault::Fault;
use crate::fault::moment;
use crate::kv::KvStore;
use crate::log::Meta;
use crate::log::Write;
use crate::log::decode;
use crate::log::encode;
use crate::name::ClusterName;

/// How long what really runs may take to end once its cluster is deleted.
const STOP_WITHIN: Millis = Millis(30_000);
/// When agents ask again that have been told.
const ASK_AGAIN: Millis = Millis::MINUTE;

/// How far a deletion is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Deletion {
    /// The cluster.
    pub cluster: String,
    /// When it was deleted.
    pub at: Timestamp,
    /// Who has deleted it.
    pub by: UserId,
    /// Its last revision; with `?anew=REVISION` its name can be taken again.
    pub revision: u64,
    /// How many objects of KV have been deleted, at least: a step that fails is not counted.
    pub objects: u64,
    /// Whether nothing of it is left. Until then it goes on by itself.
    pub is_done: bool,
}

/// What stays of a cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tombstone {
    /// When it was deleted.
    pub at: Timestamp,
    /// Who has deleted it.
    pub by: UserId,
    /// Its last revision.
    pub revision: u64,
    /// The epoch of what agents are told from now on: later than every other.
    pub epoch: u64,
    /// How many objects of KV have been deleted, at least: a step that fails is not counted.
    pub objects: u64,
    /// How many of them since KV was gone over from the beginning.
    pub found: u64,
    /// Where the next step goes on; none at the beginning.
    pub cursor: Option<String>,
    /// Not before this time.
    pub next: Timestamp,
    /// Whether nothing is left.
    pub is_done: bool,
}

impl Tombstone {
    /// What is told of it.
    #[must_use]
    pub fn told(&self, cluster: &ClusterName) -> Deletion {
        let Self { at, by, revision, objects, is_done, .. } = self.clone();
        Deletion { cluster: cluster.to_string(), at, by, revision, objects, is_done }
    }

    /// As a sentence, with what to do.
    #[must_use]
    pub fn sentence(&self, cluster: &ClusterName) -> String {
        let (deleted, anew) = self.deleted(cluster);
        if self.is_done {
            format!("{deleted}; {anew}")
        } else {
            let next = moment(self.next);
            format!("{deleted}; its data is still being removed, not before {next}; then the name can be used again")
        }
    }

    /// The same where the storage is lost since, so that nobody goes on with removing what KV has.
    #[must_use]
    pub fn sentence_of_lost(&self, cluster: &ClusterName) -> String {
        let (deleted, anew) = self.deleted(cluster);
        format!("{deleted}, and its storage is lost since; {anew}; to remove what KV still has of it, delete it again")
    }

    /// What has happened, and how the name comes free.
    fn deleted(&self, cluster: &ClusterName) -> (String, String) {
        let Self { at, revision, .. } = self;
        (
            format!("cluster {cluster} was deleted at {} (revision {revision})", moment(*at)),
            format!(
                "to use the name again, send create_cluster with ?anew={revision}, as `tidegate apply --anew {revision} FILE` does"
            ),
        )
    }

    /// The answer to an agent that says hello: it will be told what to stop.
    #[must_use]
    pub fn welcome(&self, _: &Hello) -> Welcome {
        Welcome { format: FORMAT, incarnation: 1 }
    }

    /// The answer to an agent: whatever lives ends, and what has ended is forgotten. What was named by its number alone is
    /// wanted no longer, which ends it within the same time.
    #[must_use]
    pub fn farewell(&self, request: &SyncRequest) -> SyncAnswer {
        let has_ended = |report: &RunReport| matches!(report.state, RunState::Ended(_));
        let (ended, alive): (Vec<&RunReport>, Vec<&RunReport>) = request.runs.iter().partition(|run| has_ended(run));
        let kill_in_ms = STOP_WITHIN.0.unsigned_abs();
        let stop = alive.into_iter().map(|report| StopOrder { run: report.run, job: report.job.clone(), kill_in_ms });
        SyncAnswer {
            format: FORMAT,
            incarnation: request.incarnation,
            version: Version { epoch: self.epoch, revision: self.revision },
            interval_ms: ASK_AGAIN.0.unsigned_abs(),
            want: Vec::new(),
            change: Vec::new(),
            keep: Vec::new(),
            stop: stop.collect(),
            forget: ended.into_iter().map(|report| report.run).collect(),
            offered: Vec::new(),
        }
    }

    /// Puts it in the log's place.
    pub(crate) fn write(&self) -> Result<Write, Fault> {
        Ok(Write::SetMeta(Meta::Deleted, Some(encode(self)?)))
    }
}

/// The tombstone that KV has, for a storage that knows of none.
pub async fn shown(kv: &impl KvStore, cluster: &ClusterName) -> Result<Option<Tombstone>, Fault> {
    kv.get(&cluster.tombstone()).await?.map(|text| decode("the tombstone", &text)).transpose()
}
