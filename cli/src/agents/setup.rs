//! `tidegate slurm setup`: the lines of slurm.conf by which Tidegate has nodes to itself.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::fmt::Write;

use runner::slurm::nodes;
use runner::slurm::nodes::SlurmNode;

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Setup<'a> {
    /// What the partition is called.
    pub partition: &'a str,
    /// Its nodes; all of Slurm's if none is named.
    pub nodes: &'a [String],
    /// The group of accounts that may submit there: the agent's.
    pub group: &'a str,
}

/// The lines for the Slurm cluster of which this machine is a client.
pub fn setup(asked: Setup) -> Result<String, String> {
    let known = nodes::nodes(None).map_err(|error| error.to_string())?;
    let partitions = nodes::partitions().map_err(|error| error.to_string())?;
    lines(asked, &known, &partitions)
}

fn lines(
    asked: Setup,
    known: &BTreeMap<String, SlurmNode>,
    partitions: &BTreeMap<String, BTreeSet<String>>,
) -> Result<String, String> {
    let Setup { partition, nodes, group } = asked;
    check("--partition", partition)?;
    check("--group", group)?;
    let nodes: Vec<&String> = if nodes.is_empty() { known.keys().collect() } else { nodes.iter().collect() };
    if let Some(strange) = nodes.iter().find(|node| !known.contains_key(**node)) {
        return Err(format!("Slurm has no node {strange}; look at: sinfo --Node"));
    }
    let mine: Vec<&SlurmNode> = nodes.iter().filter_map(|node| known.get(*node)).collect();
    let share = |of| share(&mine, of);
    let list = |nodes: &[&String]| nodes.iter().map(|node| node.as_str()).collect::<Vec<_>>().join(",");
    let mut line = format!("PartitionName={partition} Nodes={} AllowGroups={group}", list(&nodes));
    for (name, share) in [("DefCpuPerGPU", share(|node| node.cpus)), ("DefMemPerGPU", share(|node| node.memory_mib))] {
        line += &share.map_or_else(String::new, |share| format!(" {name}={share}"));
    }
    line += " DefaultTime=INFINITE MaxTime=INFINITE PreemptMode=OFF State=UP";
    let mut text = format!(
        "# For slurm.conf, on all of its machines; then: scontrol reconfigure\n\
         # Only accounts of the group {group} submit here. Tidegate decides what runs; a pod has its GPUs' share of the\n\
         # CPUs and of the memory.\n{line}\n"
    );
    for (other, theirs) in partitions.iter().filter(|(other, _)| *other != partition) {
        let shared: Vec<&String> = nodes.iter().copied().filter(|node| theirs.contains(*node)).collect();
        if !shared.is_empty() {
            let shared = list(&shared);
            // Nothing fails when a text grows.
            let _ = writeln!(
                text,
                "# Take these out of partition {other}, or its jobs hold up what Tidegate starts: {shared}"
            );
        }
    }
    text += "# Back: cancel what runs in Tidegate, end the agent, take this line out, give the nodes back to their partitions,\n";
    text += "# scontrol reconfigure";
    Ok(text)
}

/// What each of the nodes can give with a GPU.
pub(super) fn share(nodes: &[&SlurmNode], of: fn(&SlurmNode) -> u64) -> Option<u64> {
    let shares = nodes.iter().filter(|node| node.gpus > 0).map(|node| of(node) / u64::from(node.gpus));
    shares.min().filter(|share| *share > 0)
}

/// A word that stands for itself in slurm.conf.
pub(super) fn check(flag: &str, word: &str) -> Result<(), String> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
    if !word.is_empty() && word.chars().all(is_plain) {
        return Ok(());
    }
    Err(format!("{flag} {word}: write letters, digits, hyphens, dots and underscores"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::collections::BTreeSet;

    use runner::slurm::nodes::SlurmNode;

    use super::Setup;
    use super::lines;

    fn told(partition: &str, nodes: &[&str]) -> Result<String, String> {
        let node =
            |gpus, cpus| SlurmNode { gpus, gpu_type: None, cpus, memory_mib: 1_000, unfit: None, is_heard: true };
        let known = [("n1", node(4, 32)), ("n2", node(8, 32)), ("login", node(0, 2))];
        let known: BTreeMap<String, SlurmNode> = known.map(|(name, node)| (name.to_owned(), node)).into();
        let theirs: BTreeSet<String> = ["n1", "login"].map(str::to_owned).into();
        let partitions = BTreeMap::from([("batch".to_owned(), theirs.clone()), ("ours".to_owned(), theirs)]);
        let nodes: Vec<String> = nodes.iter().map(|node| (*node).to_owned()).collect();
        lines(Setup { partition, nodes: &nodes, group: "ml" }, &known, &partitions)
    }

    #[test]
    fn the_partition_has_shares_that_every_node_can_give() {
        let text = told("ours", &["n1", "n2"]).expect("these are there");
        let line = "PartitionName=ours Nodes=n1,n2 AllowGroups=ml DefCpuPerGPU=4 DefMemPerGPU=125 DefaultTime=INFINITE";
        assert!(text.lines().any(|told| told.starts_with(line)), "{text}");
        assert!(
            text.contains("# Take these out of partition batch, or its jobs hold up what Tidegate starts: n1\n"),
            "{text}"
        );
        assert!(!text.contains("partition ours,"), "{text}");
        assert!(text.lines().all(|line| line.starts_with('#') || line.starts_with("PartitionName=")), "{text}");
    }

    #[test]
    fn what_slurm_does_not_have_is_named() {
        assert_eq!(told("ours", &["n1", "n9"]), Err("Slurm has no node n9; look at: sinfo --Node".to_owned()));
        assert!(told("our s", &[]).unwrap_err().starts_with("--partition our s: write letters"));
    }
}
