//! What a runner lists: the truth about what is there, read from its own store and from the processes.

use std::collections::BTreeMap;

use crate::adopt::Offered;
use crate::exit::Exit;
use crate::message::NodeReport;
use crate::message::Pod;
use crate::message::RunReport;
use crate::message::RunState;
use crate::pods::Place;
use crate::pods::Pods;
use crate::run::RunId;

/// All that a runner lists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// Its nodes as they are now.
    pub nodes: Vec<NodeReport>,
    /// The runs that it knows, and those that have processes nobody knows.
    pub runs: BTreeMap<RunId, Seen>,
    /// Jobs that people have submitted to the machines' own scheduler.
    pub offered: Vec<Offered>,
    /// Whether the runner lets pods join and leave runs that go on.
    pub changes: bool,
}

/// A run as it is listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Whose run it is.
    pub job: String,
    /// What it holds or will hold, pods included that should have left.
    pub pods: Vec<Pod>,
    /// What it was told last of the pods that it should have; nothing if these are still those with which it began.
    pub told_pods: Option<Pods>,
    /// The orders to some of its pods to leave of which nothing is left.
    pub gone: Vec<RunId>,
    /// How long it may go on when the service is silent.
    pub stop_after_ms: Option<u64>,
    /// Since when it has been in this phase, by the machine's clock.
    pub since: u64,
    /// How much it has printed.
    pub log_bytes: u64,
    /// When it reported its last checkpoint.
    pub checkpoint: Option<u64>,
    /// How far it is.
    pub phase: Phase,
    /// Whether it was told to stop before it ended: a program that ends well then may not have done its work.
    pub told: bool,
}

/// How far a run is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Nobody has claimed it.
    Prepared,
    /// It is claimed, and watched over.
    Running {
        /// When what is left of it is killed, if it has been told to stop.
        kill_at: Option<u64>,
    },
    /// It was claimed, or has processes, and nobody watches over it.
    Orphaned,
    /// It has no process, and never will have one.
    Ended(Exit),
}

impl Phase {
    /// Whether it has, or may have, processes.
    #[must_use]
    pub fn is_live(&self) -> bool {
        match self {
            Self::Running { .. } | Self::Orphaned => true,
            Self::Prepared | Self::Ended(_) => false,
        }
    }
}

impl Seen {
    /// Whether nothing has to be said of it but that it lives: it runs on the one pod with which it began, and has neither been
    /// told anything nor written a checkpoint.
    #[must_use]
    pub fn only_goes_on(&self) -> bool {
        let has_no_news = self.checkpoint.is_none() && self.told_pods.is_none() && self.gone.is_empty();
        self.phase == Phase::Running { kill_at: None } && !self.told && self.pods.len() == 1 && has_no_news
    }

    /// What the service is told of it.
    #[must_use]
    pub fn report(&self, run: RunId, now: u64) -> RunReport {
        let state = match &self.phase {
            Phase::Prepared => RunState::Prepared,
            Phase::Running { kill_at: None } => RunState::Running,
            Phase::Running { kill_at: Some(_) } | Phase::Orphaned => RunState::Stopping,
            Phase::Ended(exit) => RunState::Ended(exit.clone()),
        };
        RunReport {
            run,
            job: self.job.clone(),
            state,
            told: self.told,
            since_ms: now.saturating_sub(self.since),
            log_bytes: self.log_bytes,
            checkpoint_ms: self.checkpoint.map(|at| now.saturating_sub(at)),
            pods: self.told_pods.as_ref().map_or(self.pods.len(), |told| told.pods.len()),
            places: self.told_pods.iter().flat_map(|_| self.pods.iter().map(Place::of)).collect(),
            gone: self.gone.clone(),
        }
    }
}
