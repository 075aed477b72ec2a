//! Machines with processes, as the engine's orders come to them: late, in any order, and not at all while a node is
//! silent. Whoever looks after a node compares what is wanted there with what is there; it asks nobody whether a GPU is
//! free.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use engine::job::halt::Fault;
use engine::job::phase::Phase;
use engine::job::phase::PodAt;
use engine::job::run::RunNo;
use engine::message::command::Observation;
use engine::message::command::Report;
use engine::state::cluster::NodeStatus;
use engine::state::cluster::OnSilence;
use engine::state::jobs::Job;
use engine::state::world::State;
use engine::unit::amount::GPU;
use engine::unit::id::JobId;
use engine::unit::id::NodeNo;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;

use crate::random::Random;

/// A process of one pod.
#[derive(Clone, Debug)]
struct Process {
    run: RunNo,
    job: JobId,
    at: PodAt,
    /// What it takes of each of its GPUs.
    share: i64,
    begins: Timestamp,
    ends: Option<Timestamp>,
}

impl Process {
    fn key(&self) -> (RunNo, PodAt, i64) {
        (self.run, self.at, self.share)
    }
}

/// Why a run ended by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Exit {
    Finished,
    Failed(Fault),
}

/// What is wanted on the nodes: pods of runs, with what each takes of a GPU.
type Wanted = BTreeMap<(RunNo, PodAt, i64), (JobId, usize)>;

/// All nodes, and whoever looks after them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Machine {
    processes: Vec<Process>,
    exits: BTreeMap<RunNo, Exit>,
    /// Runs that are known to be gone from a node, and orders that have been followed there.
    gone: BTreeSet<(RunNo, NodeNo)>,
    /// Runs that are known to have begun on a node.
    begun: BTreeSet<(RunNo, NodeNo)>,
    /// By whose clock, and from when on, each node kills its runs if it hears nothing more.
    patience: BTreeMap<NodeNo, Timestamp>,
    /// What each node was told in the last answer that it got.
    told: BTreeMap<NodeNo, OnSilence>,
    pub(crate) started: u64,
    pub(crate) killed: u64,
}

impl Machine {
    /// Time goes on: processes begin and end, one after the other.
    pub(crate) fn pass(&mut self, state: &State, until: Timestamp) -> Result<(), String> {
        loop {
            let moments = self.processes.iter().flat_map(|process| [Some(process.begins), process.ends]);
            let next = moments.flatten().filter(|at| *at > BEGUN && *at <= until).min();
            let impatient = self.patience.iter().map(|(node, at)| (*at, *node)).filter(|(at, _)| *at <= until).min();
            if let Some((now, node)) = impatient.filter(|(at, _)| next.is_none_or(|next| *at <= next)) {
                self.patience.remove(&node);
                self.kill(node, now);
                continue;
            }
            let Some(now) = next else { return self.check(state, until) };
            self.processes.retain(|process| process.ends.is_none_or(|ends| ends > now));
            for process in self.processes.iter_mut().filter(|process| process.begins == now) {
                process.begins = BEGUN;
                self.started += 1;
            }
            self.check_processes()?;
        }
    }

    /// A node has heard nothing for so long that it kills what runs there; that takes it up to a minute. What lives
    /// elsewhere of the same runs does not live without it for long.
    fn kill(&mut self, node: NodeNo, now: Timestamp) {
        let here = self.processes.iter().filter(|process| process.at.node == node).map(|process| process.run);
        let runs: BTreeSet<RunNo> = here.collect();
        self.killed += u64::from(!runs.is_empty());
        self.processes.retain(|process| process.at.node != node || process.begins == BEGUN);
        for process in self.processes.iter_mut().filter(|process| runs.contains(&process.run)) {
            let soon = now + Millis(if process.at.node == node { 59_000 } else { 600_000 });
            process.ends = Some(process.ends.map_or(soon, |ends| ends.min(soon)));
        }
        for run in runs {
            self.exits.entry(run).or_insert(Exit::Failed(Fault::Node));
        }
    }

    /// What a node goes by.
    pub(crate) fn told(&self, node: NodeNo) -> OnSilence {
        self.told.get(&node).copied().unwrap_or_default()
    }

    /// A node is switched off for ever.
    pub(crate) fn switch_off(&mut self, node: NodeNo) {
        self.processes.retain(|process| process.at.node != node);
        self.patience.remove(&node);
    }

    fn living(&self) -> impl Iterator<Item = &Process> {
        self.processes.iter().filter(|process| process.begins == BEGUN)
    }

