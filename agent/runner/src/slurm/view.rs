//! What Slurm says, as it was last heard. While its controller is away that stays: nothing follows from silence.

use std::collections::BTreeMap;
use std::io;

use agent::message::NodeReport;
use agent::message::NodeStatus;
use agent::run::RunId;

use crate::clock;
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
    nodes: BTreeMap<String, SlurmNode>,
    nodes_at: u64,
    is_silent: bool,
}

impl View {
    /// The first look, without which nothing can be said.
    pub(super) fn first(store: &str) -> io::Result<Self> {
        let at = clock::now();
        Ok(Self { at, jobs: queue::jobs(store)?, nodes: nodes::nodes(None)?, nodes_at: at, is_silent: false })
    }

    /// Looks again, if that was some time ago.
    pub(super) fn refresh(&mut self, store: &str) {
        let now = clock::now();
        if now.saturating_sub(self.at) < JOBS_AGE_MS {
            return;
        }
        let asked = queue::jobs(store).and_then(|jobs| {
            (self.jobs, self.at) = (jobs, now);
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
    pub(super) fn of_part(&self, run: RunId, node: &str) -> Vec<&SlurmJob> {
        self.jobs.iter().filter(|job| job.run == run && job.node == node).collect()
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
