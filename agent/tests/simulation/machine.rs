//! A machine with a runner: folders of runs, files of GPUs, supervisors and processes. They outlive the agent; anything
//! may be killed between any two steps.
use std::collections::BTreeMap;

use agent::act::Instead;
use agent::act::Stop;
use agent::exit::Exit;
use agent::message::NodeReport;
use agent::message::NodeStatus;
use agent::message::Want;
use agent::pods::Place;
use agent::pods::Pods;
use agent::run::RunId;
use agent::seen::Listing;
use agent::seen::Phase;
use agent::seen::Seen;
use agent::silence;
use agent::silence::SILENCE_GRACE_MS;

use crate::flaw::Flaw;
use crate::oracle::Life;
use crate::oracle::Oracle;
use crate::pods::Leave;
use crate::random::Random;

pub(crate) const GPUS: u16 = 4;

/// What is kept of a run.
pub(crate) struct Folder {
    job: String,
    want: Option<Want>,
    pub(crate) told_pods: Option<Pods>,
    /// Orders to leave of which nothing is left.
    pub(crate) gone: Vec<RunId>,
    is_claimed: bool,
    pub(crate) kill_at: Option<u64>,
    exit: Option<Exit>,
    since: u64,
}

/// How far a supervisor is. It may be killed before each step.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Spawned,
    Locked,
    Holding,
    Starting(usize),
    Watching,
    Clearing,
    Released,
}

pub(crate) struct Supervisor {
    pub(crate) run: RunId,
    stage: Stage,
    exit: Option<Exit>,
    /// The pods that it has started, by their ranks in processes, and why they leave.
    pub(crate) pods: Vec<(Place, Leave)>,
}

pub(crate) struct Process {
    pid: u64,
    pub(crate) run: RunId,
    pub(crate) life: Life,
    /// When it ends by itself.
    ends_at: u64,
    code: i32,
    pub(crate) ignores_term: bool,
    pub(crate) dies_at: Option<u64>,
    pub(crate) is_killed: bool,
}

pub(crate) struct Machine {
    pub(crate) store: String,
    pub(crate) nodes: BTreeMap<String, u16>,
    pub(crate) heard: Option<u64>,
    pub(crate) flaw: Option<Flaw>,
    pub(crate) folders: BTreeMap<RunId, Folder>,
    pub(crate) files: BTreeMap<(String, u16), RunId>,
    pub(crate) supervisors: Vec<Supervisor>,
    pub(crate) processes: Vec<Process>,
    n_pids: u64,
}

impl Machine {
    pub(crate) fn new(number: u64, nodes: &[&str], flaw: Option<Flaw>) -> Self {
        Self {
            store: format!("store-{number}"),
            nodes: nodes.iter().map(|node| ((*node).to_owned(), GPUS)).collect(),
            heard: None,
            flaw,
            folders: BTreeMap::new(),
            files: BTreeMap::new(),
            supervisors: Vec::new(),
            processes: Vec::new(),
            n_pids: number << 32,
        }
    }

    fn is_watched(&self, run: RunId) -> bool {
        self.supervisors.iter().any(|one| one.run == run && one.stage > Stage::Spawned)
    }

    fn release(&mut self, run: RunId) {
        self.files.retain(|_, holder| *holder != run);
    }

    // The verbs, but for the log.

    pub(crate) fn list(&self) -> Listing {
        let node = |(node, gpus): (&String, &u16)| NodeReport {
            node: node.clone(),
            gpus: *gpus,
            status: NodeStatus::Ready,
            reason: None,
        };
        let runs = self.folders.iter().map(|(run, folder)| {
            let phase = match (&folder.exit, folder.is_claimed, self.is_watched(*run)) {
                (Some(_), _, true) | (None, false, _) => Phase::Prepared,
                (Some(exit), _, false) => Phase::Ended(exit.clone()),
                (None, true, true) => Phase::Running { kill_at: folder.kill_at },
                (None, true, false) => Phase::Orphaned,
            };
            let want = folder.want.as_ref();
            let seen = Seen {
                job: folder.job.clone(),
                pods: match (&folder.told_pods, want) {
                    (Some(told), _) => told.with(&self.held(*run)),
                    (None, want) => want.map(|want| want.pods.clone()).unwrap_or_default(),
                },
                told_pods: folder.told_pods.clone(),
                gone: folder.gone.clone(),
                stop_after_ms: want.and_then(|want| want.stop_after_ms),
                since: folder.since,
                log_bytes: 0,
                checkpoint: None,
                // Here nobody dies of a signal without having been told to stop.
                told: matches!(folder.exit, Some(Exit::Signal(_))),
                phase,
            };
            (*run, seen)
        });
        Listing {
            nodes: self.nodes.iter().map(node).collect(),
            runs: runs.collect(),
            offered: Vec::new(),
            changes: true,
        }
    }

    pub(crate) fn prepare(&mut self, want: &Want, now: u64) {
        let folder = Folder {
            job: want.job.clone(),
            want: Some(want.clone()),
            told_pods: None,
            gone: Vec::new(),
            is_claimed: false,
            kill_at: None,
            exit: None,
            since: now,
        };
        self.folders.entry(want.run).or_insert(folder);
    }

