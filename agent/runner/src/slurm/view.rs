//! What Slurm says, as it was last heard. While its controller is away that stays: nothing follows from silence.

use std::collections::BTreeMap;
use std::io;

use agent::message::NodeReport;
use agent::message::NodeStatus;
use agent::run::RunId;

use crate::clock;
use crate::slurm::held;
use crate::slurm::held::HeldJob;
use crate::slurm::nodes;
use crate::slurm::nodes::SlurmNode;
use crate::slurm::queue;
use crate::slurm::queue::SlurmJob;

/// How old what is known of the queue may be.
const JOBS_AGE_MS: u64 = 200;
/// How old what is known of the nodes may be.
const NODES_AGE_MS: u64 = 10_000;

pub(super) struct View {
    /// When Slurm was last asked for its jobs, of the times that it answered.
    pub(super) at: u64,
    jobs: Vec<SlurmJob>,
    /// The partition whose jobs are adopted.
    partition: Option<String>,
    /// People's own jobs.
    pub(super) held: Vec<HeldJob>,
    nodes: BTreeMap<String, SlurmNode>,
    nodes_at: u64,
    pub(super) is_silent: bool,
}

impl View {
    /// The first look, without which nothing can be said.
    pub(super) fn first(store: &str, partition: Option<String>) -> io::Result<Self> {
        let at = clock::now();
        let (jobs, held) = jobs(store, partition.as_deref())?;
        Ok(Self { at, jobs, partition, held, nodes: nodes::nodes(None)?, nodes_at: at, is_silent: false })
    }

    /// Looks again, if that was some time ago.
    pub(super) fn refresh(&mut self, store: &str) {
        let now = clock::now();
        if now.saturating_sub(self.at) < JOBS_AGE_MS {
            return;
        }
        let asked = jobs(store, self.partition.as_deref()).and_then(|(jobs, held)| {
            (self.jobs, self.held, self.at) = (jobs, held, now);
            if now.saturating_sub(self.nodes_at) >= NODES_AGE_MS {
                (self.nodes, self.nodes_at) = (nodes::nodes(None)?, now);
            }
            Ok(())
        });
        match &asked {
            Ok(()) if self.is_silent => eprintln!("Slurm answers again"),
            Err(error) if !self.is_silent => eprintln!("{error}; what runs goes on"),
            Ok(()) | Err(_) => {}
        }
        self.is_silent = asked.is_err();
    }

    /// Slurm's jobs for a part, the newest first: of two that were submitted for one, the first one ran.
    pub(super) fn of_part(&self, run: RunId, name: &str) -> Vec<&SlurmJob> {
        self.jobs.iter().filter(|job| job.run == run && job.part == name).collect()
    }

    /// Slurm's jobs for a run.
    pub(super) fn of_run(&self, run: RunId) -> Vec<SlurmJob> {
        self.jobs.iter().filter(|job| job.run == run).cloned().collect()
    }

    /// Whether Slurm hears of a node.
    pub(super) fn hears(&self, node: &str) -> bool {
        self.nodes.get(node).is_some_and(|node| node.is_heard)
    }

    /// What is told of a node.
    pub(super) fn report(&self, node: &str) -> NodeReport {
        let known = self.nodes.get(node);
        let reason = known.map_or_else(|| Some("Slurm has no such node".to_owned()), |node| node.unfit.clone());
        let status = if reason.is_some() { NodeStatus::Unfit } else { NodeStatus::Ready };
        NodeReport { node: node.to_owned(), gpus: known.map_or(0, |node| node.gpus), status, reason }
    }
}

/// The jobs that are for runs, and people's own.
fn jobs(store: &str, partition: Option<&str>) -> io::Result<(Vec<SlurmJob>, Vec<HeldJob>)> {
    let mut jobs = queue::jobs(store)?;
    let held = partition.map_or_else(|| Ok(Vec::new()), held::jobs)?;
    // One that is held has no run, whichever it had last.
    let with_run = held.iter().filter(|held| !(held.is_pending() && held.is_held));
    jobs.extend(with_run.filter_map(|held| {
        let (run, node) = held.run.clone()?;
        let HeldJob { id, state, reason, .. } = held.clone();
        Some(SlurmJob { id, state, reason, run, part: node, is_adopted: true })
    }));
    Ok((jobs, held))
}
