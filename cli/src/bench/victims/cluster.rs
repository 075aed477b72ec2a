//! Clusters in which somebody has to give way: two quotas on the same machines, of which one lends what it does not use.

use engine::host::authority;
use engine::job::phase::Charge;
use engine::job::spec::IdlePolicy;
use engine::message::command::AmountByName;
use engine::message::command::CancelJob;
use engine::message::command::Command;
use engine::message::command::CreateCluster;
use engine::message::command::CreateQuota;
use engine::message::command::PodGroup;
use engine::message::command::PutGroup;
use engine::message::command::PutNode;
use engine::message::command::Round;
use engine::message::command::SubmitJob;
use engine::message::event::Event;
use engine::quota::policy::Scope;
use engine::quota::policy::SelfLevelPreemption;
use engine::quota::settings::QuotaSettings;
use engine::schedule::work;
use engine::state::cluster::Execution;
use engine::state::cluster::NodeStatus;
use engine::state::world::State;
use engine::unit::amount::Dimension;
use engine::unit::amount::DimensionKind;
use engine::unit::amount::GPU;
use engine::unit::id::GroupId;
use engine::unit::id::JobId;
use engine::unit::id::JobNo;
use engine::unit::id::NodeId;
use engine::unit::id::QuotaId;
use engine::unit::priority::Module;
use engine::unit::priority::Priority;
use engine::unit::priority::PrioritySet;
use engine::unit::resource::ResourceType;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;

use crate::bench::victims::optimum::Candidate;
use crate::bench::victims::optimum::Cost;
use crate::bench::victims::optimum::Node;
use crate::bench::victims::optimum::Question;
use crate::workload::Random;

const NODE_GPUS: i64 = 8;
/// The highest priority that may be taken, and one that is safe.
const LOW_MAX: i64 = 4;
const SAFE: i64 = 6;
const HIGH: i64 = 9;
/// Moments at which jobs start, so that they have lost different amounts of work.
const STEPS: i64 = 12;

/// A cluster whose quota `asks` is nearly full.
#[derive(Clone, Debug)]
pub struct Crowd {
    state: State,
    now: Timestamp,
}

impl Crowd {
    /// A crowd on so many nodes of 8 GPUs. With one class only, every victim has the same priority and none borrows, so
    /// that what victims cost is one number.
    pub fn gather(nodes: u32, has_one_class: bool, seed: u64) -> Result<Self, String> {
        let mut crowd = Self { state: State::default(), now: Timestamp(0) };
        let mut random = Random::of(seed);
        let gpus = i64::from(nodes) * NODE_GPUS;
        let theirs = if has_one_class { gpus / 8 } else { gpus * 3 / 8 };
        crowd.found(nodes, gpus - theirs, theirs)?;
        for step in 0..STEPS {
            // Most come at first; later ones fill the gaps that cancelled ones leave.
            let count = if step == 0 { u64::from(nodes) * 2 } else { 1 + u64::from(nodes) / 4 };
            for at in 0..count {
                let kind = random.below(8);
                let (quota, idle, priority) = match kind {
                    0 if !has_one_class => ("lends", IdlePolicy::Only, 1 + below(&mut random, 3)),
                    1 => ("lends", IdlePolicy::Off, SAFE),
                    2 => ("asks", IdlePolicy::Off, SAFE),
                    _ if has_one_class => ("asks", IdlePolicy::Off, 1),
                    _ => ("asks", IdlePolicy::Off, 1 + below(&mut random, LOW_MAX)),
                };
                let largest = if step == 0 { 8 } else { 3 };
                let job = job(&format!("j-{step}-{at}"), quota, 1, 1 + below(&mut random, largest), priority, idle)?;
                crowd.stage(&Command::SubmitJob(job))?;
            }
            crowd.send(&Command::Round(Round::default()))?;
            crowd.now = crowd.now + Millis(60_000 + below(&mut random, 3_600_000));
            if step + 1 < STEPS {
                crowd.thin_out(&mut random)?;
            }
        }
        crowd.dismiss_waiting()?;
        crowd.now = crowd.now + Millis(1 + below(&mut random, 3_600_000));
        Ok(crowd)
    }

    fn found(&mut self, nodes: u32, asks: i64, lends: i64) -> Result<(), String> {
        let gpu = Dimension { name: "gpu".to_owned(), kind: DimensionKind::Gpu };
        let group = GroupId::new("machines").map_err(|bad| bad.to_string())?;
        self.stage(&Command::CreateCluster(CreateCluster { dimensions: vec![gpu], execution: Execution::Simulated }))?;
        let put = PutGroup { group: group.clone(), resource_type: ResourceType::Lingjun, pool: None, on_silence: None };
        self.stage(&Command::PutGroup(put))?;
        for at in 0..nodes {
            self.stage(&Command::PutNode(PutNode {
                node: NodeId::new(&format!("n-{at:04}")).map_err(|bad| bad.to_string())?,
                group: group.clone(),
                node_type: None,
                gpu_type: None,
                amount: amount(NODE_GPUS),
                status: NodeStatus::Ready,
            }))?;
        }
        let set =
            |low: i64, high: i64| -> PrioritySet { (low..=high).filter_map(|it| Priority::new(it).ok()).collect() };
        let policy = SelfLevelPreemption {
            high: set(HIGH, HIGH),
            low: set(1, LOW_MAX),
            modules: Module::ALL.into_iter().collect(),
            scope: Scope::Own,
        };
        let at_once = QuotaSettings { grace_period: Millis::ZERO, ..QuotaSettings::default() };
        let preempts = QuotaSettings { self_level: Some(policy), ..at_once.clone() };
        let quotas = [
            ("root", None, asks + lends, at_once.clone()),
            ("asks", Some("root"), asks, preempts),
            ("lends", Some("root"), lends, at_once),
        ];
        for (name, parent, min, settings) in quotas {
            let groups = if parent.is_none() { vec![group.clone()] } else { Vec::new() };
            let parent = parent.map(quota).transpose()?;
            let create = CreateQuota { quota: quota(name)?, parent, groups, min: amount(min), settings };
            self.stage(&Command::CreateQuota(create))?;
        }
        Ok(())
    }

