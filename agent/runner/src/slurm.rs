//! The verbs on a Slurm cluster: a folder for each run, and for what of it is on one node a job of Slurm.
//!
//! Slurm pins, starts and ends what it is told to. What has begun and how it ended is in the run's folder, which the nodes
//! share with the agent: Slurm forgets jobs, an `sbatch` without an answer may have made one, and of two jobs for one part
//! only that one starts it which makes the claim.

mod ask;
mod held;

pub mod nodes;
mod queue;

pub mod adopt;
mod batch;
mod part;
mod portion;
mod view;

mod runs;
mod turnover;

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use agent::act::Instead;
use agent::act::Stop;
use agent::adopt::Told;
use agent::exit::shorten;
use agent::message::Want;
use agent::pods::Pods;
use agent::run::RunId;
use agent::script::Script;
use agent::seen::Listing;
use agent::seen::Phase;

use crate::clock;
use crate::folder::Order;
use crate::folder::Work;
use crate::log;
use crate::log::Chunk;
use crate::slurm::adopt::Adopt;
use crate::slurm::runs::Runs;
use crate::slurm::runs::record_instead;
use crate::store;
use crate::store::Store;
use crate::verbs::Runner;

/// How often we look while runs are there: neither nodes nor Slurm's controller tell us of anything.
const LOOK: Duration = Duration::from_secs(1);
/// How often Slurm may refuse a run until that is told.
const TRIES_MAX: u32 = 5;
/// What Slurm's commands say when nobody has judged what they ask for.
const UNHEARD: [&str; 4] = ["contact slurm controller", "imed out", "onnection refused", "Zero Bytes"];

/// How runs are kept on a Slurm cluster.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The state directory, which the nodes share with the agent.
    pub state: PathBuf,
    /// The nodes that are the agent's.
    pub nodes: Vec<String>,
    /// What `sbatch` is told besides.
    pub options: Vec<String>,
    /// Whose own jobs are adopted, if any are.
    pub adopt: Option<Adopt>,
}

/// The runner of a Slurm cluster.
pub struct Slurm {
    nodes: Vec<String>,
    runs: Runs,
    /// How often Slurm has refused a run.
    tries: BTreeMap<RunId, u32>,
    /// What was listed last.
    listed: Listed,
}

impl Slurm {
    /// Opens the state directory; refused while another agent has it, or while Slurm does not answer.
    pub fn open(settings: Settings) -> io::Result<Self> {
        let Settings { state, nodes, options, adopt } = settings;
        let runs = Runs::new(Store::open(&state)?, options, adopt)?;
        Ok(Self { nodes, runs, tries: BTreeMap::new(), listed: Listed::default() })
    }

    fn look(&mut self) -> io::Result<Listing> {
        // Slurm is asked before the files are read: what ends in between has said so in its files before it leaves the queue.
        self.runs.look_at_slurm();
        let mut listing = Listing { changes: true, ..Listing::default() };
        for run in self.runs.store.runs()? {
            let folder = self.runs.folder(run);
            self.runs.tend(&folder)?;
            listing.runs.insert(run, self.runs.seen(&folder)?);
        }
        listing.nodes = self.nodes.iter().map(|node| self.runs.view.report(node)).collect();
        // What Slurm said before it fell silent may not be so any more.
        if let Some(adoption) = self.runs.adoption.as_ref().filter(|_| !self.runs.view.is_silent) {
            listing.offered = adoption.offered(&self.runs.view.held)?;
        }
        Ok(listing)
    }
}

/// What the service hears of at once when it changes.
#[derive(Default, PartialEq, Eq)]
struct Listed {
    phases: BTreeMap<RunId, Phase>,
    /// People's own jobs, and whether they are gone.
    offered: Vec<(String, bool)>,
}

impl Listed {
    fn of(listing: &Listing) -> Self {
        Self {
            phases: listing.runs.iter().map(|(run, seen)| (*run, seen.phase.clone())).collect(),
            offered: listing.offered.iter().map(|offered| (offered.job.clone(), offered.is_gone)).collect(),
        }
    }
}

impl Runner for Slurm {
    fn list(&mut self) -> io::Result<Listing> {
        let listing = self.look()?;
        self.listed = Listed::of(&listing);
        Ok(listing)
    }

