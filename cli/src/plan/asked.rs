//! What `tidegate plan` is asked for.
#![expect(clippy::doc_markdown, reason = "the comments of arguments are the help text")]

use std::path::PathBuf;

use clap::Args;

/// What `tidegate plan` is asked for.
#[derive(Debug, Args)]
pub struct Plan {
    /// The job table (.csv), as for a replay.
    #[arg(required_unless_present = "cluster", conflicts_with = "cluster", requires = "quotas")]
    pub trace: Option<PathBuf>,
    /// A cluster as it is now, by the name of its context.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["quotas", "nodes", "gpus_per_node", "offers", "preemption"])]
    pub cluster: Option<String>,
    /// Changes to try, each file on its own: lines of a scenario that do something, such as update, scale or submit.
    ///
    /// They are made when the plan begins; after a line `advance 2h` two hours later. `update` states all settings of a
    /// quota: what it does not say is off, and its grace period is zero.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub change: Vec<PathBuf>,
    /// How far it looks: 12h, 7d, or end, until nothing happens any more [default: 1d for a cluster, end for a trace].
    #[arg(long = "for", value_name = "PERIOD")]
    pub length: Option<String>,
    /// The quotas (.csv): group, parent, gpus.
    #[arg(long)]
    pub quotas: Option<PathBuf>,
    /// The nodes (.csv): sn and gpu, or node_name and gpu_capacity_num. Without it the machines are one pool.
    #[arg(long)]
    pub nodes: Option<PathBuf>,
    /// Makes as many nodes with this many GPUs as the root quotas need.
    #[arg(long, conflicts_with = "nodes", value_parser = clap::value_parser!(i64).range(1..=16))]
    pub gpus_per_node: Option<i64>,
    /// The spot market (.csv), as for a replay.
    #[arg(long)]
    pub offers: Option<PathBuf>,
    /// Begins with preemption on, as a replay does.
    #[arg(long)]
    pub preemption: bool,
    /// Runs everything once, and does not look how far figures go by chance.
    #[arg(long)]
    pub once: bool,
    /// Prints one JSON object instead of text.
    #[arg(long)]
    pub json: bool,
}
