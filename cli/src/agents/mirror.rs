//! The nodes of a Slurm cluster as nodes of a Tidegate cluster: an administrator puts them there, the agent tells of them.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use engine::message::FORMAT;
use engine::message::command::AmountByName;
use engine::message::command::ApplyPlan;
use engine::message::command::Command;
use engine::message::command::PutNode;
use engine::message::snapshot::Snapshot;
use engine::state::cluster::Node;
use engine::state::cluster::NodeStatus;
use engine::state::world::State;
use engine::unit::amount::Dimension;
use engine::unit::amount::DimensionKind;
use engine::unit::id::GroupId;
use engine::unit::id::NodeId;
use runner::slurm::nodes;
use runner::slurm::nodes::SlurmNode;
use serde::Deserialize;
use serde::Serialize;
use serde_json::json;

use crate::agents::joined::Joined;
use crate::service::drawn;
use crate::service::http::Address;
use crate::service::http::Client;

const FILE: &str = "slurm.json";
/// Thousandths of a GPU, and of a CPU.
const WHOLE: i64 = 1_000;

/// What `slurm.json` says: the nodes that are the agent's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mirrored {
    /// The format of this file.
    pub format: u32,
    /// The partition whose nodes they are; those of all partitions if none is named.
    pub partition: Option<String>,
    /// Their names.
    pub nodes: Vec<String>,
}

impl Mirrored {
    /// Reads it.
    pub fn read(state: &Path) -> Result<Self, String> {
        let path = state.join(FILE);
        let about = |what: &dyn std::fmt::Display| format!("{}: {what}", path.display());
        let text = fs::read_to_string(&path).map_err(|error| {
            if error.kind() == ErrorKind::NotFound {
                about(&"no nodes of Slurm have been put into the cluster; see the help of slurm mirror")
            } else {
                about(&error)
            }
        })?;
        serde_json::from_str(&text).map_err(|error| about(&error))
    }

    fn write(&self, state: &Path) -> Result<(), String> {
        let path = state.join(FILE);
        let text = serde_json::to_string_pretty(self).map_err(|error| error.to_string())?;
        fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))
    }
}

/// Puts the nodes into the cluster that the agent with this state directory has joined; what to say of that.
pub fn again(state: &Path, token: &str, partition: Option<&str>, groups: &[String]) -> Result<String, String> {
    let joined = Joined::read(state)?;
    let client = Client::new(Address::new(&joined.service)?);
    let said = mirror(&client, token, &joined.cluster, partition, groups, state)?;
    Ok(format!("{} tells of {said}; start its agent again", joined.name))
}

/// Puts the nodes of a partition of Slurm, or all, into a cluster, and notes them as those of the agent with this state
/// directory; what to say of that.
pub fn mirror(
    client: &Client,
    token: &str,
    cluster: &str,
    partition: Option<&str>,
    groups: &[String],
    state: &Path,
) -> Result<String, String> {
    let found = nodes::nodes(partition).map_err(|error| error.to_string())?;
    if found.is_empty() {
        let place = partition.map_or_else(String::new, |partition| format!(" in partition {partition}"));
        return Err(format!("Slurm has no nodes{place}; look at: sinfo --Node"));
    }
    let known = snapshot(client, token, cluster)?;
    let group = groups.first().ok_or("name a resource group with --groups")?;
    let commands = commands(&known, &found, group, groups)?;
    let count = commands.len();
    if count > 0 {
        let command = Command::ApplyPlan(ApplyPlan { commands });
        let body = json!({ "format": FORMAT, "id": format!("mirror-{}", drawn::drawn()?), "command": command });
        let answer = client.post(&format!("/v1/clusters/{cluster}/commands"), Some(token), &body.to_string())?;
        if answer.status != 200 {
            return Err(answer.refusal().1);
        }
    }
    let names = found.keys().cloned().collect::<Vec<_>>();
    let gpus: u32 = found.values().map(|node| u32::from(node.gpus)).sum();
    let said = format!("{} nodes of Slurm with {gpus} GPUs, of which {count} are new or changed", names.len());
    Mirrored { format: FORMAT, partition: partition.map(str::to_owned), nodes: names }.write(state)?;
    Ok(said)
}

fn snapshot(client: &Client, token: &str, cluster: &str) -> Result<State, String> {
    let get = |path: &str| {
        let answer = client.get(&format!("/v1/clusters/{cluster}/{path}"), token)?;
        if answer.status == 200 { Ok(answer.text) } else { Err(answer.refusal().1) }
    };
    // What is published may lag behind; the object says how new it has to be.
    let newest: serde_json::Value = serde_json::from_str(&get("hash")?).map_err(|error| error.to_string())?;
    let revision = newest.get("revision").and_then(serde_json::Value::as_u64).unwrap_or_default();
    let text = get(&format!("snapshot?min_revision={revision}"))?;
    let snapshot: Snapshot = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    snapshot.restore().map_err(|rejection| rejection.to_string())
}

