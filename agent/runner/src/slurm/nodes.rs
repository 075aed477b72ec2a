//! The nodes of a Slurm cluster, as Slurm has them now.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::io;

use agent::exit::shorten;

use crate::slurm::ask::ask;

/// Name, generic resources, CPUs, memory in MiB, state, reason: the reason last, since it may have any letters.
const FORMAT: &str = "%N|%G|%c|%m|%T|%E";
/// In these states a node takes jobs, or will when those there have gone.
const FIT: [&str; 6] = ["allocated", "completing", "idle", "mixed", "planned", "powered_down"];

/// A node of Slurm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlurmNode {
    /// How many GPUs it has.
    pub gpus: u16,
    /// Of which type, if Slurm has been told.
    pub gpu_type: Option<String>,
    /// How many CPUs.
    pub cpus: u64,
    /// How much memory, in MiB.
    pub memory_mib: u64,
    /// Why nothing can begin there; none if something can.
    pub unfit: Option<String>,
    /// Whether Slurm hears of it. What it says of a node that it does not hear is from long ago.
    pub is_heard: bool,
}

/// The nodes of a partition, or of all, by their names.
pub fn nodes(partition: Option<&str>) -> io::Result<BTreeMap<String, SlurmNode>> {
    let mut arguments = vec!["--Node", "--noheader", "--format", FORMAT];
    match partition {
        Some(partition) => arguments.extend(["--partition", partition]),
        None => arguments.push("--all"),
    }
    let said = ask("sinfo", arguments)?;
    said.lines()
        .map(|line| node(line).ok_or_else(|| io::Error::other(format!("sinfo: \"{line}\" cannot be read"))))
        .collect()
}

/// The nodes of each partition.
pub fn partitions() -> io::Result<BTreeMap<String, BTreeSet<String>>> {
    let said = ask("sinfo", ["--all", "--Node", "--noheader", "--format", "%R|%N"])?;
    let mut partitions: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (partition, node) in said.lines().filter_map(|line| line.trim().split_once('|')) {
        partitions.entry(partition.to_owned()).or_default().insert(node.to_owned());
    }
    Ok(partitions)
}

fn node(line: &str) -> Option<(String, SlurmNode)> {
    let mut fields = line.splitn(6, '|');
    let (name, gres, cpus, memory) = (fields.next()?, fields.next()?, fields.next()?, fields.next()?);
    let (state, reason) = (fields.next()?, fields.next()?);
    // Letters behind a state tell more of it: a node that does not answer has an asterisk.
    let plain = state.trim_end_matches(|letter: char| !letter.is_ascii_alphanumeric());
    let is_heard = !state.contains('*') && !matches!(plain, "down" | "unknown" | "inval");
    let is_fit = is_heard && FIT.contains(&plain);
    let because = if reason.is_empty() || reason == "none" { String::new() } else { format!(": {reason}") };
    let unfit = (!is_fit).then(|| shorten(&format!("{state} in Slurm{because}")));
    let number = |text: &str| text.trim_end_matches('+').parse::<u64>().ok();
    let (gpus, gpu_type) = (gpus(gres)?, gpu_type(gres));
    let node = SlurmNode { gpus, gpu_type, cpus: number(cpus)?, memory_mib: number(memory)?, unfit, is_heard };
    Some((name.to_owned(), node))
}

/// The GPUs in a list such as `gpu:a100:4(S:0-1),gpu:a100:4,nic:1`.
fn gpus(gres: &str) -> Option<u16> {
    let mut sum = 0_u16;
    let mut is_within = false;
    // Brackets may have commas of their own.
    let parts = gres.split(|letter: char| {
        is_within = (is_within || letter == '(') && letter != ')';
        letter == ',' && !is_within
    });
    for part in parts.filter(|part| part.starts_with("gpu:")) {
        let plain = part.split('(').next()?;
        sum = sum.checked_add(plain.rsplit(':').next()?.parse().ok()?)?;
    }
    Some(sum)
}

/// The type in such a list, if the first GPUs there have one.
fn gpu_type(gres: &str) -> Option<String> {
    let (name, _) = gres.split(',').find_map(|part| part.strip_prefix("gpu:"))?.split_once(':')?;
    Some(name.to_owned()).filter(|name| !name.contains('('))
}

#[cfg(test)]
mod tests {
    use super::gpu_type;
    use super::gpus;
    use super::node;

    #[test]
    fn gpus_are_counted_over_all_types() {
        for (gres, count) in [
            ("(null)", 0),
            ("gpu:8", 8),
            ("gpu:a100:4(S:0-1)", 4),
            ("gpu:a:2(S:0,3),gpu:b:1,nic:2", 3),
            ("lustre:1", 0),
        ] {
            assert_eq!(gpus(gres), Some(count), "{gres}");
        }
        assert_eq!(gpus("gpu:many"), None);
        for (gres, name) in [("gpu:8", None), ("gpu:8(S:0-1)", None), ("nic:1,gpu:h100:8(S:0-1)", Some("h100"))] {
            assert_eq!(gpu_type(gres).as_deref(), name, "{gres}");
        }
    }

    #[test]
    fn what_slurm_has_drained_is_unfit_with_its_reason() {
        let unfit = |state: &str, reason: &str| {
            node(&format!("n1|gpu:4|8|1000|{state}|{reason}")).expect("it is a node").1.unfit
        };
        for fit in ["idle", "mixed", "allocated+", "completing", "idle~", "planned-"] {
            assert_eq!(unfit(fit, "none"), None, "{fit}");
        }
        assert_eq!(unfit("drained", "fan|broken").as_deref(), Some("drained in Slurm: fan|broken"));
        assert_eq!(unfit("draining", "none").as_deref(), Some("draining in Slurm"));
        assert_eq!(unfit("idle*", "none").as_deref(), Some("idle* in Slurm"));
        assert!(unfit("down*", "Not responding").is_some());
        assert_eq!(node("n1|gpu:4|8"), None);
    }
}