    pub(crate) fn start(&mut self, run: RunId) {
        self.supervisors.push(Supervisor { run, stage: Stage::Spawned, exit: None, pods: Vec::new() });
    }

    pub(crate) fn change(&mut self, run: RunId, pods: Pods) {
        self.folders.entry(run).and_modify(|folder| {
            folder.gone.retain(|order| pods.leave.iter().any(|leaving| leaving.order == *order));
            folder.told_pods = Some(pods);
        });
    }

    pub(crate) fn stop(&mut self, run: RunId, stop: &Stop, now: u64) {
        let is_watched = self.is_watched(run);
        let folder = self.folders.entry(run).or_insert_with(|| Folder {
            job: stop.job.clone(),
            want: None,
            told_pods: None,
            gone: Vec::new(),
            is_claimed: false,
            kill_at: None,
            exit: None,
            since: now,
        });
        if folder.is_claimed && is_watched {
            folder.kill_at = Some(folder.kill_at.map_or(stop.kill_at, |earlier| earlier.min(stop.kill_at)));
        } else if !folder.is_claimed {
            folder.is_claimed = true;
            folder.exit = Some(match &stop.instead {
                Instead::Unstarted => Exit::Unstarted,
                Instead::Start(reason) => Exit::Start(reason.clone()),
                Instead::Lost => Exit::Lost("it is not here".to_owned()),
            });
        } else if folder.exit.is_none() {
            let mut left = self.processes.iter_mut().filter(|process| process.run == run).peekable();
            let is_empty = left.peek().is_none();
            left.for_each(|process| process.kill(now));
            if is_empty || self.flaw == Some(Flaw::LostBeforeGone) {
                folder.exit = Some(Exit::Lost("its supervisor is gone".to_owned()));
            }
        }
        if !is_watched && self.folders.get(&run).is_some_and(|folder| folder.exit.is_some()) {
            self.release(run);
        }
    }

    pub(crate) fn forget(&mut self, run: RunId) {
        if !self.is_watched(run) {
            self.release(run);
            self.folders.remove(&run);
        }
    }

    // What happens by itself.

    pub(crate) fn pass(&mut self, now: u64, random: &mut Random, oracle: &mut Oracle) {
        for process in &mut self.processes {
            if process.ends_at <= now && process.dies_at.is_none() {
                process.dies_at = Some(now);
            }
        }
        let gone = |process: &Process| process.dies_at.is_some_and(|at| at <= now);
        for process in self.processes.iter().filter(|process| gone(process)) {
            oracle.end(process.pid);
            let first = self.supervisors.iter_mut().find(|one| one.run == process.run && one.stage > Stage::Spawned);
            if let Some(supervisor) = first
                && !process.life.is_child
                && supervisor.pods.get(process.life.rank as usize).is_some_and(|(_, leave)| *leave == Leave::Stays)
            {
                let exit = if process.ends_at <= now && !process.is_killed {
                    Exit::Code(process.code)
                } else {
                    Exit::Signal(15)
                };
                supervisor.exit.get_or_insert(exit);
            }
        }
        self.processes.retain(|process| !gone(process));
        for at in 0..self.supervisors.len() {
            if random.below(3) > 0 {
                self.advance(at, now, random, oracle);
            }
        }
        self.supervisors.retain(|one| one.stage != Stage::Released || one.exit.is_some());
    }

    fn advance(&mut self, at: usize, now: u64, random: &mut Random, oracle: &mut Oracle) {
        let Supervisor { run, stage, .. } = self.supervisors[at];
        let ends = |one: &mut Supervisor| (one.stage, one.exit) = (Stage::Released, None);
        let Some(want) = self.folders.get(&run).and_then(|folder| folder.want.clone()) else {
            return ends(&mut self.supervisors[at]);
        };
        let next = match stage {
            Stage::Spawned if self.is_watched(run) => return ends(&mut self.supervisors[at]),
            Stage::Spawned => Stage::Locked,
            Stage::Locked => {
                let needed = || want.pods.iter().flat_map(|pod| pod.gpus.iter().map(|gpu| (pod.node.clone(), *gpu)));
                let is_held = |file: &(String, u16)| self.files.get(file).is_some_and(|holder| *holder != run);
                if needed().any(|file| is_held(&file)) {
                    return ends(&mut self.supervisors[at]);
                }
                self.files.extend(needed().map(|file| (file, run)));
                Stage::Holding
            }
            Stage::Holding => match self.folders.get_mut(&run) {
                Some(folder) if !folder.is_claimed || self.flaw == Some(Flaw::NoClaim) => {
                    (folder.is_claimed, folder.since) = (true, now);
                    Stage::Starting(0)
                }
                Some(_) | None => {
                    self.release(run);
                    return ends(&mut self.supervisors[at]);
                }
            },
            Stage::Starting(pod) if pod == want.pods.len() => Stage::Watching,
            Stage::Starting(pod) => {
                self.begin(at, &want, &Place::of(&want.pods[pod]), now, random, oracle);
                Stage::Starting(pod + 1)
            }
            Stage::Watching => {
                self.reconcile(at, &want, now, random, oracle);
                let is_stopping = self.folders.get(&run).is_some_and(|folder| folder.kill_at.is_some());
                if is_stopping && !self.processes.iter().any(|process| process.run == run) {
                    // All of its pods have left, and there is nobody whose end could be told.
                    self.supervisors[at].exit.get_or_insert(Exit::Signal(15));
                }
                self.watch(run, &want, self.supervisors[at].exit.is_some(), now, random)
            }
            Stage::Clearing => {
                let mut left = self.processes.iter_mut().filter(|process| process.run == run).peekable();
                let is_empty = left.peek().is_none();
                left.for_each(|process| process.kill(now));
                if is_empty || self.flaw == Some(Flaw::LeavesChildren) {
                    self.release(run);
                    Stage::Released
                } else {
                    Stage::Clearing
                }
            }
            Stage::Released => {
                let exit = self.supervisors[at].exit.take();
                if exit == Some(Exit::Code(0)) && want.world == 1 {
                    oracle.finish(&run.to_string(), &want.job);
                }
                if let Some(folder) = self.folders.get_mut(&run) {
                    (folder.exit, folder.since) = (exit, now);
                }
                Stage::Released
            }
        };
        self.supervisors[at].stage = next;
    }

