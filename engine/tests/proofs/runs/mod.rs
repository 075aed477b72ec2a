//! What really runs (rules 7.4): over random histories with late, lost, doubled and old reports, and nodes that hear
//! nothing for a while.
//!
//! - R1: no GPU has two living processes of different runs.
//! - R2: no two runs of a job live at once, and none starts again that has done its work.
//! - R3: every run ends in the books.
//! - R4: what is free in the books is free on the machine.

mod machine;

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use engine::host::authority;
use engine::job::phase::Phase;
use engine::job::phase::PodAt;
use engine::job::run::RunNo;
use engine::job::run::RunStep;
use engine::message::command::CancelJob;
use engine::message::command::Command;
use engine::message::command::NodeHeard;
use engine::message::command::NodeSilent;
use engine::message::command::PutGroup;
use engine::message::command::PutNode;
use engine::message::command::Report;
use engine::message::event::Event;
use engine::state::cluster::NodeStatus;
use engine::state::cluster::NodeStep;
use engine::state::cluster::OnSilence;
use engine::state::jobs::Job;
use engine::unit::id::JobNo;
use engine::unit::id::NodeNo;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;

use crate::history::are_few;
use crate::history::seeds;
use crate::random::Random;
use crate::run::Run;
use crate::runs::machine::Machine;
use crate::runs::machine::nodes;
use crate::runs::machine::on_silence;

const HISTORIES: u64 = 600;
const STEPS: usize = 260;

/// A cluster whose jobs run on machines.
struct World {
    run: Run,
    machine: Machine,
    random: Random,
    /// Reports on their way.
    sent: Vec<(Timestamp, Report)>,
    /// Reports that have been sent some time.
    old: Vec<Report>,
    /// The last run of each job.
    runs: BTreeMap<JobNo, RunNo>,
    /// Where everybody was before the last command.
    places: Vec<(JobNo, BTreeSet<NodeNo>)>,
    /// Runs that were lost with their nodes.
    given_up: BTreeSet<RunNo>,
    /// Until when nodes hear nothing.
    silent: BTreeMap<NodeNo, Timestamp>,
    /// Who had a place before the last command already.
    granted: BTreeSet<JobNo>,
    /// When nodes were last heard, and what they may go by since.
    heard: BTreeMap<NodeNo, (Timestamp, Vec<OnSilence>)>,
    counts: Counts,
}

#[derive(Debug, Default)]
struct Counts {
    started: u64,
    evicted: u64,
    halted: u64,
    shrunk: u64,
    vacated: u64,
    late: u64,
    finished_while_stopping: u64,
    silences: u64,
    killed: u64,
    lost: u64,
    dead: u64,
    withdrawn: u64,
}

/// For so long nobody minds that a node says nothing.
const HEARTBEAT: Millis = Millis(90_000);

