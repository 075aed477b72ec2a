//! What the model of the service has in its books.
use std::collections::BTreeMap;

use agent::message::Pod;
use agent::run::RunId;

/// What is known of an agent.
#[derive(Clone, Default)]
pub(crate) struct Contact {
    pub(crate) incarnation: u64,
    pub(crate) store: Option<String>,
    pub(crate) heard: Option<u64>,
    /// It acts on an answer of this epoch, and what it then had is known.
    pub(crate) is_known: bool,
    /// Its runs that the log does not know, with their jobs. They have not ended.
    pub(crate) strangers: BTreeMap<RunId, String>,
}

/// The pods of a run on one agent's nodes.
#[derive(Clone, Default)]
pub(crate) struct Part {
    pub(crate) pods: Vec<Pod>,
    /// Pods that were told to leave: by which order, and when they are killed.
    pub(crate) leaving: Vec<(RunId, Pod, u64)>,
    pub(crate) has_ended: bool,
}

#[derive(Clone)]
pub(crate) struct Run {
    pub(crate) job: String,
    pub(crate) world: u32,
    /// How many pods it has had so far.
    pub(crate) n_pods: u32,
    pub(crate) parts: BTreeMap<usize, Part>,
    pub(crate) stop_after_ms: Option<u64>,
    pub(crate) granted: u64,
    pub(crate) is_confirmed: bool,
    pub(crate) kill_at: Option<u64>,
    /// All parts that have ended came to their own end.
    pub(crate) is_done: bool,
}

/// What comes back after a restore.
#[derive(Clone, Default)]
pub(crate) struct Facts {
    pub(crate) revision: u64,
    /// Jobs that wait: how many pods, and of how many GPUs.
    pub(crate) queue: BTreeMap<String, (u32, u16)>,
    pub(crate) attempts: BTreeMap<String, u32>,
    pub(crate) runs: BTreeMap<RunId, Run>,
    pub(crate) booked: BTreeMap<(&'static str, u16), RunId>,
}
