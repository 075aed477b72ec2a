//! What every runner can do.

use std::io;
use std::time::Duration;

use agent::act::Stop;
use agent::adopt::Told;
use agent::message::Want;
use agent::pods::Pods;
use agent::run::RunId;
use agent::script::Script;
use agent::seen::Listing;

use crate::log::Chunk;

/// A runner. None of the verbs waits for a run to begin or to end, and each may be repeated at any time.
pub trait Runner {
    /// What is there, from the runner's own store and its processes.
    fn list(&mut self) -> io::Result<Listing>;
    /// Makes a run known. Nothing is started.
    fn prepare(&mut self, want: &Want, script: &Script) -> io::Result<()>;
    /// Starts a prepared run, unless somebody has claimed it.
    fn start(&mut self, run: RunId) -> io::Result<()>;
    /// Tells a run to end; leaves a tombstone where nobody has claimed it; clears away what nobody watches over.
    fn stop(&mut self, run: RunId, stop: &Stop) -> io::Result<()>;
    /// Tells a run which pods it should have now; only runners whose listings say that they can are told.
    fn change(&mut self, _run: RunId, _pods: &Pods) -> io::Result<()> {
        Err(io::Error::other("this runner's runs keep the pods with which they begin"))
    }
    /// Drops what is kept of an ended run.
    fn forget(&mut self, run: RunId) -> io::Result<()>;
    /// Reads what a run has printed, from an offset on.
    fn log(&mut self, run: RunId, from: u64, bytes_max: usize) -> io::Result<Chunk>;

    /// Hears how far the jobs are that it has offered; most runners offer none.
    fn told(&mut self, _told: &[Told]) -> io::Result<()> {
        Ok(())
    }
    /// The name of the runner's store.
    fn store(&self) -> &str;
    /// When the service was last heard, as far as this was kept.
    fn heard(&self) -> Option<u64>;
    /// Keeps when the service was last heard: runs may have to end without the agent.
    fn keep_heard(&mut self, at: u64) -> io::Result<()>;
    /// Waits until something may have changed, or for this long.
    fn wait(&mut self, longest: Duration);
}
