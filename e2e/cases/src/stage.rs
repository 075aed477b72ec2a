//! Sets the scene of a case: the cluster by commands, the running jobs by events.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use engine::job::spec::FaultTolerance;
use engine::job::spec::IdlePolicy;
use engine::message::command::AmountByName;
use engine::message::command::Command;
use engine::message::command::CreateCluster;
use engine::message::command::CreateQuota;
use engine::message::command::NodesByName;
use engine::message::command::PodGroup;
use engine::message::command::PutGroup;
use engine::message::command::PutNode;
use engine::message::command::SubmitJob;
use engine::message::event::Event;
use engine::quota::policy::ChildLevelPreemption;
use engine::quota::policy::Scope;
use engine::quota::policy::SelfLevelPreemption;
use engine::quota::settings::QuotaSettings;
use engine::state::cluster::Execution;
use engine::state::cluster::NodeStatus;
use engine::unit::amount::Dimension;
use engine::unit::amount::DimensionKind;
use engine::unit::id::GroupId;
use engine::unit::id::JobId;
use engine::unit::id::NodeId;
use engine::unit::limit::NODE_GPUS_MAX;
use engine::unit::priority::Module;
use engine::unit::priority::ModuleSet;
use engine::unit::priority::Priority;
use engine::unit::priority::PrioritySet;
use engine::unit::resource::ResourceType;
use engine::unit::time::Millis;
use script::session::Session;

use crate::case::Case;
use crate::case::EventCase;
use crate::case::JobCase;
use crate::case::Kind;
use crate::case::PolicyCase;
use crate::case::QuotaCase;
use crate::case::Run;
use crate::case::Units;
use crate::case::parents_first;
use crate::name::job_id;
use crate::name::quota_id;
use crate::name::seconds;
use crate::place;
use engine::unit::decimal::thousandths;

/// The resource group of every case.
const GROUP: &str = "machines";
/// A grace period that never ends within a case: who has it stops when a report says so.
const FOREVER: Millis = Millis(1000 * 86_400_000);

/// What a named alternative changes of the setting.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Settings {
    /// The scope of every self-level policy.
    pub(crate) scope: Option<Scope>,
    /// Whether a quota that shrinks evicts.
    pub(crate) evicts: Option<bool>,
}

/// A case on its stage.
#[derive(Clone, Debug)]
pub(crate) struct Stage {
    pub(crate) session: Session,
    /// When a job really stops after a signal, in milliseconds, where the case says so.
    pub(crate) exits: BTreeMap<JobId, Option<Millis>>,
    /// Whether the engine waits for reports.
    pub(crate) is_reported: bool,
    /// Jobs that hang in termination from the beginning.
    pub(crate) stuck: BTreeSet<JobId>,
}

impl Stage {
    /// The state in which a case begins.
    pub(crate) fn of(case: &Case, settings: Settings) -> Result<Self, String> {
        Self::on(case, settings, ResourceType::General)
    }

    /// The same, with bids on machines of this kind.
    pub(crate) fn on(case: &Case, settings: Settings, machines: ResourceType) -> Result<Self, String> {
        let now = seconds(case.now);
        let jobs: Vec<&JobCase> = case.jobs.iter().chain(submitted(case)).collect();
        let is_reported = jobs.iter().any(|job| job.exit_after_s.is_some());
        let exits = jobs
            .iter()
            .map(|job| Ok((job_id(&job.id)?, job.exit_after_s.map(Millis::from_seconds))))
            .collect::<Result<_, String>>()?;
        let mut stage = Self { session: Session::at(now), exits, is_reported, stuck: BTreeSet::new() };
        stage.create_cluster(case, &jobs)?;
        stage.create_machines(case)?;
        for quota in parents_first(&case.quotas)? {
            stage.create_quota(quota, settings)?;
        }
        stage.shrink_pool(case)?;
        stage.create_offer(case, machines)?;
        for job in &case.jobs {
            stage.bring(job)?;
        }
        stage.run_market(case)?;
        Ok(stage)
    }

    pub(crate) fn command(&mut self, command: &Command) -> Result<Vec<Event>, String> {
        let now = self.session.now;
        self.session.stage(command, now).map_err(|rejection| rejection.to_string())
    }

