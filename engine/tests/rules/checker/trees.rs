//! Random quota trees in a pool, with an account of their own of who has what.

use engine::host::authority::step;
use engine::message::command::AmountByName;
use engine::message::command::Command;
use engine::message::command::CreateCluster;
use engine::message::command::CreateQuota;
use engine::message::command::PutGroup;
use engine::message::command::UpdateQuota;
use engine::quota::policy::ChildLevelPreemption;
use engine::quota::policy::Scope;
use engine::quota::policy::SelfLevelPreemption;
use engine::quota::settings::QueueStrategy;
use engine::quota::settings::QuotaSettings;
use engine::state::cluster::Execution;
use engine::state::world::State;
use engine::unit::amount::Dimension;
use engine::unit::amount::DimensionKind;
use engine::unit::id::GroupId;
use engine::unit::id::QuotaId;
use engine::unit::priority::Module;
use engine::unit::priority::Priority;
use engine::unit::priority::PrioritySet;
use engine::unit::resource::ResourceType;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;

use crate::random::Random;

pub(crate) const NOW: Timestamp = Timestamp(86_400_000);

/// A quota as it was made.
#[derive(Clone, Debug)]
pub(crate) struct Made {
    pub(crate) id: QuotaId,
    pub(crate) parent: Option<usize>,
    pub(crate) min: i64,
    pub(crate) settings: QuotaSettings,
}

/// A tree as it was made, and the state that came of it.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    pub(crate) quotas: Vec<Made>,
    pub(crate) state: State,
}

impl Tree {
    /// One or two roots, up to three levels, amounts in halves of a GPU now and then; no policies.
    pub(crate) fn plain(random: &mut Random) -> Self {
        let mut tree = Self { quotas: Vec::new(), state: State::default() };
        let gpu = Dimension { name: "gpu".to_owned(), kind: DimensionKind::Gpu };
        tree.send(&Command::CreateCluster(CreateCluster { dimensions: vec![gpu], execution: Execution::Simulated }));
        let pool = Some(AmountByName::from([("gpu".to_owned(), 1_000_000)]));
        tree.send(&Command::PutGroup(PutGroup {
            group: group(),
            resource_type: ResourceType::Lingjun,
            pool,
            on_silence: None,
        }));
        for _ in 0..random.between(1, 2) {
            let min = random.between(4, 40) * 1000;
            let root = tree.add(None, min);
            let mut level = vec![root];
            for _ in 0..random.between(0, 2) {
                level = level.into_iter().flat_map(|parent| tree.add_children(random, parent)).collect();
            }
        }
        tree
    }

    /// The same with random policies and settings.
    pub(crate) fn with_policies(random: &mut Random) -> Self {
        let mut tree = Self::plain(random);
        for at in 0..tree.quotas.len() {
            let settings = settings(random);
            tree.set(at, |now| *now = settings);
        }
        tree
    }

    fn add_children(&mut self, random: &mut Random, parent: usize) -> Vec<usize> {
        let step = random.pick(&[1000, 1000, 500]);
        let mut left = self.quotas[parent].min;
        let mut added = Vec::new();
        for _ in 0..random.between(0, 3) {
            let min = if random.chance(25) { left } else { random.between(0, left / step / 2) * step };
            left -= min;
            added.push(self.add(Some(parent), min));
        }
        added
    }

    pub(crate) fn add(&mut self, parent: Option<usize>, min: i64) -> usize {
        let id = QuotaId::new(&format!("q{}", self.quotas.len())).unwrap();
        let settings = QuotaSettings { grace_period: Millis::ZERO, ..QuotaSettings::default() };
        self.send(&Command::CreateQuota(CreateQuota {
            quota: id.clone(),
            parent: parent.map(|parent| self.quotas[parent].id.clone()),
            groups: if parent.is_none() { vec![group()] } else { Vec::new() },
            min: AmountByName::from([("gpu".to_owned(), min)]),
            settings: settings.clone(),
        }));
        self.quotas.push(Made { id, parent, min, settings });
        self.quotas.len() - 1
    }