/// What makes the cluster's nodes those of Slurm. What people have said of a node stays: its status, its types.
fn commands(
    state: &State,
    found: &BTreeMap<String, SlurmNode>,
    group: &str,
    groups: &[String],
) -> Result<Vec<Command>, String> {
    let mut commands = Vec::new();
    for (name, slurm) in found {
        let node = NodeId::new(name).map_err(|error| format!("Slurm's node {name}: {error}"))?;
        let known = state.node_no(&node).map(|no| &state.nodes[no.at()]);
        let of = |node: &Node| state.groups[node.group.at()].id.to_string();
        if let Some(of) = known.map(of).filter(|of| !groups.contains(of)) {
            return Err(format!(
                "node {name} belongs to group {of} already; name that with --groups, or a partition without it"
            ));
        }
        let group = known.map_or_else(|| group.to_owned(), of);
        let gpu_type = slurm.gpu_type.as_deref().map(Into::into);
        let put = PutNode {
            node,
            group: GroupId::new(&group).map_err(|error| error.to_string())?,
            node_type: known.and_then(|node| node.node_type.clone()),
            gpu_type: known.and_then(|node| node.gpu_type.clone()).or(gpu_type),
            amount: amount(state, name, slurm, known)?,
            status: known.map_or(NodeStatus::Ready, |node| node.status),
        };
        let is_new =
            known.is_none_or(|node| state.cluster.by_name(&node.amount) != put.amount || node.gpu_type != put.gpu_type);
        if is_new {
            commands.push(Command::PutNode(put));
        }
    }
    Ok(commands)
}

/// What a node has, in the cluster's dimensions: GPUs in the one that has the name of their type, else in the first one.
/// Dimensions of which Slurm knows nothing stay.
fn amount(state: &State, name: &str, slurm: &SlurmNode, known: Option<&Node>) -> Result<AmountByName, String> {
    let dimensions = &state.cluster.dimensions;
    let gpus = || dimensions.iter().filter(|dimension| dimension.kind == DimensionKind::Gpu);
    let of_type = gpus().find(|dimension| Some(&dimension.name) == slurm.gpu_type.as_ref()).or(gpus().next());
    if of_type.is_none() && slurm.gpus > 0 {
        return Err(format!("node {name} has {} GPUs, and the cluster has no dimension for GPUs", slurm.gpus));
    }
    let before = known.map(|node| state.cluster.by_name(&node.amount)).unwrap_or_default();
    let whole = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
    let value = |dimension: &Dimension| match dimension.kind {
        DimensionKind::Gpu if of_type == Some(dimension) => i64::from(slurm.gpus) * WHOLE,
        DimensionKind::Gpu => 0,
        DimensionKind::Cpu => whole(slurm.cpus).saturating_mul(WHOLE),
        DimensionKind::Memory => whole(slurm.memory_mib),
        DimensionKind::Other => before.get(&dimension.name).copied().unwrap_or_default(),
    };
    let values = dimensions.iter().map(|dimension| (dimension.name.clone(), value(dimension)));
    Ok(values.filter(|(_, value)| *value > 0).collect())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use engine::host::authority;
    use engine::message::command::Command;
    use engine::message::envelope::Envelope;
    use engine::state::world::State;
    use engine::unit::time::Timestamp;
    use runner::slurm::nodes::SlurmNode;
    use serde_json::Value;
    use serde_json::json;

    use super::commands;

    fn state(made_by: &[Value]) -> State {
        let mut state = State::default();
        for (at, command) in made_by.iter().enumerate() {
            let envelope = json!({ "format": 1, "id": at.to_string(), "command": command });
            let envelope: Envelope = serde_json::from_value(envelope).expect("it is a command");
            authority::handle(&mut state, &envelope, Timestamp(0)).expect("it is accepted");
        }
        state
    }

    fn founded() -> Vec<Value> {
        let kinds = [("gpu", "gpu"), ("h100", "gpu"), ("cpu", "cpu"), ("memory", "memory")];
        let dimensions: Vec<Value> = kinds.iter().map(|(name, kind)| json!({ "name": name, "kind": kind })).collect();
        let group = |group: &str| json!({ "put_group": { "group": group, "resource_type": "lingjun" } });
        vec![json!({ "create_cluster": { "dimensions": dimensions, "execution": "reported" } }), group("m"), group("x")]
    }

    fn slurm(gpu_type: Option<&str>) -> BTreeMap<String, SlurmNode> {
        let gpu_type = gpu_type.map(str::to_owned);
        let node = SlurmNode { gpus: 4, gpu_type, cpus: 8, memory_mib: 1_000, unfit: None, is_heard: true };
        BTreeMap::from([("n1".to_owned(), node)])
    }

    fn made(state: &State, found: &BTreeMap<String, SlurmNode>) -> Result<Vec<Value>, String> {
        let commands = commands(state, found, "m", &["m".to_owned()])?;
        let value =
            |command: &Command| serde_json::to_value(command).expect("it is JSON")["put_node"]["amount"].clone();
        Ok(commands.iter().map(value).collect())
    }

    #[test]
    fn a_node_has_what_slurm_says_in_the_cluster_s_units() {
        let state = state(&founded());
        assert_eq!(made(&state, &slurm(None)), Ok(vec![json!({ "gpu": 4_000, "cpu": 8_000, "memory": 1_000 })]));
        assert_eq!(
            made(&state, &slurm(Some("h100"))),
            Ok(vec![json!({ "h100": 4_000, "cpu": 8_000, "memory": 1_000 })])
        );
    }

    #[test]
    fn a_node_that_is_as_slurm_says_stays() {
        let node = |group: &str| {
            let amount = json!({ "gpu": 4_000, "cpu": 8_000, "memory": 1_000 });
            json!({ "put_node": { "node": "n1", "group": group, "amount": amount, "status": "cordoned" } })
        };
        let with = |group: &str| state(&[founded(), vec![node(group)]].concat());
        assert_eq!(made(&with("m"), &slurm(None)), Ok(Vec::new()));
        let elsewhere = made(&with("x"), &slurm(None)).expect_err("it is in another group");
        assert!(elsewhere.starts_with("node n1 belongs to group x already"), "{elsewhere}");
    }
}
