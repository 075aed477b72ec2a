//! Random runs: a cluster and a sequence of commands with their times, the same for a seed on every target.

use std::fmt::Write;

use engine::host::authority;
use engine::job::halt::Exit;
use engine::job::halt::Fault;
use engine::job::phase::Phase;
use engine::job::spec::FaultTolerance;
use engine::job::spec::IdlePolicy;
use engine::message::command::people::*;
use engine::message::command::*;
use engine::message::event::Event;
use engine::message::rejection::Rejection;
use engine::state::cluster::NodeStatus;
use engine::state::cluster::OnSilence;
use engine::state::world::State;
use engine::unit::amount::DimensionKind;
use engine::unit::id::JobId;
use engine::unit::id::NodeId;
use engine::unit::id::QuotaId;
use engine::unit::id::UserId;
use engine::unit::id::WorkspaceId;
use engine::unit::priority::Module;
use engine::unit::priority::Priority;
use engine::unit::time::Millis;
use engine::unit::time::Period;
use engine::unit::time::Timestamp;
use engine::workspace::key::KeyId;
use engine::workspace::role::Role;

use crate::bids;
use crate::cluster;
use crate::cluster::Layout;
use crate::random::Random;

/// Of so many commands, one is about workspaces.
const WORKSPACE_EVERY: usize = 12;

/// What a command came to.
pub(crate) type Outcome = Result<Vec<Event>, Rejection>;

/// A run in progress: it looks at its own state to choose commands that matter.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub(crate) state: State,
    pub(crate) layout: Layout,
    pub(crate) now: Timestamp,
    pub(crate) seed: u64,
    random: Random,
    market: Random,
    /// For what changes no schedule, so that it changes no other choice either.
    aside: Random,
    is_trading: bool,
    /// Whether it reports that jobs run.
    confirms: bool,
    jobs: Vec<JobId>,
    slot: i64,
    done: usize,
}

