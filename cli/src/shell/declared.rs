//! What a cluster declares of itself, as the table `[cluster]` of its file: what it counts, and who says what jobs do.

use engine::message::command::Command;
use engine::message::command::CreateCluster;
use engine::message::command::UpdateCluster;
use engine::state::cluster::Cluster;
use engine::state::cluster::Execution;
use engine::unit::amount::Dimension;
use engine::unit::time::Millis;
use serde::Deserialize;
use serde::Serialize;

use crate::shell::file::read;

/// The table. What is left out stays as it is, and is as usual in a new cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Declared {
    /// What it counts; a new cluster has to say, and then it stays.
    #[serde(default)]
    pub dimensions: Option<Vec<Dimension>>,
    /// Whether jobs are simulated or reported.
    #[serde(default)]
    pub execution: Option<Execution>,
    /// How long is waited until it is confirmed that a run has started.
    #[serde(default)]
    pub start_within_ms: Option<Millis>,
}

/// A file of which nothing else is read yet: its amounts are in what the cluster counts.
#[derive(Deserialize)]
struct Head {
    #[serde(default)]
    cluster: Option<Declared>,
}

impl Declared {
    /// Of a cluster as it is.
    #[must_use]
    pub fn of(cluster: &Cluster) -> Self {
        Self {
            dimensions: Some(cluster.dimensions.clone()),
            execution: Some(cluster.execution),
            start_within_ms: Some(cluster.start_within),
        }
    }

    /// The cluster in whose amounts a file is written: the one that there is, or the one that the file founds. It counts
    /// nothing where neither says what.
    pub fn counted_in(text: &str, is_json: bool, cluster: &Cluster) -> Result<Cluster, String> {
        let read: Result<Head, String> = if is_json {
            serde_json::from_str(text).map_err(|error| error.to_string())
        } else {
            read::read(text, cluster)
        };
        let is_there = !cluster.dimensions.is_empty();
        let place = |keys: &[&str]| if is_json { String::new() } else { read::place(text, keys) };
        let Some(declared) = read?.cluster else { return Ok(cluster.clone()) };
        match declared.dimensions {
            None if is_there => Ok(cluster.clone()),
            None => Err(format!("{}“dimensions” is missing here; {}", place(&["cluster"]), read::DECLARE)),
            Some(dimensions) if is_there && dimensions != cluster.dimensions => {
                let place = place(&["cluster", "dimensions"]);
                let names: Vec<&str> = cluster.dimensions.iter().map(|dimension| dimension.name.as_str()).collect();
                Err(format!("{place}the cluster counts {}, and that cannot change; leave it out", names.join(", ")))
            }
            Some(dimensions) => Ok(Cluster { dimensions, ..cluster.clone() }),
        }
    }

    /// The command that founds a cluster, and what it says later.
    #[must_use]
    pub fn founding(&self) -> Command {
        let (dimensions, execution) = (self.dimensions.clone().unwrap_or_default(), self.execution.unwrap_or_default());
        Command::CreateCluster(CreateCluster { dimensions, execution })
    }

    /// The command after which a cluster declares this; nothing where it does so already.
    #[must_use]
    pub fn update(&self, cluster: &Cluster) -> Option<Command> {
        let execution = self.execution.filter(|wanted| *wanted != cluster.execution);
        let start_within_ms = self.start_within_ms.filter(|wanted| *wanted != cluster.start_within);
        let update = UpdateCluster { execution, start_within_ms, is_restored: false };
        (update != UpdateCluster::default()).then_some(Command::UpdateCluster(update))
    }
}
