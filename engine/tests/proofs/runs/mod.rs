//! What really runs (rules 7.4): over random histories with late, lost, doubled and old reports, and nodes that hear
//! nothing for a while.
//!
//! - R1: no GPU has two living processes of different runs.
//! - R2: no two runs of a job live at once, and none starts again that has done its work.
//! - R3: every run ends in the books.
//! - R4: what is free in the books is free on the machine.

mod machine;

use std::collections::BTreeMap;

use engine::host::authority;
use engine::job::run::RunNo;
use engine::job::run::RunStep;
use engine::message::command::CancelJob;
use engine::message::command::Command;
use engine::message::command::Report;
use engine::message::event::Event;
use engine::unit::id::JobNo;
use engine::unit::id::NodeNo;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;

use crate::history::are_few;
use crate::history::seeds;
use crate::random::Random;
use crate::run::Run;
use crate::runs::machine::Machine;

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
    /// Until when nodes hear nothing.
    silent: BTreeMap<NodeNo, Timestamp>,
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
}

impl World {
    fn new(seed: u64) -> Self {
        let mut run = Run::reported(seed);
        for _ in 0..run.layout.setup.len() {
            let _ = run.step();
        }
        let random = Random::new(seed ^ 0x0a7c);
        let (machine, sent, old) = (Machine::default(), Vec::new(), Vec::new());
        let (runs, silent, counts) = (BTreeMap::new(), BTreeMap::new(), Counts::default());
        Self { run, machine, random, sent, old, runs, silent, counts }
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
                if !matches!(command, Command::Report(_)) {
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
                let until = self.run.now + Millis(self.random.pick(&[60_000, 3_600_000]));
                let node = self.node();
                self.silent.insert(node, until);
            }
            _ => {
                self.run.now = self.run.now + Millis(self.random.pick(&[1_000, 20_000, 61_000, 700_000]));
            }
        }
        self.pass()
    }

    fn node(&mut self) -> NodeNo {
        NodeNo::from_index(self.random.index(self.run.state.nodes.len()))
    }

    /// A node that can be heard compares notes; what it says takes time, may be lost, and may come twice.
    fn sync(&mut self) -> Result<(), String> {
        let (node, now) = (self.node(), self.run.now);
        self.pass()?;
        if self.silent.get(&node).is_some_and(|until| *until > now) {
            return Ok(());
        }
        let reports = self.machine.sync(&self.run.state, node, now, &mut self.random);
        for report in reports {
            for _ in 0..self.random.pick(&[0, 1, 1, 1, 2]) {
                let at = now + Millis(self.random.pick(&[0, 0, 500, 30_000, 7_200_000]));
                self.sent.push((at, report.clone()));
            }
            self.old.push(report);
        }
        Ok(())
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
        let (revision, epoch) = (self.run.state.revision, self.run.state.epoch);
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
            Event::Started { job, .. } => {
                self.counts.started += 1;
                if self.runs.insert(*job, no).is_some_and(|before| self.machine.has_finished(before)) {
                    return Err(format!("{job:?} has done its work, and starts again"));
                }
            }
            Event::Evicted { .. } => self.counts.evicted += 1,
            Event::Run { step, .. } => match **step {
                RunStep::Halted { .. } => self.counts.halted += 1,
                RunStep::Vacated { .. } => self.counts.vacated += 1,
                _ => {}
            },
            Event::Shrunk { .. } => self.counts.shrunk += 1,
            Event::Ended { job, .. } => {
                let has_finished = self.runs.get(job).is_some_and(|run| self.machine.has_finished(*run));
                self.counts.finished_while_stopping += u64::from(has_finished);
            }
            _ => {}
        }
        Ok(())
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
    }
    println!("{total:?}");
    let Counts { started, evicted, halted, shrunk, vacated, late, finished_while_stopping } = total;
    let seen = [started, evicted, halted, shrunk, vacated, late, finished_while_stopping];
    assert!(are_few() || seen.iter().all(|count| *count > 0), "{total:?}");
}