impl Run {
    pub(crate) fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let mut layout = Layout::random(&mut random);
        // A market has numbers of its own: what happens without one does not depend on it.
        let mut market = Random::new(seed ^ 0x5e11);
        if market.chance(40) && !layout.is_reported() {
            layout.add_market(&mut market);
        }
        Self {
            state: State::default(),
            layout,
            now: Timestamp(1_000_000),
            seed,
            random,
            market,
            aside: Random::new(seed ^ 0x77),
            is_trading: false,
            confirms: true,
            jobs: Vec::new(),
            slot: 16,
            done: 0,
        }
    }

    /// A run of jobs that really run.
    pub(crate) fn reported(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let layout = Layout::reported(&mut random);
        Self { layout, random, confirms: false, ..Self::new(seed) }
    }

    /// A run that is mostly about its market.
    pub(crate) fn on_market(seed: u64) -> Self {
        let mut run = Self::new(seed);
        run.layout.simulate();
        if run.layout.offers.is_empty() {
            run.layout.add_market(&mut run.market);
        }
        Self { is_trading: true, ..run }
    }

    /// A run of which so many commands have been handled.
    pub(crate) fn after(seed: u64, commands: usize) -> Self {
        let mut run = Self::new(seed);
        for _ in 0..commands {
            let _ = run.step();
        }
        run
    }

    /// The next command, at the time that it is sent.
    pub(crate) fn next(&mut self) -> (Timestamp, Command) {
        let at = self.done;
        self.done += 1;
        if let Some(command) = self.layout.setup.get(at) {
            return (self.now, command.clone());
        }
        if at.is_multiple_of(WORKSPACE_EVERY) {
            return (self.now, self.workspace());
        }
        if self.random.chance(40) {
            let wait = self.random.pick(&[1, 1_000, 15_000, 30_000, 60_000, 60_000, 600_000, 3_600_000, 9 * 3_600_000]);
            self.now = self.now + Millis(wait);
        }
        if let Some(confirmed) = self.confirm() {
            return (self.now, confirmed);
        }
        let command = self.choose();
        (self.now, command)
    }

    /// Mostly what is told to start does so, where others report it.
    fn confirm(&mut self) -> Option<Command> {
        let (_, job) = self.state.jobs.iter().find(|(_, job)| job.is_unconfirmed() && self.confirms)?;
        let (job, run) = (job.spec.id.clone(), job.run_no());
        self.aside.chance(60).then_some(Command::Report(Report { job, run, observed: Observation::Confirmed }))
    }

    /// Handles the next command.
    pub(crate) fn step(&mut self) -> (Timestamp, Command, Outcome) {
        let (now, command) = self.next();
        let outcome = authority::step(&mut self.state, &command, now);
        (now, command, outcome)
    }

    fn choose(&mut self) -> Command {
        if self.is_trading {
            return self.trade();
        }
        if !self.layout.offers.is_empty() && self.market.chance(40) {
            return self.market_command();
        }
        match self.random.below(100) {
            0..46 => self.submit(),
            46..53 => Command::CancelJob(CancelJob { job: self.a_job() }),
            // A third of the runs have services that change their size.
            53..55 if self.seed.is_multiple_of(3) => self.resize(),
            53..58 => {
                let priority = self.priority();
                Command::SetPriority(SetPriority { job: self.a_job(), priority })
            }
            58..68 => self.report(),
            68..72 => self.put_node(),
            72..74 => self.put_group(),
            74..79 => self.update_quota(),
            79..86 => self.scale(),
            86..87 => {
                let quota = self.random.pick(&self.layout.quotas).quota;
                Command::DeleteQuota(DeleteQuota { quota })
            }
            87..88 => Command::CreateQuota(self.random.pick(&self.layout.quotas)),
            88..92 => Command::Round(Round::default()),
            _ => self.scheduled_round(),
        }
    }

    fn market_command(&mut self) -> Command {
        let job = JobId::new(&format!("job-{}", self.jobs.len())).unwrap();
        let Self { state, layout, market, now, jobs, .. } = self;
        bids::command(state, layout, market, *now, || {
            jobs.push(job.clone());
            job
        })
    }

    /// Mostly the market and its rounds, and whatever else happens to its jobs.
    fn trade(&mut self) -> Command {
        match self.random.below(100) {
            0..44 => self.market_command(),
            44..49 => Command::CancelJob(CancelJob { job: self.a_job() }),
            49..57 => self.report(),
            57..60 => Command::Round(Round::default()),
            60..64 => self.submit(),
            _ => self.scheduled_round(),
        }
    }

    /// The round of a minute, which has begun by then, as in the service. Half of those that come again in the last one's
    /// minute are refused; the others are the round of the next.
    fn scheduled_round(&mut self) -> Command {
        let minute = (self.now.0 / 60_000).max(self.slot + self.random.between(0, 1));
        self.now = self.now.max(Timestamp(minute * 60_000 + 400));
        self.slot = minute;
        Command::Round(Round { slot: Some(minute) })
    }

    /// A service gets more pods or fewer; now and then something else is named, which is refused.
    fn resize(&mut self) -> Command {
        let mut job = self.a_job();
        for _ in 0..8 {
            let known = self.state.jobs.find(&job).map(|no| &self.state.jobs[no]);
            if known.is_some_and(|job| job.spec.module == Module::Eas && !job.is_ended()) {
                break;
            }
            job = self.a_job();
        }
        let pods = u32::try_from(self.random.between(1, 6)).unwrap();
        let min_pods = self.random.chance(30).then(|| u32::try_from(self.random.between(1, i64::from(pods))).unwrap());
        Command::ResizeJob(ResizeJob { job, pods, min_pods })
    }

    fn priority(&mut self) -> Priority {
        Priority::new(self.random.between(1, 9)).unwrap()
    }

    /// Some job, mostly one that has not ended.
    fn a_job(&mut self) -> JobId {
        for _ in 0..4 {
            if self.jobs.is_empty() || self.random.chance(3) {
                break;
            }
            let job = self.random.pick(&self.jobs);
            let is_ended = self.state.jobs.find(&job).is_none_or(|no| self.state.jobs[no].is_ended());
            if !is_ended || self.random.chance(10) {
                return job;
            }
        }
        JobId::new("nobody").unwrap()
    }

    fn submit(&mut self) -> Command {
        let random = &mut self.random;
        if random.chance(2) && !self.jobs.is_empty() {
            let job = random.pick(&self.jobs);
            return match self.state.jobs.find(&job) {
                Some(no) if self.state.jobs[no].bids() => Command::CancelJob(CancelJob { job }),
                Some(no) => Command::SubmitJob(again(&self.state, &self.state.jobs[no].spec, job)),
                None => Command::CancelJob(CancelJob { job }),
            };
        }
        // Few kinds of jobs, so that some of them share a class.
        let quota = random.pick(&self.layout.quotas);
        let gpus = random.pick(&[250, 500, 1000, 1000, 2000, 2000, 4000, 8000]);
        let mut amount = self.layout.amount(random, |_| 1);
        let is_lean = random.chance(70);
        for dimension in &self.layout.dimensions {
            if let Some(value) = amount.get_mut(&dimension.name) {
                if dimension.kind == DimensionKind::Gpu {
                    *value = gpus;
                } else {
                    *value = *value * if is_lean { 1 } else { random.between(0, 12) } * gpus / 4000;
                }
            }
        }
        if random.chance(2) {
            for value in amount.values_mut() {
                *value = 0;
            }
        }
        let count = u32::try_from(random.pick(&[1, 1, 1, 2, 3, 4])).unwrap();
        let mut pods = vec![PodGroup { count, amount: amount.clone() }];
        let min_pods =
            (random.chance(20) && count > 1).then(|| u32::try_from(random.between(1, i64::from(count))).unwrap());
        if min_pods.is_none() && random.chance(12) {
            let halved = amount.into_iter().map(|(name, value)| (name, value / 2 / 250 * 250)).collect();
            pods.push(PodGroup { count: 1, amount: halved });
        }
        let module = random.pick(&[Module::Dlc, Module::Dlc, Module::Dsw, Module::Eas]);
        let idle = random.pick(&[IdlePolicy::Off, IdlePolicy::Off, IdlePolicy::Acceptable, IdlePolicy::Only]);
        let job = JobId::new(&format!("job-{}", self.jobs.len())).unwrap();
        self.jobs.push(job.clone());
        let workspace = self.workspace_of(&quota.quota);
        let random = &mut self.random;
        let submit = SubmitJob {
            job,
            quota: Some(quota.quota),
            spot: None,
            workspace,
            user: None,
            name: None,
            module,
            priority: Priority::new(random.pick(&[1, 1, 2, 3, 4, 5, 6, 8, 9])).unwrap(),
            pods,
            min_pods,
            nodes: NodesByName::default(),
            idle,
            fault_tolerance: random.chance(40).then(|| FaultTolerance { max_restarts: random.pick(&[1, 3]) }),
            duration_ms: random.chance(50).then(|| Millis(random.pick(&[20_000, 300_000, 7_200_000]))),
            checkpoint_ms: random.chance(30).then_some(Millis(45_000)),
        };
        Command::SubmitJob(submit)
    }

    fn report(&mut self) -> Command {
        let job = self.a_job();
        let phase = self.state.jobs.find(&job).map(|no| &self.state.jobs[no].phase);
        let run = self.state.jobs.find(&job).and_then(|no| self.state.jobs[no].run_no());
        let known = self.state.jobs.find(&job).and_then(|no| self.state.jobs[no].run.as_ref());
        let order = known.and_then(|run| run.leaving.first()).map(|leaving| leaving.order);
        let is_unconfirmed = known.is_some_and(|run| run.confirmed.is_none());
        let observed = match phase {
            // What is only reported of what really runs has numbers of its own.
            Some(_) if is_unconfirmed && self.aside.chance(50) => Observation::Confirmed,
            Some(_) if order.is_some() && self.aside.chance(50) => Observation::Vacated { order: order.unwrap() },
            Some(Phase::Stopping { .. }) if order.is_none() && known.is_some() && self.aside.chance(10) => {
                Observation::Checkpointed
            }
            Some(Phase::Stopping { .. }) if self.random.chance(90) => Observation::Stopped,
            _ => match self.random.below(10) {
                0..5 => Observation::Checkpointed,
                5 => Observation::Stopped,
                6 => Observation::Failed {
                    reason: "out of memory".to_owned(),
                    fault: self.aside.pick(&[Fault::Job, Fault::Job, Fault::Node, Fault::Start]),
                    exit: Some(Exit::Code(137)),
                },
                _ => Observation::Finished,
            },
        };
        Command::Report(Report { job, run, observed })
    }

    /// What is heard of a node that really runs jobs, and what people say of it then.
    fn of_node(&mut self, put: &PutNode) -> Option<Command> {
        if !self.state.cluster.is_reported() || !self.aside.chance(35) {
            return None;
        }
        let node = put.node.clone();
        let since = Timestamp(self.now.0 - self.aside.pick(&[0, 120_000, 1_000_000]));
        Some(match self.aside.below(7) {
            0..2 => {
                let stop_after_ms = self.aside.pick(&[None, Some(Millis(60_000)), Some(Millis(600_000))]);
                Command::NodeSilent(NodeSilent { node, since, stop_after_ms })
            }
            2..5 => Command::NodeHeard(NodeHeard { node }),
            5 => self.spare(put),
            _ => Command::PutNode(PutNode { status: NodeStatus::Dead, ..put.clone() }),
        })
    }

    /// A node comes beside those on which guarantees stand, and goes again.
    fn spare(&mut self, like: &PutNode) -> Command {
        let spare = PutNode { node: NodeId::new("spare").unwrap(), ..like.clone() };
        if self.state.node_no(&spare.node).is_some() {
            return Command::DeleteNode(DeleteNode { node: spare.node });
        }
        self.layout.nodes.retain(|put| put.node != spare.node);
        self.layout.nodes.push(spare.clone());
        Command::PutNode(spare)
    }

    fn put_node(&mut self) -> Command {
        let Some(mut node) = (!self.layout.nodes.is_empty()).then(|| self.random.pick(&self.layout.nodes)) else {
            return Command::Round(Round::default());
        };
        node.status = self.random.pick(&[NodeStatus::Ready, NodeStatus::Ready, NodeStatus::Cordoned]);
        self.of_node(&node).unwrap_or(Command::PutNode(node))
    }

    fn put_group(&mut self) -> Command {
        let at = self.random.index(self.layout.groups.len());
        let group = &mut self.layout.groups[at];
        if let Some(pool) = &mut group.pool {
            // A pool only grows: what a smaller one means for who runs there is for the machines to say.
            for value in pool.values_mut() {
                *value += *value / 4 / 1000 * 1000;
            }
        }
        let group = group.clone();
        if self.state.cluster.is_reported() && self.aside.chance(50) {
            let after = OnSilence::StopAfter(Millis(self.aside.pick(&[60_000, 600_000])));
            return Command::PutGroup(PutGroup {
                on_silence: Some(self.aside.pick(&[OnSilence::Keep, after])),
                ..group
            });
        }
        if self.aside.chance(10) {
            let start_within_ms = Some(Millis(self.aside.pick(&[60_000, 600_000])));
            return Command::UpdateCluster(UpdateCluster { start_within_ms, ..UpdateCluster::default() });
        }
        Command::PutGroup(group)
    }

    /// Few workspaces with few members, so that most commands find what they are about.
    fn workspace(&mut self) -> Command {
        let random = &mut self.aside;
        let workspace = random.pick(&["red", "blue"].map(|name| WorkspaceId::new(name).unwrap()));
        let user = random.pick(&["ann", "bob"].map(|name| UserId::new(name).unwrap()));
        let quota = random.pick(&self.layout.quotas).quota;
        let key = random.pick(&["one", "two"].map(|name| KeyId::new(name).unwrap()));
        match random.below(13) {
            0..2 => Command::PutWorkspace(PutWorkspace { workspace, name: None, description: None }),
            2..5 => Command::AttachQuota(AttachQuota { workspace, quota }),
            5 => Command::DetachQuota(DetachQuota { workspace, quota }),
            6 => Command::RemoveMember(RemoveMember { workspace, user }),
            7..9 => {
                let roles = (0..random.between(1, 2)).map(|_| random.pick(&Role::ALL)).collect();
                Command::PutMember(PutMember { workspace, user, roles })
            }
            9 => Command::DeleteWorkspace(DeleteWorkspace { workspace }),
            10 => Command::CreateKey(CreateKey {
                key,
                user,
                administers: false,
                expires: None,
                serves: Vec::new(),
                adopts: Vec::new(),
            }),
            11 => Command::RotateKey(RotateKey { key, overlap_ms: Millis::MINUTE }),
            _ => Command::RevokeKey(RevokeKey { key }),
        }
    }

    /// A workspace to which the quota is attached, if there is one.
    fn workspace_of(&self, quota: &QuotaId) -> Option<WorkspaceId> {
        let no = self.state.quota_no(quota)?;
        let attached = self.state.workspaces.iter().find(|(_, workspace)| workspace.quotas.contains(&no));
        attached.map(|(id, _)| id.clone())
    }

    fn update_quota(&mut self) -> Command {
        let quota = self.random.pick(&self.layout.quotas);
        let mut settings = cluster::settings(&mut self.random);
        if self.layout.is_impatient {
            settings.starvation_after = Millis::MINUTE;
        }
        Command::UpdateQuota(UpdateQuota { quota: quota.quota, settings })
    }

    /// Moves amounts between siblings, or changes one quota.
    fn scale(&mut self) -> Command {
        let mode = self.random.pick(&[ScaleMode::Drain, ScaleMode::Evict]);
        let one = self.random.pick(&self.layout.quotas);
        let siblings: Vec<CreateQuota> = self
            .layout
            .quotas
            .iter()
            .filter(|other| other.parent == one.parent && other.quota != one.quota)
            .cloned()
            .collect();
        let mut targets = vec![(one.quota.clone(), self.min_of(&one))];
        if siblings.is_empty() || self.random.chance(40) {
            let percent = self.random.pick(&[0, 50, 75, 110, 150]);
            targets[0].1.values_mut().for_each(|value| *value = *value * percent / 100 / 500 * 500);
        } else {
            let other = self.random.pick(&siblings);
            let mut theirs = self.min_of(&other);
            for (name, value) in self.min_of(&one) {
                let moved = value / 2 / 500 * 500;
                *targets[0].1.or_default(name.clone()) -= moved;
                *theirs.or_default(name) += moved;
            }
            targets.push((other.quota, theirs));
        }
        let targets = targets.into_iter().map(|(quota, min)| ScaleTarget { quota, min }).collect();
        Command::ScaleQuotas(ScaleQuotas { targets, mode })
    }

    /// What a quota is guaranteed by now.
    fn min_of(&self, quota: &CreateQuota) -> AmountByName {
        let Some(no) = self.state.quota_no(&quota.quota) else { return quota.min.clone() };
        by_name(&self.state, &self.state.quotas[no.at()].min.amount, Some(self.state.quotas[no.at()].min.stated))
    }
}

