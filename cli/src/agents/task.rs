//! What `tidegate agent` and `tidegate slurm` are asked for.
#![expect(clippy::doc_markdown, reason = "the comments of arguments are the help text")]

use std::path::PathBuf;

use clap::Subcommand;

use crate::agents::join;
use crate::agents::join::Join;
use crate::agents::mirror;
use crate::agents::plugin;
use crate::agents::run;
use crate::agents::run::Adopted;
use crate::agents::run::Run;
use crate::agents::setup;
use crate::agents::setup::Setup;
use crate::shell::person::Person;

/// An agent's calls.
#[derive(Debug, Subcommand)]
pub enum AgentTask {
    /// Makes a key for this machine, as an administrator of the cluster, and keeps it in the state directory.
    ///
    /// Who has logged in to the cluster with `tidegate login` does so with that key; otherwise the token of an administrator's
    /// session, or ADMIN_KEY, is read from the variable TIDEGATE_TOKEN.
    Join {
        /// The address of the service: https://..., or http:// on this machine.
        service: String,
        /// The cluster.
        #[arg(long)]
        cluster: String,
        /// What the agent is called; no other agent of the cluster has this name.
        #[arg(long)]
        name: String,
        /// The resource groups on whose nodes it runs jobs.
        #[arg(long, required = true, value_delimiter = ',')]
        groups: Vec<String>,
        /// Stands for the nodes of a Slurm cluster, of which this machine is a client: they come into the cluster.
        #[arg(long)]
        slurm: bool,
        /// The partition of Slurm whose nodes they are; otherwise all.
        #[arg(long, requires = "slurm")]
        partition: Option<String>,
        /// The workspaces whose members' own jobs of Slurm it submits and cancels in their names.
        #[arg(long, requires = "slurm", value_delimiter = ',')]
        adopts: Vec<String>,
        /// Where the agent keeps its key and its runs [default: ~/.local/state/tidegate/agent].
        #[arg(long)]
        state: Option<PathBuf>,
    },
    /// Does what the cluster wants until it is ended; jobs go on without it, and it finds them again.
    Run {
        /// Where the agent keeps its key and its runs [default: ~/.local/state/tidegate/agent].
        #[arg(long)]
        state: Option<PathBuf>,
        /// A node that this machine is, with its GPUs; otherwise it is asked for its name and its driver.
        #[arg(long = "node", value_name = "NAME=GPUS")]
        nodes: Vec<String>,
        /// Runs jobs as jobs of Slurm, on the nodes with which it has joined; they have to share the state directory.
        #[arg(long, conflicts_with = "nodes")]
        slurm: bool,
        /// What sbatch is told besides, such as --sbatch=--account=ml; may be said several times.
        #[arg(long, requires = "slurm", allow_hyphen_values = true)]
        sbatch: Vec<String>,
        /// The workspace and the quota of an account of Slurm, such as --adopt=ml=research/gpus; may be said several times.
        #[arg(long, requires = "adopt_folder", value_name = "ACCOUNT=WORKSPACE/QUOTA")]
        adopt: Vec<String>,
        /// The folder that `tidegate slurm setup --adopt-folder` was told.
        #[arg(long, requires = "slurm")]
        adopt_folder: Option<PathBuf>,
        /// Runs jobs as root, if the agent is root.
        #[arg(long)]
        allow_root: bool,
        /// Ends when its standard input does: for a program that starts it as a part of itself.
        #[arg(long)]
        attached: bool,
        /// Stops its jobs before it ends, which write their checkpoints; otherwise they go on.
        #[arg(long, requires = "attached")]
        stop_jobs: bool,
    },
}

/// Those of an administrator of Slurm.
#[derive(Debug, Subcommand)]
pub enum SlurmTask {
    /// Prints the lines of slurm.conf by which Tidegate has nodes to itself, and how to take them back; changes nothing.
    Setup {
        /// What the partition is called.
        #[arg(long, default_value = "tidegate")]
        partition: String,
        /// Its nodes, such as n1,n2; otherwise all.
        #[arg(long, value_delimiter = ',')]
        nodes: Vec<String>,
        /// The group of the machines' accounts that submits there: the agent's.
        #[arg(long, default_value = "tidegate")]
        group: String,
        /// Prints job_submit.lua instead, by which people's own jobs of the partition wait for Tidegate: a folder that all
        /// nodes and the agent share.
        #[arg(long)]
        adopt_folder: Option<String>,
    },
    /// Puts Slurm's nodes into the cluster again, as an administrator: new ones, and what has changed of others.
    ///
    /// Start the agent again then. The token is read from TIDEGATE_TOKEN, as tidegate agent join does.
    Mirror {
        /// The resource groups that the agent serves; new nodes come into the first one.
        #[arg(long, required = true, value_delimiter = ',')]
        groups: Vec<String>,
        /// The partition of Slurm whose nodes they are; otherwise all.
        #[arg(long)]
        partition: Option<String>,
        /// Where the agent keeps its key and its runs [default: ~/.local/state/tidegate/agent].
        #[arg(long)]
        state: Option<PathBuf>,
    },
}

/// An administrator's token: the one that is set, or that of who has logged in to the cluster here.
fn token(place: Option<(&str, &str)>) -> Result<String, String> {
    if let Ok(token) = std::env::var(join::TOKEN) {
        return Ok(token);
    }
    let logged_in = place.map(|(service, cluster)| Person::at(service, cluster)).transpose();
    match logged_in.map_err(|failure| failure.text)?.flatten() {
        Some(mut person) => person.token().map_err(|failure| failure.text),
        None => Err(format!(
            "nobody has logged in to this cluster here: write `tidegate login ADDRESS` first, or set {} to the token of an \
             administrator's session, or to ADMIN_KEY",
            join::TOKEN
        )),
    }
}

/// Makes an agent, or is one; it is called by these words, such as `tidegate agent`.
pub fn agent(task: AgentTask, called: &str) -> Result<String, String> {
    let place = |state: Option<PathBuf>| state.map_or_else(run::default_state, Ok);
    match task {
        AgentTask::Join { service, cluster, name, groups, slurm, partition, adopts, state } => {
            let slurm = slurm.then_some(partition.as_deref());
            let token = token(Some((&service, &cluster)))?;
            let (service, cluster, name) = (&*service, &*cluster, &*name);
            let asked = Join { service, cluster, name, groups: &groups, adopts: &adopts, slurm, called };
            join::join(asked, &token, &place(state)?)
        }
        AgentTask::Run { state, nodes, slurm, sbatch, adopt, adopt_folder, allow_root, attached, stop_jobs } => {
            let state = place(state)?;
            run::run(Run {
                state: &state,
                nodes: &nodes,
                slurm: slurm.then_some(&sbatch),
                adopt: Adopted { folder: adopt_folder.as_deref(), accounts: &adopt },
                is_root_allowed: allow_root,
                is_attached: attached,
                stops_jobs: stop_jobs,
            })
        }
    }
}

/// Prepares a Slurm cluster; what to say of that.
pub fn slurm(task: SlurmTask) -> Result<String, String> {
    match task {
        SlurmTask::Setup { partition, nodes, group, adopt_folder } => {
            let asked = Setup { partition: &partition, nodes: &nodes, group: &group };
            match adopt_folder {
                Some(folder) => plugin::plugin(asked, &folder),
                None => setup::setup(asked),
            }
        }
        SlurmTask::Mirror { groups, partition, state } => {
            let state = state.map_or_else(run::default_state, Ok)?;
            mirror::again(&state, &token(None)?, partition.as_deref(), &groups)
        }
    }
}