    pub(crate) fn set(&mut self, at: usize, change: impl FnOnce(&mut QuotaSettings)) {
        change(&mut self.quotas[at].settings);
        let Made { id, settings, .. } = self.quotas[at].clone();
        self.send(&Command::UpdateQuota(UpdateQuota { quota: id, settings }));
    }

    pub(crate) fn send(&mut self, command: &Command) {
        step(&mut self.state, command, NOW).unwrap();
    }

    /// What a quota has for its own jobs.
    pub(crate) fn own(&self, at: usize) -> i64 {
        let children = self.quotas.iter().filter(|quota| quota.parent == Some(at));
        self.quotas[at].min - children.map(|child| child.min).sum::<i64>()
    }

    pub(crate) fn children(&self, at: usize) -> Vec<usize> {
        (0..self.quotas.len()).filter(|child| self.quotas[*child].parent == Some(at)).collect()
    }

    pub(crate) fn below(&self, at: usize) -> Vec<usize> {
        let mut below = self.children(at);
        let mut next = 0;
        while next < below.len() {
            below.extend(self.children(below[next]));
            next += 1;
        }
        below
    }

    pub(crate) fn siblings(&self, at: usize) -> Vec<usize> {
        let parent = self.quotas[at].parent;
        let level = parent.map(|parent| self.children(parent)).unwrap_or_default();
        level.into_iter().filter(|sibling| *sibling != at).collect()
    }

    /// One of the quotas for which this holds.
    pub(crate) fn any(&self, random: &mut Random, holds: impl Fn(usize) -> bool) -> Option<usize> {
        let all: Vec<usize> = (0..self.quotas.len()).filter(|at| holds(*at)).collect();
        (!all.is_empty()).then(|| random.pick(&all))
    }
}

fn group() -> GroupId {
    GroupId::new("machines").unwrap()
}

pub(crate) fn priorities(low: i64, high: i64) -> PrioritySet {
    PrioritySet::range(Priority::new(low).unwrap(), Priority::new(high).unwrap())
}

fn some_priorities(random: &mut Random, low: i64, high: i64) -> PrioritySet {
    let first = random.between(low, high);
    priorities(first, random.between(first, high))
}

pub(crate) fn some_modules(random: &mut Random) -> engine::unit::priority::ModuleSet {
    if random.chance(60) {
        Module::ALL.into_iter().collect()
    } else {
        [random.pick(&Module::ALL)].into_iter().collect()
    }
}

pub(crate) fn self_level(random: &mut Random, scope: Scope) -> SelfLevelPreemption {
    let border = random.between(2, 9);
    SelfLevelPreemption {
        high: some_priorities(random, border, 9),
        low: some_priorities(random, 1, border - 1),
        modules: some_modules(random),
        scope,
    }
}

fn settings(random: &mut Random) -> QuotaSettings {
    let scope = random.pick(&[Scope::SameLevel, Scope::SameLevel, Scope::Own, Scope::SiblingsIdle]);
    let child = ChildLevelPreemption { preemptible: some_priorities(random, 1, 9), modules: some_modules(random) };
    let strategies =
        [QueueStrategy::Intelligent, QueueStrategy::StrictFifo, QueueStrategy::RoundRobin, QueueStrategy::Balance];
    let period = |random: &mut Random| {
        random.pick(&[
            Millis::ZERO,
            Millis::ZERO,
            Millis::ZERO,
            Millis::from_seconds(30),
            Millis(2 * Millis::HOUR.0),
            Millis::DAY,
        ])
    };
    QuotaSettings {
        strategy: random.pick(&strategies),
        lends: random.chance(80),
        self_level: random.chance(70).then(|| self_level(random, scope)),
        child_level: random.chance(40).then_some(child),
        grace_period: period(random),
        min_runtime: period(random),
        starvation_after: random.pick(&[Millis(6 * Millis::HOUR.0), Millis::MINUTE]),
    }
}