    /// R1 and R2.
    fn check_processes(&self) -> Result<(), String> {
        let mut runs: BTreeMap<&JobId, RunNo> = BTreeMap::new();
        let mut shares: BTreeMap<(NodeNo, u32), i64> = BTreeMap::new();
        for process in self.living() {
            if *runs.entry(&process.job).or_insert(process.run) != process.run {
                return Err(format!("two runs of {} live: {:?}", process.job, self.processes));
            }
            for gpu in gpus(process.at) {
                let share = shares.entry((process.at.node, gpu)).or_default();
                *share += process.share;
                if *share > GPU {
                    return Err(format!("GPU {gpu} of {:?} has two processes: {:?}", process.at.node, self.processes));
                }
            }
        }
        Ok(())
    }

    /// R4: what is free in the books is free on the machine.
    fn check(&self, state: &State, _now: Timestamp) -> Result<(), String> {
        self.check_processes()?;
        let mut shares: BTreeMap<(NodeNo, u32), i64> = BTreeMap::new();
        for process in self.living() {
            gpus(process.at).for_each(|gpu| *shares.entry((process.at.node, gpu)).or_default() += process.share);
        }
        for ((node, gpu), share) in shares {
            let free = i64::from(state.floor.nodes[node.at()].gpus[gpu as usize]);
            if free + share > GPU {
                return Err(format!("GPU {gpu} of {node:?} has {free} free, and a process: {:?}", self.processes));
            }
        }
        Ok(())
    }

    /// A node hears what is wanted, does it in its own time, and says what it sees. Its clock may be wrong by a tenth.
    pub(crate) fn sync(&mut self, state: &State, node: NodeNo, now: Timestamp, random: &mut Random) -> Vec<Report> {
        self.patience.remove(&node);
        self.told.insert(node, on_silence(state, node));
        if let OnSilence::StopAfter(after) = on_silence(state, node) {
            let until = now + Millis(after.0 * random.between(91, 109) / 100);
            self.patience.insert(node, until);
        }
        let wanted = wanted(state, node);
        for ((run, at, share), (job, count)) in &wanted {
            if self.exits.contains_key(run) {
                continue;
            }
            let mine = |process: &&Process| process.key() == (*run, *at, *share) && process.ends.is_none();
            for _ in self.processes.iter().filter(mine).count()..*count {
                let begins = now + Millis(random.pick(&[1, 1, 2_000, 40_000, 900_000]));
                let (run, job) = (*run, job.clone());
                self.processes.push(Process { run, job, at: *at, share: *share, begins, ends: None });
            }
        }
        self.stop_unwanted(&wanted, node, now, random);
        self.note(state, node);
        self.reports(state)
    }

    /// What is not wanted is told to stop; what has not begun never does.
    fn stop_unwanted(&mut self, wanted: &Wanted, node: NodeNo, now: Timestamp, random: &mut Random) {
        let mut left: BTreeMap<(RunNo, PodAt, i64), usize> =
            wanted.iter().map(|(key, (_, count))| (*key, *count)).collect();
        self.processes.retain_mut(|process| {
            if process.at.node != node || process.ends.is_some() {
                return true;
            }
            let left = left.entry(process.key()).or_default();
            if *left > 0 {
                *left -= 1;
                return true;
            }
            process.ends = Some(now + Millis(random.pick(&[1, 5_000, 29_000, 31_000, 600_000, 7_200_000])));
            process.begins == BEGUN
        });
    }

    /// A node says what it sees, and the answer is lost.
    pub(crate) fn say(&mut self, state: &State, node: NodeNo) -> Vec<Report> {
        self.note(state, node);
        self.reports(state)
    }

    /// What whoever looks after a node knows of it.
    fn note(&mut self, state: &State, node: NodeNo) {
        let here: BTreeSet<RunNo> =
            self.processes.iter().filter(|process| process.at.node == node).map(|process| process.run).collect();
        for (_, job) in state.jobs.iter() {
            let Some(run) = job.run.as_ref().map(|run| run.no) else { continue };
            let is_wanted = job.is_running() && !self.exits.contains_key(&run);
            if !here.contains(&run) && !is_wanted {
                self.gone.insert((run, node));
            }
            for leaving in job.run.iter().flat_map(|run| &run.leaving) {
                let is_there = |process: &Process| {
                    process.run == run && leaving.pods.contains(&process.at) && process.at.node == node
                };
                if !self.processes.iter().any(is_there) {
                    self.gone.insert((leaving.order, node));
                }
            }
            if self.living().any(|process| process.run == run && process.at.node == node) {
                self.begun.insert((run, node));
            }
        }
    }

