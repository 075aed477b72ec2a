//! The verbs on this machine: a folder and a supervising process for each run.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::path::PathBuf;
use std::process::Child;
use std::process::Command;
use std::process::Stdio;
use std::time::Duration;

use agent::act::Instead;
use agent::act::Stop;
use agent::exit::Exit;
use agent::message::NodeReport;
use agent::message::NodeStatus;
use agent::message::Want;
use agent::pods::Pods;
use agent::run::RunId;
use agent::script::Script;
use agent::seen::Listing;
use agent::seen::Phase;
use agent::seen::Seen;

use crate::cgroup::Cgroup;
use crate::clock;
use crate::folder::Claim;
use crate::folder::Folder;
use crate::folder::Order;
use crate::folder::Record;
use crate::folder::Work;
use crate::gpus::Gpus;
use crate::log;
use crate::log::Chunk;
use crate::processes;
use crate::processes::Mark;
use crate::store;
use crate::store::Store;
use crate::stored;
use crate::supervise;
use crate::verbs::Runner;

/// How often what nobody watches over is killed in one go; the agent comes back to it.
const KILLS_AT_ONCE: u32 = 20;
/// How many supervisors may end without a claim before the machine is said to be unable to begin the run.
const TRIES_MAX: u32 = 20;

/// What stands for a job whose name cannot be told any more.
const UNKNOWN: &str = "unknown";

/// How runs are kept on this machine.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The state directory.
    pub state: PathBuf,
    /// The nodes that this machine is, with their GPUs. Several are for trying things out.
    pub nodes: Vec<(String, u16)>,
    /// The program that supervises: `/proc/self/exe` where the agent is that program itself.
    pub program: PathBuf,
    /// How many bytes each of the three parts of a log may have.
    pub part_bytes: u64,
    /// Whether control groups are used where they can be.
    pub cgroups: bool,
}

/// The runner of this machine.
pub struct Local {
    settings: Settings,
    store: Store,
    gpus: Gpus,
    /// Supervisors that this agent has started: so that they are waited for, and no second one is started meanwhile.
    supervisors: BTreeMap<RunId, Child>,
    /// How many supervisors have ended without a claim.
    tries: BTreeMap<RunId, u32>,
    /// Runs whose folder is gone and that have processes all the same.
    unknown: Vec<RunId>,
}

impl Local {
    /// Opens the state directory; refused while another agent has it.
    pub fn open(settings: Settings) -> io::Result<Self> {
        let store = Store::open(&settings.state)?;
        let gpus = Gpus::of(&store.path);
        let living = processes::runs_of(&store.name);
        let unknown = living.iter().filter_map(|run| RunId::parse(run));
        let unknown = unknown.filter(|run| !Folder::of(&store.path, *run).exists()).collect();
        Ok(Self { settings, store, gpus, supervisors: BTreeMap::new(), tries: BTreeMap::new(), unknown })
    }

    fn folder(&self, run: RunId) -> Folder {
        Folder::of(&self.store.path, run)
    }

    fn order(&self, job: &str, work: Option<Work>) -> Order {
        let Settings { part_bytes, cgroups, .. } = &self.settings;
        Order { job: job.to_owned(), work, store: self.store.name.clone(), part_bytes: *part_bytes, cgroups: *cgroups }
    }

    /// Why a run cannot begin, if a GPU is gone that it was given.
    fn missing_gpu(&self, run: RunId) -> io::Result<Option<String>> {
        let work = self.folder(run).order()?.and_then(|order| order.work);
        let pods = work.map(|work| work.want.pods).unwrap_or_default();
        let has = |node: &str| self.settings.nodes.iter().find(|(name, _)| name == node).map_or(0, |(_, gpus)| *gpus);
        let missing = pods.iter().find_map(|pod| Some((pod, pod.gpus.iter().find(|gpu| **gpu >= has(&pod.node))?)));
        Ok(missing.map(|(pod, gpu)| {
            format!("{} has {} GPUs, and the run was given the one with number {gpu}", pod.node, has(&pod.node))
        }))
    }

