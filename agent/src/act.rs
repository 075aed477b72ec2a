//! What an agent does next.

use crate::pods::Pods;
use crate::run::RunId;

/// One thing to do, by one verb of the runner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// Makes a wanted run known, with its script.
    Prepare(RunId),
    /// Starts it, unless somebody claims it first.
    Start(RunId),
    /// Stops it, or leaves a tombstone where nothing was claimed.
    Stop(RunId, Stop),
    /// Tells it which pods it should have now.
    Change(RunId, Pods),
    /// Drops what is kept of an ended run.
    Forget(RunId),
}

/// How a run is stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stop {
    /// Whose run it is.
    pub job: String,
    /// When what is left of it is killed.
    pub kill_at: u64,
    /// What a tombstone says, if nothing was claimed.
    pub instead: Instead,
}

/// Why a run that was never claimed does not start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Instead {
    /// It was told to stop.
    Unstarted,
    /// This machine cannot begin it.
    Start(String),
    /// It is from before a restore and is not here: it may have run here, and have been forgotten.
    Lost,
}