    /// A look at a run: who is told to end, and who is killed.
    fn watch(&mut self, run: RunId, want: &Want, has_ended: bool, now: u64, random: &mut Random) -> Stage {
        if has_ended {
            return Stage::Clearing;
        }
        let Some(folder) = self.folders.get_mut(&run) else { return Stage::Clearing };
        if folder.kill_at.is_none() && silence::is_over(self.heard, want.stop_after_ms, now) {
            folder.kill_at = Some(now + SILENCE_GRACE_MS);
        }
        if let Some(kill_at) = folder.kill_at {
            for process in self.processes.iter_mut().filter(|process| process.run == run) {
                if kill_at <= now {
                    process.kill(now);
                } else if !process.ignores_term && process.dies_at.is_none() {
                    process.dies_at = Some(now + random.below(4_000));
                    process.is_killed = true;
                }
            }
        }
        Stage::Watching
    }

    /// Starts a pod, whose GPUs the run has.
    pub(crate) fn begin(
        &mut self,
        at: usize,
        want: &Want,
        place: &Place,
        now: u64,
        random: &mut Random,
        oracle: &mut Oracle,
    ) {
        let rank = u32::try_from(self.supervisors[at].pods.len()).expect("it is small");
        self.supervisors[at].pods.push((place.clone(), Leave::Stays));
        // Who forks away under a lease can outlive both supervisor and agent; only a cgroup would help.
        let forks = want.stop_after_ms.is_none() && random.per_mille(150);
        for is_child in [false, true].into_iter().take(1 + usize::from(forks)) {
            self.n_pids += 1;
            let life = Life {
                run: want.run.to_string(),
                job: want.job.clone(),
                rank,
                gpus: place.gpus.iter().map(|gpu| (place.node.clone(), *gpu)).collect(),
                is_child,
            };
            oracle.start(self.n_pids, life.clone());
            self.processes.push(Process {
                pid: self.n_pids,
                run: want.run,
                life,
                ends_at: now + if is_child { 1_000_000 } else { 500 + random.below(120_000) },
                code: i32::from(random.per_mille(300)),
                ignores_term: random.per_mille(300),
                dies_at: None,
                is_killed: false,
            });
        }
    }

    // Accidents.

    pub(crate) fn kill_supervisor(&mut self, random: &mut Random) {
        if self.supervisors.is_empty() {
            return;
        }
        let at = usize::try_from(random.below(self.supervisors.len() as u64)).expect("it is small");
        let Supervisor { run, stage, .. } = self.supervisors.remove(at);
        let under_lease = self.folders.get(&run).and_then(|folder| folder.want.as_ref()?.stop_after_ms).is_some();
        // The kernel tells the pods of a supervisor that is killed; those who forked away hear nothing.
        if stage > Stage::Holding && under_lease {
            self.processes.iter_mut().filter(|process| process.run == run).for_each(|process| process.kill(0));
        }
    }

    /// The power is off: what was written stays.
    pub(crate) fn lose_power(&mut self, oracle: &mut Oracle, gpus: u16) {
        self.processes.drain(..).for_each(|process| oracle.end(process.pid));
        self.supervisors.clear();
        self.nodes.values_mut().for_each(|node| *node = gpus);
    }

    pub(crate) fn left_over(&self) -> Option<String> {
        let n_supervisors = self.supervisors.len();
        let (n_folders, n_files) = (self.folders.len(), self.files.len());
        let is_empty = n_supervisors + n_folders + n_files == 0;
        (!is_empty).then(|| format!("{n_folders} folders, {n_files} files of GPUs and {n_supervisors} supervisors"))
    }
}

impl Process {
    pub(crate) fn kill(&mut self, now: u64) {
        self.is_killed = true;
        self.dies_at = Some(self.dies_at.map_or(now + 300, |earlier| earlier.min(now + 300)));
    }
}