    fn reap(&mut self) {
        let Self { supervisors, tries, store, .. } = self;
        supervisors.retain(|run, child| {
            let has_ended = !matches!(child.try_wait(), Ok(None));
            if has_ended && !Folder::of(&store.path, *run).is_claimed() {
                *tries.entry(*run).or_default() += 1;
            }
            !has_ended
        });
    }

    fn seen(&self, run: RunId) -> io::Result<Seen> {
        let folder = self.folder(run);
        let order = folder.order()?;
        let claim = folder.claimed();
        let mut told = false;
        let mut over = |record: Record| {
            told = record.told;
            (Phase::Ended(record.exit), record.at)
        };
        let (phase, since) = match folder.ended()? {
            Some(record) => over(record),
            None if !folder.is_claimed() => (Phase::Prepared, clock::now()),
            // Only a supervisor holds the lock for long: if we get it, there is none.
            None => match folder.lock()? {
                None => {
                    (Phase::Running { kill_at: folder.kill_at()? }, claim.map_or_else(clock::now, |claim| claim.at))
                }
                Some(lock) => {
                    // It may have recorded the end and gone between the two looks.
                    let ended = folder.ended()?;
                    drop(lock);
                    ended.map_or((Phase::Orphaned, clock::now()), over)
                }
            },
        };
        let job = order.as_ref().map_or_else(|| UNKNOWN.to_owned(), |order| order.job.clone());
        let want = order.and_then(|order| order.work).map(|work| work.want);
        let told_pods = folder.told_pods()?;
        // Most runs are never told.
        let held = if told_pods.is_some() { folder.held()? } else { None };
        let stop_after_ms = want.as_ref().and_then(|want| want.stop_after_ms);
        let first = want.map(|want| want.pods).unwrap_or_default();
        let pods = match &told_pods {
            // Until its supervisor has looked, it has what it began with.
            Some(told) => told.with(held.as_ref().map_or(&first, |held| &held.pods)),
            None => first,
        };
        Ok(Seen {
            job,
            stop_after_ms,
            pods,
            told_pods,
            gone: held.map(|held| held.gone).unwrap_or_default(),
            since,
            log_bytes: log::bytes(&folder.path)?,
            checkpoint: folder.checkpoint(),
            phase,
            told,
        })
    }

    /// A claim that stands for "never".
    fn bury(&self, folder: &Folder, instead: &Instead) -> io::Result<()> {
        if !folder.claim(&Claim { at: clock::now(), cgroup: None })? {
            return Ok(());
        }
        let exit = match instead {
            Instead::Unstarted => Exit::Unstarted,
            Instead::Start(reason) => Exit::Start(reason.clone()),
            Instead::Lost => Exit::Lost("it is not here, and may have ended before the restore".to_owned()),
        };
        folder.record(exit, false)?;
        // A supervisor that was killed before it could claim may have left them.
        if let Some(_lock) = folder.lock()? {
            self.gpus.release(folder.run)?;
        }
        Ok(())
    }

    /// Ends what nobody watches over, and records that.
    fn clear(&mut self, folder: &Folder) -> io::Result<()> {
        let cgroup = folder.claimed().and_then(|claim| claim.cgroup).map(|path| Cgroup::at(&path));
        let mark = Mark { run: folder.run.to_string(), store: &self.store.name, cgroup, ancestor: None, pod: None };
        if !mark.kill(KILLS_AT_ONCE, || {}) {
            return Ok(());
        }
        self.unknown.retain(|run| *run != folder.run);
        self.gpus.release(folder.run)?;
        if folder.exists() {
            folder.record(Exit::Lost("its supervisor ended before it did".to_owned()), false)?;
        }
        Ok(())
    }
}

/// Has the agent with this state directory look at once, as one of its supervisors would.
pub fn wake(state: &Path) {
    store::ring(&state.join("changed"));
}

/// Reads what a run of this state directory has printed, from an offset on.
pub fn printed(state: &Path, run: RunId, from: u64, bytes_max: usize) -> io::Result<Chunk> {
    log::read(&Folder::of(state, run).path, from, bytes_max)
}