    fn create_cluster(&mut self, case: &Case, jobs: &[&JobCase]) -> Result<(), String> {
        let mut names: BTreeSet<&str> = BTreeSet::new();
        names.extend(case.cluster.iter().flatten().map(|(name, _)| name.as_str()));
        names.extend(case.nodes.iter().flat_map(|node| node.amount.keys().map(String::as_str)));
        names.extend(case.quotas.iter().flat_map(|quota| quota.amount.keys().map(String::as_str)));
        names.extend(jobs.iter().flat_map(|job| &job.pods).flat_map(|pod| pod.amount.keys().map(String::as_str)));
        let dimensions =
            names.iter().map(|name| Dimension { name: (*name).to_owned(), kind: kind_of(name, case) }).collect();
        let execution = if self.is_reported { Execution::Reported } else { Execution::Simulated };
        self.command(&Command::CreateCluster(CreateCluster { dimensions, execution })).map(drop)
    }

    /// An amount in the cluster's own units.
    pub(crate) fn amount(&self, what: &str, units: &Units) -> Result<AmountByName, String> {
        let value = |(name, number): (&String, &serde_json::Number)| {
            let kind =
                self.session.state.cluster.dimension(name).map(|at| self.session.state.cluster.dimensions[at].kind);
            let thousandths = thousandths(&number.to_string()).ok_or_else(|| {
                format!("{what}: {name} is {number}; write a decimal number with at most three digits after the point")
            })?;
            let value = match kind {
                Some(DimensionKind::Gpu | DimensionKind::Cpu) => thousandths,
                Some(DimensionKind::Memory | DimensionKind::Other) | None => thousandths / 1000,
            };
            Ok((name.clone(), value))
        };
        units.iter().map(value).collect()
    }

    /// What the roots of a case state in all, and where that exceeds the machines.
    fn wanted(&self, case: &Case) -> Result<AmountByName, String> {
        let mut wanted = AmountByName::new();
        for root in case.quotas.iter().filter(|quota| quota.parent.is_none()) {
            for (name, value) in self.amount(&root.id, &root.amount)? {
                *wanted.or_default(name) += value;
            }
        }
        Ok(wanted)
    }

    fn create_machines(&mut self, case: &Case) -> Result<(), String> {
        let wanted = self.wanted(case)?;
        if case.nodes.is_empty() {
            let mut pool = self.amount("the cluster", &case.cluster.clone().unwrap_or_default())?;
            for (name, value) in wanted {
                let here = pool.or_default(name);
                *here = value.max(*here);
            }
            if self.is_reported {
                // What really runs does so on a node.
                self.put_group(None)?;
                return self.put_node("machine", pool, NodeStatus::Ready);
            }
            return self.put_group(Some(pool));
        }
        self.put_group(None)?;
        let mut missing = wanted;
        for node in &case.nodes {
            let amount = self.amount(&node.id, &node.amount)?;
            for (name, value) in &amount {
                *missing.or_default(name.clone()) -= value;
            }
            self.put_node(&node.id, amount, NodeStatus::Ready)?;
        }
        self.add_cordoned(missing)
    }

    fn put_group(&mut self, pool: Option<AmountByName>) -> Result<(), String> {
        let group = GroupId::new(GROUP).map_err(|bad| bad.to_string())?;
        let resource_type = ResourceType::Lingjun;
        self.command(&Command::PutGroup(PutGroup { group, resource_type, pool, on_silence: None })).map(drop)
    }

    fn put_node(&mut self, name: &str, amount: AmountByName, status: NodeStatus) -> Result<(), String> {
        let node = NodeId::new(name).map_err(|bad| bad.to_string())?;
        let group = GroupId::new(GROUP).map_err(|bad| bad.to_string())?;
        self.command(&Command::PutNode(PutNode { node, group, node_type: None, gpu_type: None, amount, status }))
            .map(drop)
    }