    /// Everything that the books do not know yet.
    fn reports(&self, state: &State) -> Vec<Report> {
        let mut reports = Vec::new();
        for (_, job) in state.jobs.iter() {
            let Some(run) = &job.run else { continue };
            let mut tell = |observed| {
                reports.push(Report { job: job.spec.id.clone(), run: Some(run.no), observed });
            };
            let nodes = nodes(job);
            // Of a node that is lost nobody waits to hear.
            let is_lost = |node: &NodeNo| {
                let node = &state.nodes[node.at()];
                node.status == NodeStatus::Dead || node.silence.is_some_and(|silence| silence.is_lost)
            };
            let has_gone = |no: RunNo| nodes.iter().all(|node| self.gone.contains(&(no, *node)) || is_lost(node));
            match self.exits.get(&run.no) {
                Some(Exit::Finished) if has_gone(run.no) => tell(Observation::Finished),
                Some(Exit::Failed(fault)) if has_gone(run.no) => {
                    let exit = Some(engine::job::halt::Exit::Code(1));
                    tell(Observation::Failed { reason: String::new(), fault: *fault, exit });
                }
                None if !job.is_running() && has_gone(run.no) => tell(Observation::Stopped),
                Some(_) | None => {}
            }
            if job.is_unconfirmed() && nodes.iter().all(|node| self.begun.contains(&(run.no, *node))) {
                tell(Observation::Confirmed);
            }
            for leaving in &run.leaving {
                let has_gone = |node: NodeNo| self.gone.contains(&(leaving.order, node)) || is_lost(&node);
                if leaving.pods.iter().all(|pod| has_gone(pod.node)) {
                    tell(Observation::Vacated { order: leaving.order });
                }
            }
        }
        reports
    }

    /// A run ends by itself, on all of its nodes.
    pub(crate) fn exit(&mut self, random: &mut Random) {
        let living: Vec<RunNo> = self.living().map(|process| process.run).collect();
        if living.is_empty() {
            return;
        }
        let run = random.pick(&living);
        let faults = [Fault::Job, Fault::Node, Fault::Start];
        let exit = if random.chance(60) { Exit::Finished } else { Exit::Failed(random.pick(&faults)) };
        self.exits.insert(run, exit);
        self.processes.retain(|process| process.run != run);
    }

    /// Whether a run has done its work.
    pub(crate) fn has_finished(&self, run: RunNo) -> bool {
        self.exits.get(&run) == Some(&Exit::Finished)
    }

    /// Whether nothing runs any more, or will.
    pub(crate) fn is_empty(&self) -> bool {
        self.processes.is_empty()
    }
}

/// What the runs of a node's group are for while nobody hears of it.
pub(crate) fn on_silence(state: &State, node: NodeNo) -> OnSilence {
    state.groups[state.nodes[node.at()].group.at()].on_silence
}

/// When a process that lives began.
const BEGUN: Timestamp = Timestamp(0);

fn gpus(at: PodAt) -> impl Iterator<Item = u32> {
    (0..16).filter(move |gpu| at.gpus & (1 << gpu) != 0)
}

/// What is wanted on a node.
fn wanted(state: &State, node: NodeNo) -> Wanted {
    let mut wanted = Wanted::new();
    for (_, job) in state.jobs.iter() {
        let (Phase::Running { placed, extra, .. }, Some(run)) = (&job.phase, &job.run) else { continue };
        let shape = &job.spec.shape;
        let gang = placed.pods.iter().copied().zip(shape.gang_pod_amounts());
        let extra = extra.iter().filter_map(|pod| Some((pod.at?, shape.extra_amount())));
        for (at, amount) in gang.chain(extra).filter(|(at, _)| at.node == node) {
            let each = state.cluster.gpus(&amount).min(GPU);
            wanted.entry((run.no, at, each)).or_insert((job.spec.id.clone(), 0)).1 += 1;
        }
    }
    wanted
}

/// The nodes on which a job holds anything.
pub(crate) fn nodes(job: &Job) -> BTreeSet<NodeNo> {
    let extra = match &job.phase {
        Phase::Running { extra, .. } => &**extra,
        Phase::Stopping(stopping) => &*stopping.extra,
        _ => &[],
    };
    let gang = job.placed().into_iter().flat_map(|placed| &placed.pods).map(|pod| pod.node);
    let leaving = job.run.iter().flat_map(|run| &run.leaving).flat_map(|leaving| &leaving.pods).map(|pod| pod.node);
    gang.chain(extra.iter().filter_map(|pod| Some(pod.at?.node))).chain(leaving).collect()
}