/// An amount by the names of its dimensions.
pub(crate) fn by_name(state: &State, amount: &engine::unit::amount::Amount, stated: Option<u8>) -> AmountByName {
    let names = state.cluster.dimensions.iter().enumerate();
    names
        .filter(|(at, _)| stated.is_none_or(|stated| stated & (1 << at) != 0))
        .map(|(at, dimension)| (dimension.name.clone(), amount[at]))
        .collect()
}

/// The submission that made a job, or another one under its name.
fn again(state: &State, spec: &engine::job::spec::JobSpec, job: JobId) -> SubmitJob {
    let pod =
        |role: &engine::job::shape::Role| PodGroup { count: role.count, amount: by_name(state, &role.amount, None) };
    SubmitJob {
        job,
        quota: Some(state.quotas[spec.quota.at()].id.clone()),
        spot: None,
        workspace: spec.workspace.clone(),
        user: None,
        name: None,
        module: spec.module,
        priority: spec.priority,
        pods: spec.shape.roles().iter().map(pod).collect(),
        min_pods: spec.shape.min_pods(),
        nodes: NodesByName::default(),
        idle: spec.idle,
        fault_tolerance: spec.fault_tolerance,
        duration_ms: spec.duration.map(Period::get),
        checkpoint_ms: None,
    }
}

/// Tells how to see a failure again.
pub(crate) fn note(run: &Run, command: &Command) -> String {
    let mut text = String::new();
    let _ = write!(text, "seed {} at {}: {}", run.seed, run.now.0, serde_json::to_string(command).unwrap());
    text
}
