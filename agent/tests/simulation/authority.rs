//! The service as far as agents see it: a small model of how granted, stopped and ended runs are kept in its books.
use std::collections::BTreeMap;
use std::collections::BTreeSet;

use agent::exit::Exit;
use agent::message::FORMAT;
use agent::message::Hello;
use agent::message::Pod;
use agent::message::RunReport;
use agent::message::RunState;
use agent::message::StopOrder;
use agent::message::SyncAnswer;
use agent::message::SyncRequest;
use agent::message::Want;
use agent::message::Welcome;
use agent::pods::Change;
use agent::pods::LeaveOrder;
use agent::pods::Place;
use agent::run::RunId;
use agent::run::Version;

use crate::books::Contact;
use crate::books::Facts;
use crate::books::Part;
use crate::books::Run;
use crate::flaw::Flaw;
use crate::machine::GPUS;
use crate::random::Random;

/// Nodes, and the agent that each belongs to.
pub(crate) const NODES: [(&str, usize); 3] = [("n1", 0), ("n2", 0), ("n3", 1)];
pub(crate) const AGENTS: usize = 2;
const START_WITHIN_MS: u64 = 60_000;
/// What a silence is longer for the service than for the agent: a tenth, and a minute.
const LOST_MARGIN_MS: u64 = 60_000;
/// Some runs may go on only for so long when the service is silent.
const STOP_AFTER_MS: u64 = 20_000;
const RUNS_OF_A_JOB_MAX: u32 = 6;
const QUEUE_MAX: usize = 4;

pub(crate) struct Authority {
    epoch: u64,
    pub(crate) facts: Facts,
    kept: Facts,
    pub(crate) contacts: Vec<Contact>,
    pub(crate) flaw: Option<Flaw>,
    n_jobs: u64,
    highest: u64,
    /// Whose machine will not be asked any more how they ended.
    pub(crate) given_up: Vec<String>,
}

impl Authority {
    pub(crate) fn new(flaw: Option<Flaw>) -> Self {
        let contacts = vec![Contact { is_known: true, ..Contact::default() }; AGENTS];
        let (facts, kept) = (Facts::default(), Facts::default());
        Self { epoch: 0, facts, kept, contacts, flaw, n_jobs: 0, highest: 0, given_up: Vec::new() }
    }

    pub(crate) fn next(&mut self) -> Version {
        self.facts.revision += 1;
        self.highest = self.highest.max(self.facts.revision);
        Version { epoch: self.epoch, revision: self.facts.revision }
    }

    // What people do.

    pub(crate) fn submit(&mut self, random: &mut Random) {
        if self.facts.queue.len() == QUEUE_MAX {
            return;
        }
        self.n_jobs += 1;
        let shape = (1 + u32::from(random.per_mille(300)), 1 + u16::from(random.per_mille(500)));
        self.facts.queue.insert(format!("job-{}", self.n_jobs), shape);
        self.next();
    }

    pub(crate) fn cancel(&mut self, at: u64, now: u64, grace: u64) {
        if let Some(run) = self.nth(at) {
            let job = self.facts.runs[&run].job.clone();
            self.facts.attempts.insert(job, RUNS_OF_A_JOB_MAX);
            if self.flaw == Some(Flaw::FreesOnCancel) {
                self.facts.booked.retain(|_, holder| *holder != run);
            }
            self.stop(run, now, grace);
        }
    }

    pub(crate) fn evict(&mut self, at: u64, now: u64, grace: u64) {
        if let Some(run) = self.nth(at) {
            self.stop(run, now, grace);
        }
    }

    /// After a restore nothing is granted before every agent was heard.
    pub(crate) fn is_clear(&self) -> bool {
        self.contacts.iter().all(|contact| contact.is_known && contact.strangers.is_empty())
    }