    /// Where quotas exceed the machines, the difference stands on nodes that nothing can start on.
    fn add_cordoned(&mut self, missing: AmountByName) -> Result<(), String> {
        let per_node = i64::try_from(NODE_GPUS_MAX).unwrap_or(16) * 1000;
        for (name, mut value) in missing {
            let mut count = 0;
            while value > 0 {
                let here = value.min(per_node).max(if value < 1000 { 1000 } else { 0 });
                self.put_node(
                    &format!("cordoned-{name}-{count}"),
                    AmountByName::from([(name.clone(), here)]),
                    NodeStatus::Cordoned,
                )?;
                value -= here;
                count += 1;
            }
        }
        Ok(())
    }

    /// A pool that is smaller than what its quotas state is brought to its size once the quotas stand: a command
    /// would be refused, but machines that break do not ask.
    fn shrink_pool(&mut self, case: &Case) -> Result<(), String> {
        let is_pool = case.nodes.is_empty() && !self.is_reported;
        let (true, Some(cluster)) = (is_pool, &case.cluster) else { return Ok(()) };
        let amount = self.amount("the cluster", cluster)?;
        let Some(group) = self.session.state.groups.first() else { return Ok(()) };
        let mut group = group.clone();
        let mut pool = engine::unit::amount::Amount::ZERO;
        for (name, value) in amount {
            if let Some(at) = self.session.state.cluster.dimension(&name) {
                pool[at] = value;
            }
        }
        if group.pool != Some(pool) {
            group.pool = Some(pool);
            self.session.apply(Event::GroupPut { no: engine::unit::id::GroupNo(0), group: group.into() });
        }
        Ok(())
    }

    fn create_quota(&mut self, case: &QuotaCase, settings: Settings) -> Result<(), String> {
        let QuotaCase { id, parent, amount, policy } = case;
        let groups =
            if parent.is_none() { vec![GroupId::new(GROUP).map_err(|bad| bad.to_string())?] } else { Vec::new() };
        let create = CreateQuota {
            quota: quota_id(id)?,
            parent: parent.as_deref().map(quota_id).transpose()?,
            groups,
            min: self.amount(id, amount)?,
            settings: self.settings(id, policy, settings)?,
        };
        self.command(&Command::CreateQuota(create)).map(drop)
    }

    fn settings(&self, id: &str, policy: &PolicyCase, settings: Settings) -> Result<QuotaSettings, String> {
        let PolicyCase { self_level, child, min_runtime_s, grace_s } = policy;
        let default_grace = if self.is_reported { FOREVER } else { Millis::ZERO };
        let mut result = QuotaSettings {
            grace_period: grace_s.map_or(default_grace, Millis::from_seconds),
            min_runtime: Millis::from_seconds(min_runtime_s.unwrap_or(0)),
            ..QuotaSettings::default()
        };
        if let Some(policy) = self_level {
            let scope = match settings.scope {
                Some(scope) => scope,
                None => {
                    scope_of(policy.scope.as_deref().unwrap_or("siblings")).map_err(|error| format!("{id}: {error}"))?
                }
            };
            let (high, low) = (priorities(&policy.high)?, priorities(&policy.low)?);
            result.self_level = Some(SelfLevelPreemption { high, low, modules: modules(&policy.modules)?, scope });
        }
        if let Some(policy) = child {
            result.child_level = Some(ChildLevelPreemption {
                preemptible: priorities(&policy.victims)?,
                modules: modules(&policy.modules)?,
            });
        }
        Ok(result)
    }

    /// Submits a job without a round, at the time the case gives.
    pub(crate) fn submit(&mut self, job: &JobCase) -> Result<(), String> {
        let at = job.submit.or(job.start).map_or(self.session.now, seconds).min(self.session.now);
        let command = Command::SubmitJob(self.submission(job)?);
        self.session.stage(&command, at).map(drop).map_err(|rejection| rejection.to_string())
    }