    fn prepare(&mut self, want: &Want, script: &Script) -> io::Result<()> {
        let work = Work { want: want.clone(), script: script.clone() };
        let folder = self.runs.folder(want.run);
        let is_adopted = work.script.adopted.is_some();
        folder.make(&self.runs.order(&want.job, Some(work)))?;
        folder.reserve()?;
        match &self.runs.adoption {
            Some(adoption) if is_adopted => adoption.make_room(want.run),
            Some(_) | None => part::make_room(&folder, part::STOP),
        }
    }

    fn start(&mut self, run: RunId) -> io::Result<()> {
        let folder = self.runs.folder(run);
        let Some(Order { work: Some(work), .. }) = folder.order()? else { return Ok(()) };
        let Err(error) = self.runs.submit_absent(&folder, &work) else { return Ok(()) };
        let reason = error.to_string();
        if error.kind() == io::ErrorKind::TimedOut || UNHEARD.iter().any(|words| reason.contains(words)) {
            return Err(error);
        }
        let tries = self.tries.entry(run).or_default();
        *tries += 1;
        if *tries < TRIES_MAX {
            return Err(error);
        }
        self.runs.end_all(&folder, &work, &Instead::Start(shorten(&reason)), 0)
    }

    fn stop(&mut self, run: RunId, stop: &Stop) -> io::Result<()> {
        let folder = self.runs.folder(run);
        if !folder.exists() {
            folder.make(&self.runs.order(&stop.job, None))?;
        }
        if folder.ended()?.is_some() {
            return Ok(());
        }
        match folder.order()? {
            Some(Order { work: Some(work), .. }) => {
                let within = stop.kill_at.saturating_sub(clock::now());
                self.runs.end_all(&folder, &work, &stop.instead, within)
            }
            Some(Order { work: None, .. }) | None => record_instead(&folder, &stop.instead),
        }
    }

    fn change(&mut self, run: RunId, pods: &Pods) -> io::Result<()> {
        let folder = self.runs.folder(run);
        if folder.exists() {
            folder.tell_pods(pods)?;
            self.runs.tend(&folder)?;
        }
        Ok(())
    }

    fn forget(&mut self, run: RunId) -> io::Result<()> {
        let folder = self.runs.folder(run);
        if !folder.exists() {
            return Ok(());
        }
        self.tries.remove(&run);
        self.runs.drop_memory(run);
        if let Some(adoption) = &self.runs.adoption {
            adoption.forget(run)?;
        }
        // A job that is still queued for it finds no folder, and ends.
        folder.remove()
    }

    fn log(&mut self, run: RunId, from: u64, bytes_max: usize) -> io::Result<Chunk> {
        log::read(&self.runs.folder(run).path, from, bytes_max)
    }

    fn told(&mut self, told: &[Told]) -> io::Result<()> {
        match &self.runs.adoption {
            Some(adoption) => adoption.told(&self.runs.view.held, told, &self.runs.busy()?),
            None => Ok(()),
        }
    }

    fn store(&self) -> &str {
        &self.runs.store.name
    }

    fn heard(&self) -> Option<u64> {
        store::heard(&self.runs.store.path)
    }

    fn keep_heard(&mut self, at: u64) -> io::Result<()> {
        if let Some(adoption) = &self.runs.adoption {
            store::keep_heard(adoption.folder(), at)?;
        }
        store::keep_heard(&self.runs.store.path, at)
    }

    fn wait(&mut self, longest: Duration) {
        let until = clock::now().saturating_add(u64::try_from(longest.as_millis()).unwrap_or(u64::MAX));
        loop {
            let left = Duration::from_millis(until.saturating_sub(clock::now()));
            let is_open = |phase: &Phase| !matches!(phase, Phase::Ended(_));
            let has_open = self.runs.adoption.is_some() || self.listed.phases.values().any(is_open);
            let is_rung = self.runs.store.wait(if has_open { left.min(LOOK) } else { left });
            // What cannot be looked at now is told at the next listing.
            let has_changed = has_open && self.look().is_ok_and(|listing| Listed::of(&listing) != self.listed);
            if is_rung || has_changed || clock::now() >= until {
                return;
            }
        }
    }
}