impl Runner for Local {
    fn list(&mut self) -> io::Result<Listing> {
        self.reap();
        let status = NodeStatus::Ready;
        let node = |(node, gpus): &(String, u16)| NodeReport { node: node.clone(), gpus: *gpus, status, reason: None };
        let mut listing =
            Listing { nodes: self.settings.nodes.iter().map(node).collect(), changes: true, ..Listing::default() };
        for run in self.store.runs()? {
            listing.runs.insert(run, self.seen(run)?);
        }
        for run in &self.unknown {
            let seen = Seen {
                job: UNKNOWN.to_owned(),
                pods: Vec::new(),
                told_pods: None,
                gone: Vec::new(),
                stop_after_ms: None,
                since: clock::now(),
                log_bytes: 0,
                checkpoint: None,
                phase: Phase::Orphaned,
                told: false,
            };
            listing.runs.insert(*run, seen);
        }
        Ok(listing)
    }

    fn prepare(&mut self, want: &Want, script: &Script) -> io::Result<()> {
        let work = Work { want: want.clone(), script: script.clone() };
        self.folder(want.run).make(&self.order(&want.job, Some(work)))
    }

    fn start(&mut self, run: RunId) -> io::Result<()> {
        self.reap();
        let tries = self.tries.get(&run).copied().unwrap_or_default();
        if tries >= TRIES_MAX {
            let reason = format!("{tries} supervisors ended before they could begin: is the disk full, a GPU held?");
            return self.bury(&self.folder(run), &Instead::Start(reason));
        }
        if self.supervisors.contains_key(&run) {
            return Ok(());
        }
        if let Some(reason) = self.missing_gpu(run)? {
            return self.bury(&self.folder(run), &Instead::Start(reason));
        }
        let run_name = OsString::from(run.to_string());
        let mut command = Command::new(&self.settings.program);
        command.arg(supervise::SUBCOMMAND).arg(&self.store.path).arg(run_name);
        // Whatever ends the agent, a key in a terminal included, does not end it.
        command.process_group(0).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        self.supervisors.insert(run, command.spawn()?);
        Ok(())
    }

    fn stop(&mut self, run: RunId, stop: &Stop) -> io::Result<()> {
        let folder = self.folder(run);
        if self.unknown.contains(&run) {
            return self.clear(&folder);
        }
        if !folder.exists() {
            folder.make(&self.order(&stop.job, None))?;
        }
        if !folder.is_claimed() {
            self.bury(&folder, &stop.instead)?;
        }
        if folder.ended()?.is_some() {
            return Ok(());
        }
        match folder.lock()? {
            None => {
                let earlier = folder.kill_at()?.unwrap_or(u64::MAX);
                stored::replace(&folder.file("stop"), &stop.kill_at.min(earlier).to_string())?;
                store::ring(&folder.file("wake"));
                Ok(())
            }
            Some(_lock) if folder.ended()?.is_some() => Ok(()),
            Some(_lock) => self.clear(&folder),
        }
    }

    fn change(&mut self, run: RunId, pods: &Pods) -> io::Result<()> {
        let folder = self.folder(run);
        if folder.exists() {
            folder.tell_pods(pods)?;
            store::ring(&folder.file("wake"));
        }
        Ok(())
    }

    fn forget(&mut self, run: RunId) -> io::Result<()> {
        let folder = self.folder(run);
        if !folder.exists() {
            return Ok(());
        }
        let Some(_lock) = folder.lock()? else { return Ok(()) };
        self.gpus.release(run)?;
        // A supervisor that was killed before it could claim has told nobody of its group.
        Cgroup::named(&self.store.name, run).iter().for_each(Cgroup::remove);
        self.tries.remove(&run);
        folder.remove()
    }

    fn log(&mut self, run: RunId, from: u64, bytes_max: usize) -> io::Result<Chunk> {
        log::read(&self.folder(run).path, from, bytes_max)
    }

    fn store(&self) -> &str {
        &self.store.name
    }

    fn heard(&self) -> Option<u64> {
        store::heard(&self.store.path)
    }

    fn keep_heard(&mut self, at: u64) -> io::Result<()> {
        store::keep_heard(&self.store.path, at)
    }

    fn wait(&mut self, longest: Duration) {
        self.store.wait(longest);
    }
}