impl World {
    fn new(seed: u64) -> Self {
        let mut run = Run::reported(seed);
        for _ in 0..run.layout.setup.len() {
            let _ = run.step();
        }
        let random = Random::new(seed ^ 0x0a7c);
        let (machine, sent, old) = (Machine::default(), Vec::new(), Vec::new());
        let (runs, silent, heard, counts) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new(), Counts::default());
        let mut world = Self {
            run,
            machine,
            random,
            sent,
            old,
            runs,
            silent,
            granted: BTreeSet::new(),
            places: Vec::new(),
            given_up: BTreeSet::new(),
            heard,
            counts,
        };
        world.choose_what_silence_does();
        world
    }

    /// Some groups have their runs killed when a node is silent.
    fn choose_what_silence_does(&mut self) {
        for group in self.run.layout.groups.clone() {
            let after = Millis(self.random.pick(&[300_000, 3_600_000]));
            let on_silence = self.random.chance(60).then_some(OnSilence::StopAfter(after));
            let put = Command::PutGroup(PutGroup { on_silence, ..group });
            let _ = authority::step(&mut self.run.state, &put, self.run.now);
        }
    }

    fn pass(&mut self) -> Result<(), String> {
        self.machine.pass(&self.run.state, self.run.now)
    }

    /// Something happens.
    fn step(&mut self) -> Result<(), String> {
        match self.random.below(100) {
            0..32 => {
                let (_, command) = self.run.next();
                self.pass()?;
                // What is reported here is what has been seen.
                let is_seen = match &command {
                    Command::Report(_) | Command::NodeSilent(_) | Command::NodeHeard(_) => true,
                    Command::PutNode(put) => put.status == NodeStatus::Dead,
                    _ => false,
                };
                if !is_seen {
                    self.send(&command)?;
                }
            }
            32..64 => self.sync()?,
            64..84 => self.deliver()?,
            84..88 => self.machine.exit(&mut self.random),
            88..91 if !self.old.is_empty() => {
                let report = self.random.pick(&self.old);
                self.send(&Command::Report(report))?;
            }
            91..93 => {
                let until = self.run.now + Millis(self.random.pick(&[60_000, 3_600_000, 20_000_000]));
                let node = self.node();
                self.silent.insert(node, until);
            }
            93..95 => self.notice()?,
            _ => {
                self.run.now = self.run.now + Millis(self.random.pick(&[1_000, 20_000, 61_000, 700_000]));
            }
        }
        self.pass()
    }

    fn node(&mut self) -> NodeNo {
        NodeNo::from_index(self.random.index(self.run.state.nodes.len()))
    }

    /// Who has not been heard for long is told of; now and then somebody switches one of them off and says so.
    fn notice(&mut self) -> Result<(), String> {
        let now = self.run.now;
        for no in (0..self.run.state.nodes.len()).map(NodeNo::from_index) {
            let heard = self.heard.get(&no).filter(|(since, _)| *since + HEARTBEAT < now);
            let Some((since, told)) = heard.cloned() else { continue };
            let node = self.run.state.nodes[no.at()].id.clone();
            // Whether it got the last answer nobody knows: what keeps runs for longer counts.
            let after = |told: &OnSilence| if let OnSilence::StopAfter(after) = told { Some(*after) } else { None };
            let stop_after_ms =
                told.iter().map(after).collect::<Option<Vec<Millis>>>().and_then(|all| all.into_iter().max());
            self.send(&Command::NodeSilent(NodeSilent { node, since, stop_after_ms }))?;
        }
        let silent = |no: &NodeNo| self.run.state.nodes[no.at()].silence.is_some();
        let silent: Vec<NodeNo> = (0..self.run.state.nodes.len()).map(NodeNo::from_index).filter(silent).collect();
        if !silent.is_empty() && self.random.chance(20) {
            let no = self.random.pick(&silent);
            self.machine.switch_off(no);
            let node = &self.run.state.nodes[no.at()];
            let put = self.run.layout.nodes.iter().find(|put| put.node == node.id).unwrap().clone();
            self.counts.dead += 1;
            self.send(&Command::PutNode(PutNode { status: NodeStatus::Dead, ..put }))?;
        }
        self.nothing_is_kept_that_is_lost()
    }

    /// What is known to live nowhere any more holds nothing, and nobody is to start where a node is lost.
    fn nothing_is_kept_that_is_lost(&self) -> Result<(), String> {
        let is_lost = |node: &NodeNo| {
            let node = &self.run.state.nodes[node.at()];
            node.status == NodeStatus::Dead || node.silence.is_some_and(|silence| silence.is_lost)
        };
        for (_, job) in self.run.state.jobs.iter() {
            let nodes = nodes(job);
            let is_kept = match &job.phase {
                Phase::Starting { .. } => nodes.iter().any(is_lost),
                Phase::Running { .. } | Phase::Stopping(_) => !nodes.is_empty() && nodes.iter().all(is_lost),
                Phase::Queued { .. } | Phase::Ended { .. } => false,
            };
            if is_kept {
                return Err(format!("{job:?} keeps what is lost"));
            }
        }
        Ok(())
    }

    /// A node that can be heard compares notes; what it says takes time, may be lost, and may come twice. The answer to
    /// it may be lost as well.
    fn sync(&mut self) -> Result<(), String> {
        let (node, now) = (self.node(), self.run.now);
        self.pass()?;
        if self.silent.get(&node).is_some_and(|until| *until > now) {
            return Ok(());
        }
        self.hear(node)?;
        let reports = if self.random.chance(90) {
            self.machine.sync(&self.run.state, node, now, &mut self.random)
        } else {
            self.machine.say(&self.run.state, node)
        };
        for report in reports {
            for _ in 0..self.random.pick(&[0, 1, 1, 1, 2]) {
                let at = now + Millis(self.random.pick(&[0, 0, 500, 30_000, 7_200_000]));
                self.sent.push((at, report.clone()));
            }
            self.old.push(report);
        }
        Ok(())
    }

    /// A node says something.
    fn hear(&mut self, no: NodeNo) -> Result<(), String> {
        let told = vec![self.machine.told(no), on_silence(&self.run.state, no)];
        self.heard.insert(no, (self.run.now, told));
        let node = self.run.state.nodes[no.at()].id.clone();
        self.send(&Command::NodeHeard(NodeHeard { node }))
    }

    /// What has arrived is told, in any order.
    fn deliver(&mut self) -> Result<(), String> {
        let now = self.run.now;
        let arrived: Vec<usize> = (0..self.sent.len()).filter(|at| self.sent[*at].0 <= now).collect();
        if arrived.is_empty() {
            return Ok(());
        }
        let (_, report) = self.sent.swap_remove(self.random.pick(&arrived));
        self.send(&Command::Report(report))
    }

    fn send(&mut self, command: &Command) -> Result<(), String> {
        let (revision, epoch) = (self.run.state.revision, self.run.state.cluster.epoch);
        let is_granted = |job: &Job| matches!(job.phase, Phase::Starting { .. });
        self.places = self.run.state.jobs.iter().map(|(no, job)| (no, nodes(job))).collect();
        self.granted = self.run.state.jobs.iter().filter(|(_, job)| is_granted(job)).map(|(no, _)| no).collect();
        let events = match authority::step(&mut self.run.state, command, self.run.now) {
            Ok(events) => events,
            Err(rejection) if matches!(command, Command::Report(_)) => {
                return Err(format!("a report is refused: {rejection}"));
            }
            Err(_) => return Ok(()),
        };
        self.counts.late += u64::from(matches!(command, Command::Report(_)) && events.is_empty());
        for (event, revision) in events.iter().zip(revision + 1..) {
            self.note(event, RunNo { epoch, revision })?;
        }
        Ok(())
    }

    fn note(&mut self, event: &Event, no: RunNo) -> Result<(), String> {
        match event {
            Event::JobSubmitted { no, .. } => {
                self.runs.remove(no);
            }
            Event::Started { job, placed, .. } => {
                self.counts.started += 1;
                let is_closed = |pod: &PodAt| self.is_closed(pod.node);
                if !self.granted.contains(job) && placed.pods.iter().any(is_closed) {
                    return Err(format!("{job:?} starts where nobody is heard"));
                }
                let has_finished = |run: &RunNo| self.machine.has_finished(*run) && !self.given_up.contains(run);
                if self.runs.insert(*job, no).is_some_and(|before| has_finished(&before)) {
                    return Err(format!("{job:?} has done its work, and starts again"));
                }
            }
            Event::Evicted { .. } => self.counts.evicted += 1,
            Event::Run { step, .. } => match **step {
                RunStep::Halted { .. } => self.counts.halted += 1,
                RunStep::Vacated { .. } => self.counts.vacated += 1,
                RunStep::Withdrawn => self.counts.withdrawn += 1,
                _ => {}
            },
            Event::Shrunk { .. } => self.counts.shrunk += 1,
            Event::Node { step: NodeStep::Silent { .. }, .. } => self.counts.silences += 1,
            Event::Node { no, step: NodeStep::Lost, .. } => {
                self.counts.lost += 1;
                self.give_up(*no);
            }
            Event::NodePut { no, node } if node.status == NodeStatus::Dead => self.give_up(*no),
            Event::Ended { job, .. } => {
                let has_finished = self.runs.get(job).is_some_and(|run| self.machine.has_finished(*run));
                self.counts.finished_while_stopping += u64::from(has_finished);
            }
            _ => {}
        }
        Ok(())
    }

    /// What runs that had something on a node have done, nobody will hear.
    fn give_up(&mut self, node: NodeNo) {
        let here = self.places.iter().filter(|(_, nodes)| nodes.contains(&node));
        self.given_up.extend(here.filter_map(|(job, _)| self.runs.get(job)));
    }

    /// Whether nothing may start on a node now.
    fn is_closed(&self, no: NodeNo) -> bool {
        let node = &self.run.state.nodes[no.at()];
        node.status != NodeStatus::Ready || node.silence.is_some()
    }

    /// Everybody is cancelled, and everything is heard in the end.
    fn end(&mut self) -> Result<(), String> {
        self.silent.clear();
        let jobs: Vec<_> = self.run.state.jobs.iter().map(|(_, job)| job.spec.id.clone()).collect();
        for job in jobs {
            self.send(&Command::CancelJob(CancelJob { job }))?;
        }
        for _ in 0..12 {
            self.run.now = self.run.now + Millis(4 * 3_600_000);
            self.pass()?;
            for node in (0..self.run.state.nodes.len()).map(NodeNo::from_index) {
                self.hear(node)?;
                let (state, now) = (&self.run.state, self.run.now);
                let reports = self.machine.sync(state, node, now, &mut self.random);
                self.sent.extend(reports.into_iter().map(|report| (now, report)));
            }
            while self.sent.iter().any(|(at, _)| *at <= self.run.now) {
                self.deliver()?;
            }
        }
        let left: Vec<_> = self.run.state.jobs.iter().filter(|(_, job)| !job.is_ended()).collect();
        if !left.is_empty() || !self.machine.is_empty() {
            return Err(format!("something never ends: {left:?} {:?}", self.machine));
        }
        let taken = |on: &engine::placement::NodeUse| (0..16).any(|gpu| on.gpus[gpu] != 0 && on.gpus[gpu] != 1000);
        if self.run.state.floor.nodes.iter().any(taken) {
            return Err("nothing runs, and GPUs are booked".to_owned());
        }
        Ok(())
    }
}