    /// Some of those who run go, so that the machines have gaps.
    fn thin_out(&mut self, random: &mut Random) -> Result<(), String> {
        let running = self.state.jobs.iter().filter(|(_, job)| job.is_running());
        let gone: Vec<JobId> = running.filter(|_| random.below(9) == 0).map(|(_, job)| job.spec.id.clone()).collect();
        gone.into_iter().try_for_each(|job| self.stage(&Command::CancelJob(CancelJob { job })))
    }

    fn dismiss_waiting(&mut self) -> Result<(), String> {
        let waiting = self.state.jobs.iter().filter(|(_, job)| job.is_queued());
        let gone: Vec<JobId> = waiting.map(|(_, job)| job.spec.id.clone()).collect();
        gone.into_iter().try_for_each(|job| self.stage(&Command::CancelJob(CancelJob { job })))
    }

    fn stage(&mut self, command: &Command) -> Result<(), String> {
        let events =
            engine::transition::decide(&self.state, command, self.now).map_err(|rejection| rejection.to_string())?;
        engine::transition::apply_all(&mut self.state, &events);
        Ok(())
    }

    fn send(&mut self, command: &Command) -> Result<Vec<Event>, String> {
        authority::step(&mut self.state, command, self.now).map_err(|rejection| rejection.to_string())
    }

    /// The question that a job of so many pods of so many GPUs puts.
    #[must_use]
    pub fn question(&self, pods: u32, each: i64) -> Question {
        let state = &self.state;
        let mut nodes: Vec<Node> =
            state.nodes.iter().map(|node| Node { free: whole(node.amount[0]), candidates: Vec::new() }).collect();
        for (no, job) in state.jobs.iter().filter(|(_, job)| job.is_running()) {
            let gpus = whole(job.spec.shape.gang_amount()[0]);
            for pod in job.placed().map_or(&[][..], |placed| &placed.pods) {
                nodes[pod.node.at()].free -= gpus;
                nodes[pod.node.at()].candidates.extend(self.candidate(no));
            }
        }
        let asks = state.quotas.iter().position(|quota| quota.id.as_str() == "asks").unwrap_or(0);
        let left = state.quotas[asks].min.amount[0] - state.ledger.quotas[asks].used[0];
        let short = i64::from(pods) * each - left / GPU;
        Question {
            nodes,
            pods: usize::try_from(pods).unwrap_or(0),
            each: usize::try_from(each).unwrap_or(1),
            short: usize::try_from(short).unwrap_or(0),
        }
    }

    /// The job as a victim, if it may be taken: who borrows, and who is of low priority in the quota that asks.
    fn candidate(&self, no: JobNo) -> Option<Candidate> {
        let job = &self.state.jobs[no];
        let (charge, priority) = (job.placed()?.charge, job.spec.priority.get());
        let is_in_quota = charge == Charge::InQuota;
        let low = i64::from(priority) <= LOW_MAX;
        let asks = self.state.quotas[job.spec.quota.at()].id.as_str() == "asks";
        if is_in_quota && !(asks && low) {
            return None;
        }
        let amount = job.spec.shape.gang_amount();
        let below = usize::from(if is_in_quota { 4 - priority } else { 8 - priority });
        let lost = work::gpu_ms(&self.state, &amount, work::unsaved_run(&self.state, job, self.now));
        Some(Candidate { gpus: whole(amount[0]), class: below, lost, is_in_quota })
    }

    /// What the engine takes for such a job; nothing if it does not start it.
    pub fn answer(&self, pods: u32, each: i64) -> Result<Option<Cost>, String> {
        let mut copy = self.clone();
        let submit = job("urgent", "asks", pods, each, HIGH, IdlePolicy::Off)?;
        let mut cost = Cost::default();
        let mut has_started = false;
        for event in copy.send(&Command::SubmitJob(submit))? {
            if let Event::Evicted { job, .. } = event {
                cost += self.candidate(job).map(|it| Cost::of(&it)).ok_or("the engine took a job that is safe")?;
            }
            has_started |= matches!(event, Event::Started { .. });
        }
        Ok(has_started.then_some(cost))
    }
}

fn below(random: &mut Random, limit: i64) -> i64 {
    i64::try_from(random.below(u64::try_from(limit).unwrap_or(1))).unwrap_or(0)
}

fn whole(thousandths: i64) -> usize {
    usize::try_from(thousandths / GPU).unwrap_or(0)
}

fn amount(gpus: i64) -> AmountByName {
    AmountByName::from([("gpu".to_owned(), gpus * GPU)])
}

fn quota(name: &str) -> Result<QuotaId, String> {
    QuotaId::new(name).map_err(|bad| bad.to_string())
}

fn job(name: &str, of: &str, pods: u32, each: i64, priority: i64, idle: IdlePolicy) -> Result<SubmitJob, String> {
    let pods = vec![PodGroup { count: pods, amount: amount(each) }];
    Ok(SubmitJob {
        quota: Some(quota(of)?),
        priority: Priority::new(priority).map_err(|bad| bad.to_string())?,
        idle,
        ..SubmitJob::new(JobId::new(name).map_err(|bad| bad.to_string())?, pods)
    })
}