    pub(crate) fn submission(&self, job: &JobCase) -> Result<SubmitJob, String> {
        let mut pods: Vec<PodGroup> = Vec::new();
        for pod in &job.pods {
            let amount = self.amount(&job.id, &pod.amount)?;
            match pods.last_mut().filter(|last| last.amount == amount) {
                Some(last) => last.count += 1,
                None => pods.push(PodGroup { count: 1, amount }),
            }
        }
        let splits = job.gang == Some(false) && pods.len() == 1 && job.pods.len() > 1;
        let submission = SubmitJob {
            job: job_id(&job.id)?,
            quota: (job.kind != Kind::Spot).then(|| quota_id(&job.quota)).transpose()?,
            spot: None,
            workspace: None,
            user: None,
            name: None,
            module: job.module.as_deref().map_or(Ok(Module::Dlc), module)?,
            priority: Priority::new(job.priority.unwrap_or(1)).map_err(|bad| format!("{}: {bad}", job.id))?,
            pods,
            min_pods: job.min_pods.or(splits.then_some(1)),
            nodes: NodesByName::default(),
            idle: match job.kind {
                Kind::Regular | Kind::Spot => IdlePolicy::Off,
                Kind::IdleAcceptable => IdlePolicy::Acceptable,
                Kind::IdleOnly => IdlePolicy::Only,
            },
            fault_tolerance: job.requeue.unwrap_or(false).then_some(FaultTolerance { max_restarts: 1000 }),
            duration_ms: job.duration_s.map(Millis::from_seconds),
            checkpoint_ms: job.checkpoint_interval_s.map(Millis::from_seconds),
        };
        if job.kind == Kind::Spot { self.with_bid(job, submission) } else { Ok(submission) }
    }

    /// Brings a job into the state in which the case finds it.
    fn bring(&mut self, job: &JobCase) -> Result<(), String> {
        if job.run == Run::Queued {
            return self.submit(job);
        }
        let mut early = job.clone();
        early.start = Some(job.start.unwrap_or(0).min(self.session.now.0 / 1000));
        self.submit(&early)?;
        place::run(&mut self.session, &early)?;
        if job.run == Run::Terminating {
            place::hang(&mut self.session, &job.id, FOREVER)?;
            self.stuck.insert(job_id(&job.id)?);
        }
        Ok(())
    }
}

/// The jobs that a case submits.
pub(crate) fn submitted(case: &Case) -> impl Iterator<Item = &JobCase> {
    match &case.event {
        EventCase::Submit { jobs } => jobs.as_slice(),
        EventCase::Scale { .. } | EventCase::PricePath { .. } => &[],
    }
    .iter()
}

/// What a resource counts. GPUs of a node are told apart one by one; where a node has more of them than the engine
/// tells apart, or two types, they are counted only.
fn kind_of(name: &str, case: &Case) -> DimensionKind {
    let is_gpu = |name: &str| name.starts_with("gpu") || name.bytes().any(|byte| byte.is_ascii_digit());
    let most = i64::try_from(NODE_GPUS_MAX).unwrap_or(16) * 1000;
    let is_too_much = |node: &Units| {
        node.get(name)
            .and_then(|number| thousandths(&number.to_string()))
            .is_some_and(|value| value > most || value % 1000 != 0)
            || node.keys().filter(|other| is_gpu(other)).count() > 1
    };
    match name {
        "cpu" => DimensionKind::Cpu,
        "memory" | "mem" => DimensionKind::Memory,
        _ if is_gpu(name) && !case.nodes.iter().any(|node| is_too_much(&node.amount)) => DimensionKind::Gpu,
        _ => DimensionKind::Other,
    }
}

/// The engine's scope for a word of the schema.
pub(crate) fn scope_of(word: &str) -> Result<Scope, String> {
    match word {
        "same_quota" => Ok(Scope::Own),
        "siblings" => Ok(Scope::SameLevel),
        "siblings_idle_only" => Ok(Scope::SiblingsIdle),
        other => Err(format!("scope {other:?} is not one of same_quota, siblings, siblings_idle_only")),
    }
}

fn priorities(list: &[i64]) -> Result<PrioritySet, String> {
    list.iter().map(|value| Priority::new(*value).map_err(|bad| bad.to_string())).collect()
}

fn modules(list: &[String]) -> Result<ModuleSet, String> {
    list.iter().map(|name| module(name)).collect()
}

fn module(name: &str) -> Result<Module, String> {
    Module::ALL
        .into_iter()
        .find(|module| module.as_str() == name)
        .ok_or_else(|| format!("module {name:?} is not one of DLC, DSW, EAS"))
}