#[test]
fn what_really_runs_never_shares_a_gpu_and_always_ends() {
    let mut total = Counts::default();
    for seed in seeds(HISTORIES) {
        let mut world = World::new(seed);
        for step in 0..STEPS {
            world.step().unwrap_or_else(|fault| panic!("seed {seed}, step {step}: {fault}"));
        }
        world.end().unwrap_or_else(|fault| panic!("seed {seed}, at the end: {fault}"));
        let counts = world.counts;
        total.started += counts.started;
        total.evicted += counts.evicted;
        total.halted += counts.halted;
        total.shrunk += counts.shrunk;
        total.vacated += counts.vacated;
        total.late += counts.late;
        total.finished_while_stopping += counts.finished_while_stopping;
        total.silences += counts.silences;
        total.killed += world.machine.killed;
        total.lost += counts.lost;
        total.dead += counts.dead;
        total.withdrawn += counts.withdrawn;
    }
    println!("{total:?}");
    let Counts { started, evicted, halted, shrunk, vacated, late, finished_while_stopping, .. } = total;
    let Counts { silences, killed, lost, dead, withdrawn, .. } = total;
    let seen = [started, evicted, halted, shrunk, vacated, late, finished_while_stopping];
    let seen = [&seen[..], &[silences, killed, lost, dead, withdrawn]].concat();
    assert!(are_few() || seen.iter().all(|count| *count > 0), "{total:?}");
}