    pub(crate) fn free_on<'a>(
        &'a self,
        node: &'static str,
        taken: &'a BTreeSet<(&'static str, u16)>,
    ) -> impl Iterator<Item = u16> + 'a {
        (0..GPUS).filter(move |gpu| {
            let place = (node, *gpu);
            !self.facts.booked.contains_key(&place) && !taken.contains(&place)
        })
    }

    pub(crate) fn stop_everything(&mut self, now: u64) {
        self.facts.queue.clear();
        for at in 0..self.facts.runs.len() as u64 {
            self.cancel(at, now, 1_000);
        }
    }

    pub(crate) fn keep(&mut self) {
        self.kept = self.facts.clone();
    }

    /// What happened since it was kept is not known any more.
    pub(crate) fn restore(&mut self) {
        self.facts = self.kept.clone();
        self.epoch += 1;
        let is_known = self.flaw == Some(Flaw::GrantsAfterRestore);
        for contact in &mut self.contacts {
            (contact.is_known, contact.strangers) = (is_known, BTreeMap::new());
        }
    }

    /// Somebody has looked: the machine is off.
    pub(crate) fn declare_dead(&mut self, agent: usize, now: u64) {
        let runs: Vec<RunId> = self.facts.runs.keys().copied().collect();
        for run in runs {
            self.give_up(run, agent, now);
        }
        let Contact { store, strangers, is_known, .. } = &mut self.contacts[agent];
        (*store, *is_known) = (None, true);
        strangers.clear();
    }

    pub(crate) fn nth(&self, at: u64) -> Option<RunId> {
        let at = usize::try_from(at % (self.facts.runs.len().max(1) as u64)).ok()?;
        self.facts.runs.keys().nth(at).copied()
    }

    fn stop(&mut self, run: RunId, now: u64, grace: u64) {
        self.next();
        if let Some(run) = self.facts.runs.get_mut(&run) {
            run.kill_at = Some(run.kill_at.map_or(now + grace, |earlier| earlier.min(now + grace)));
        }
    }

    // What time brings.

    pub(crate) fn pass(&mut self, now: u64) {
        let runs: Vec<(RunId, Run)> = self.facts.runs.iter().map(|(id, run)| (*id, run.clone())).collect();
        for (id, run) in runs {
            if !run.is_confirmed && run.kill_at.is_none() && run.granted + START_WITHIN_MS < now {
                self.stop(id, now, 0);
            }
            if self.flaw == Some(Flaw::FreesAtGraceEnd) && run.kill_at.is_some_and(|at| at <= now) {
                self.facts.booked.retain(|_, holder| *holder != id);
            }
            for agent in run.parts.keys() {
                let silent = self.contacts[*agent].heard.map_or(0, |heard| now.saturating_sub(heard));
                let is_lost = run.stop_after_ms.is_some_and(|after| after + after / 10 + LOST_MARGIN_MS < silent);
                if is_lost || (self.flaw == Some(Flaw::LostInSilence) && silent > 30_000) {
                    self.give_up(id, *agent, now);
                }
            }
        }
        self.grant(now);
    }

    fn give_up(&mut self, run: RunId, agent: usize, now: u64) {
        let part = self.facts.runs.get(&run).filter(|run| run.parts.get(&agent).is_some_and(|part| !part.has_ended));
        if let Some(part) = part {
            self.given_up.push(part.job.clone());
            self.end(run, agent, false, now);
        }
    }

    fn grant(&mut self, now: u64) {
        if !self.is_clear() {
            return;
        }
        let waiting: Vec<(String, (u32, u16))> = self.facts.queue.clone().into_iter().collect();
        for (job, (world, gpus)) in waiting {
            let mut parts: BTreeMap<usize, Part> = BTreeMap::new();
            let mut taken = BTreeSet::new();
            for rank in 0..world {
                // The pods of a gang go to different nodes where they can.
                let found = NODES.iter().cycle().skip(rank as usize).take(NODES.len()).find_map(|(node, agent)| {
                    let free: Vec<u16> = self.free_on(node, &taken).take(gpus.into()).collect();
                    (free.len() == usize::from(gpus)).then_some((*node, *agent, free))
                });
                let Some((node, agent, gpus)) = found else { break };
                taken.extend(gpus.iter().map(|gpu| (node, *gpu)));
                parts.entry(agent).or_default().pods.push(Pod { rank, node: node.to_owned(), gpus });
            }
            if taken.len() < world as usize * usize::from(gpus) {
                continue;
            }
            let id = RunId::new(self.next());
            self.facts.booked.extend(taken.into_iter().map(|place| (place, id)));
            self.facts.queue.remove(&job);
            *self.facts.attempts.entry(job.clone()).or_default() += 1;
            let stop_after_ms = self.facts.revision.is_multiple_of(3).then_some(STOP_AFTER_MS);
            let run = Run {
                job,
                world,
                n_pods: world,
                parts,
                stop_after_ms,
                granted: now,
                is_confirmed: false,
                kill_at: None,
                is_done: true,
            };
            self.facts.runs.insert(id, run);
        }
    }

    fn end(&mut self, id: RunId, agent: usize, is_done: bool, now: u64) {
        let Some(run) = self.facts.runs.get_mut(&id) else { return };
        let Some(part) = run.parts.get_mut(&agent).filter(|part| !part.has_ended) else { return };
        part.has_ended = true;
        // Those that were told to leave do not speak for the run.
        let is_done = is_done || part.pods.is_empty();
        run.is_done &= is_done;
        for pod in part.pods.iter().chain(part.leaving.iter().map(|(_, pod, _)| pod)) {
            self.facts
                .booked
                .retain(|place, holder| *holder != id || place.0 != pod.node || !pod.gpus.contains(&place.1));
        }
        let is_over = run.parts.values().all(|part| part.has_ended);
        let mut is_finished = run.is_done;
        if self.flaw == Some(Flaw::QueuesAfterFinish) && run.kill_at.is_some() {
            is_finished = false;
        }
        let (job, shape) = (run.job.clone(), self.shape(id));
        self.next();
        if !is_over {
            // The rest of a gang goes on or ends by itself; when one has failed, all are told to stop.
            if !is_done {
                self.stop(id, now, 2_000);
            }
            return;
        }
        self.facts.runs.remove(&id);
        let attempts = self.facts.attempts.get(&job).copied().unwrap_or_default();
        if !is_finished && attempts < RUNS_OF_A_JOB_MAX {
            self.facts.queue.insert(job, shape);
        }
    }

    fn shape(&self, id: RunId) -> (u32, u16) {
        let run = &self.facts.runs[&id];
        (run.world, u16::try_from(self.gpus_of_a_pod(id)).unwrap_or_default())
    }

    pub(crate) fn gpus_of_a_pod(&self, id: RunId) -> usize {
        let parts = self.facts.runs[&id].parts.values();
        let pods = parts.flat_map(|part| part.pods.iter().chain(part.leaving.iter().map(|(_, pod, _)| pod)));
        pods.map(|pod| pod.gpus.len()).next().unwrap_or_default()
    }

    // What agents say.

    pub(crate) fn hello(&mut self, agent: usize, hello: &Hello) -> Option<Welcome> {
        let holds = self.facts.runs.values().any(|run| run.parts.get(&agent).is_some_and(|part| !part.has_ended));
        let contact = &mut self.contacts[agent];
        let is_other = contact.store.as_ref().is_some_and(|store| *store != hello.store);
        // Another store does not know what was claimed; while it is not known what the first one has, it has something.
        if is_other && (holds || !contact.is_known || !contact.strangers.is_empty()) {
            return None;
        }
        contact.store = Some(hello.store.clone());
        contact.incarnation += 1;
        Some(Welcome { format: FORMAT, incarnation: contact.incarnation })
    }

    /// The answer; none for an agent that is not the newest.
    pub(crate) fn sync(&mut self, agent: usize, request: &SyncRequest, now: u64) -> Option<SyncAnswer> {
        request.check().expect("agents write good requests");
        if request.incarnation != self.contacts[agent].incarnation {
            return None;
        }
        self.contacts[agent].heard = Some(now);
        let mut strangers = BTreeMap::new();
        let mut forget = Vec::new();
        let lives = request.lives.iter().map(|run| RunReport::of_living(*run));
        let reports: Vec<RunReport> = request.runs.iter().cloned().chain(lives).collect();
        for report in &reports {
            let id = self.meant(report.run, &report.job);
            let is_known = self.facts.runs.get(&id).is_some_and(|run| run.parts.contains_key(&agent));
            match &report.state {
                RunState::Running if is_known => {
                    if let Some(run) = self.facts.runs.get_mut(&id) {
                        run.is_confirmed = true;
                    }
                    self.vacate(id, agent, &report.gone);
                    if report.run.epoch() < self.epoch && report.places.iter().any(|place| !self.has(id, agent, place))
                    {
                        strangers.insert(report.run, report.job.clone());
                    }
                }
                RunState::Ended(exit) => {
                    self.end(id, agent, *exit == Exit::Code(0), now);
                    forget.push(report.run);
                }
                RunState::Prepared | RunState::Running | RunState::Stopping => {
                    // A late request may tell of runs whose end is known; only those of an earlier epoch are strange.
                    if !is_known && report.run.epoch() < self.epoch {
                        strangers.insert(report.run, report.job.clone());
                    }
                }
            }
        }
        if request.answered.is_some_and(|answered| answered.epoch == self.epoch) {
            let contact = &mut self.contacts[agent];
            (contact.is_known, contact.strangers) = (true, strangers);
        }
        let has_begun = |report: &&RunReport| matches!(report.state, RunState::Running | RunState::Stopping);
        let begun = reports.iter().filter(has_begun).map(|report| (report.run, report)).collect();
        Some(self.answer(agent, &begun, forget, now))
    }

    /// Which run a report ends.
    fn meant(&self, run: RunId, job: &str) -> RunId {
        let current = self.facts.runs.iter().find(|(_, run)| run.job == job);
        match (self.flaw, current) {
            (Some(Flaw::AnyRunEnds), Some((current, _))) => *current,
            _ => run,
        }
    }

    fn answer(&self, agent: usize, begun: &BTreeMap<RunId, &RunReport>, forget: Vec<RunId>, now: u64) -> SyncAnswer {
        let (mut want, mut keep, mut change, mut stop) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mine = |(id, run): (&RunId, &Run)| {
            run.parts.get(&agent).filter(|part| !part.has_ended).map(|part| (*id, run.clone(), part.clone()))
        };
        for (id, run, Part { pods, leaving, .. }) in self.facts.runs.iter().filter_map(mine) {
            let order = |at: u64| StopOrder { run: id, job: run.job.clone(), kill_in_ms: at.saturating_sub(now) };
            if let Some(kill_at) = run.kill_at {
                stop.push(order(kill_at));
                continue;
            }
            let told = begun.get(&id);
            if let (None, true) = (told, pods.is_empty()) {
                // What has not begun, and has nothing to begin with any more, is ruled out.
                stop.extend(leaving.iter().map(|(.., at)| *at).min().map(order));
                continue;
            }
            let is_other = |told: &&RunReport| {
                told.pods != pods.len() || told.places.iter().any(|place| !self.has(id, agent, place))
            };
            if !leaving.is_empty() || told.is_some_and(is_other) {
                let leave = leaving.iter().map(|(order, pod, at)| {
                    let (places, kill_in_ms) = (vec![Place::of(pod)], at.saturating_sub(now));
                    LeaveOrder { order: *order, places, kill_in_ms }
                });
                change.push(Change { run: id, pods: pods.clone(), leave: leave.collect() });
            }
            if told.is_some() {
                keep.push(id);
                continue;
            }
            want.push(Want {
                run: id,
                job: run.job,
                pods,
                world: run.world,
                leader: NODES[0].0.to_owned(),
                port: 29_500,
                script: "digest".to_owned(),
                stop_after_ms: run.stop_after_ms,
            });
        }
        SyncAnswer {
            format: FORMAT,
            incarnation: self.contacts[agent].incarnation,
            version: Version { epoch: self.epoch, revision: self.facts.revision },
            interval_ms: 1_000,
            forget: forget.into_iter().filter(|run| want.iter().all(|want| want.run != *run)).collect(),
            want,
            keep,
            change,
            stop,
            offered: Vec::new(),
        }
    }

    // What is asked of it.

    pub(crate) fn knows_as_its_own(&self, agent: usize, store: &str) -> bool {
        self.contacts[agent].store.as_deref() == Some(store)
    }

    /// After a restore it does not claim to know what is free before every agent was heard.
    pub(crate) fn is_free(&self, node: &str, gpu: u16) -> bool {
        let is_known = self.contacts.iter().all(|contact| contact.is_known && contact.strangers.is_empty());
        is_known && !self.facts.booked.contains_key(&(node, gpu))
    }

    pub(crate) fn left_over(&self) -> Option<String> {
        let (n_runs, n_booked) = (self.facts.runs.len(), self.facts.booked.len());
        (n_runs + n_booked > 0).then(|| format!("{n_runs} runs and {n_booked} GPUs in the books"))
    }
}
