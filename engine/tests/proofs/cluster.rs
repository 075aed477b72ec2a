//! Small random clusters: dimensions, groups of nodes or pools, and quota trees that add up.

use std::collections::BTreeMap;

use engine::message::command::AmountByName;
use engine::message::command::Command;
use engine::message::command::CreateCluster;
use engine::message::command::CreateQuota;
use engine::message::command::PutGroup;
use engine::message::command::PutNode;
use engine::message::command::market::CreateOffer;
use engine::quota::policy::ChildLevelPreemption;
use engine::quota::policy::Scope;
use engine::quota::policy::SelfLevelPreemption;
use engine::quota::settings::QueueStrategy;
use engine::quota::settings::QuotaSettings;
use engine::state::cluster::Execution;
use engine::state::cluster::NodeStatus;
use engine::unit::amount::Dimension;
use engine::unit::amount::DimensionKind;
use engine::unit::id::GroupId;
use engine::unit::id::NodeId;
use engine::unit::id::QuotaId;
use engine::unit::priority::Module;
use engine::unit::priority::Priority;
use engine::unit::priority::PrioritySet;
use engine::unit::resource::ResourceType;
use engine::unit::time::Millis;

use crate::bids;
use crate::random::Random;

/// What the commands about a cluster have to know of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layout {
    pub(crate) dimensions: Vec<Dimension>,
    pub(crate) nodes: Vec<PutNode>,
    pub(crate) groups: Vec<PutGroup>,
    pub(crate) quotas: Vec<CreateQuota>,
    pub(crate) offers: Vec<CreateOffer>,
    pub(crate) setup: Vec<Command>,
    /// Whether jobs may come to hold reservations within the run.
    pub(crate) is_impatient: bool,
}

impl Layout {
    pub(crate) fn random(random: &mut Random) -> Self {
        let (dimensions, is_impatient) = (dimensions(random), random.chance(15));
        let execution = if random.chance(75) { Execution::Simulated } else { Execution::Reported };
        Self::of(random, dimensions, is_impatient, execution)
    }

    /// One whose jobs really run.
    pub(crate) fn reported(random: &mut Random) -> Self {
        let dimensions = dimensions(random);
        Self::of(random, dimensions, false, Execution::Reported)
    }

    fn of(random: &mut Random, dimensions: Vec<Dimension>, is_impatient: bool, execution: Execution) -> Self {
        let mut layout = Self { dimensions, is_impatient, ..Self::default() };
        let create = CreateCluster { dimensions: layout.dimensions.clone(), execution };
        layout.setup.push(Command::CreateCluster(create));
        let roots = random.between(1, 2);
        for root in 0..roots {
            let resource_type = random.pick(&[ResourceType::Lingjun, ResourceType::Lingjun, ResourceType::General]);
            // What really runs does so on nodes.
            let is_pool = random.chance(50) && execution == Execution::Simulated;
            let (groups, total) = layout.add_groups(random, root, resource_type, is_pool);
            layout.add_tree(random, root, groups, &total);
        }
        layout
    }

    fn execution(&mut self) -> &mut Execution {
        let Some(Command::CreateCluster(create)) = self.setup.first_mut() else {
            panic!("a cluster is declared first")
        };
        &mut create.execution
    }

    /// Whether its jobs really run.
    pub(crate) fn is_reported(&mut self) -> bool {
        *self.execution() == Execution::Reported
    }

    /// Lets its jobs be simulated.
    pub(crate) fn simulate(&mut self) {
        *self.execution() = Execution::Simulated;
    }

    /// Adds a market.
    pub(crate) fn add_market(&mut self, random: &mut Random) {
        self.offers = bids::offers(self, random);
        self.setup.extend(self.offers.iter().cloned().map(Command::CreateOffer));
    }

    fn add_groups(
        &mut self,
        random: &mut Random,
        root: i64,
        resource_type: ResourceType,
        is_pool: bool,
    ) -> (Vec<GroupId>, AmountByName) {
        let mut total = AmountByName::new();
        let mut ids = Vec::new();
        for at in 0..random.between(1, 2) {
            let id = GroupId::new(&format!("group-{root}-{at}")).unwrap();
            let pool = is_pool.then(|| self.amount(random, |random| random.between(2, 24)));
            add(&mut total, pool.as_ref());
            let group = PutGroup { group: id.clone(), resource_type, pool, on_silence: None };
            self.groups.push(group.clone());
            self.setup.push(Command::PutGroup(group));
            if !is_pool {
                for node in 0..random.between(1, 4) {
                    let amount = self.amount(random, |random| random.pick(&[1, 2, 4, 8]));
                    add(&mut total, Some(&amount));
                    let node = PutNode {
                        node: NodeId::new(&format!("node-{root}-{at}-{node}")).unwrap(),
                        group: id.clone(),
                        node_type: None,
                        gpu_type: None,
                        amount,
                        status: NodeStatus::Ready,
                    };
                    self.nodes.push(node.clone());
                    self.setup.push(Command::PutNode(node));
                }
            }
            ids.push(id);
        }
        (ids, total)
    }

    /// So many GPUs of one type, and of everything else what usually goes with them.
    pub(crate) fn amount(&self, random: &mut Random, gpus: impl Fn(&mut Random) -> i64) -> AmountByName {
        let types: Vec<&Dimension> =
            self.dimensions.iter().filter(|dimension| dimension.kind == DimensionKind::Gpu).collect();
        let gpu = random.pick(&types);
        let gpus = gpus(random);
        let mut amount = AmountByName::from([(gpu.name.clone(), gpus * 1000)]);
        for dimension in &self.dimensions {
            let each = match dimension.kind {
                DimensionKind::Gpu => continue,
                DimensionKind::Cpu => 8_000,
                DimensionKind::Memory => 65_536,
                DimensionKind::Other => 2,
            };
            amount.insert(dimension.name.clone(), each * gpus);
        }
        amount
    }

    fn add_tree(&mut self, random: &mut Random, root: i64, groups: Vec<GroupId>, total: &AmountByName) {
        let id = QuotaId::new(&format!("q{root}")).unwrap();
        let (states_all, is_whole) = (random.chance(50), random.chance(70));
        let min: AmountByName = total
            .iter()
            .filter(|(name, _)| name.as_str() != "rdma" || states_all)
            .map(|(name, value)| (name.clone(), if is_whole { *value } else { value * 3 / 4 / 1000 * 1000 }))
            .collect();
        self.add_quota(CreateQuota { quota: id, parent: None, groups, min, settings: settings(random) });
        let mut level = vec![self.quotas.len() - 1];
        for _ in 0..random.between(0, 4) {
            let mut next = Vec::new();
            for parent in level {
                next.extend(self.add_children(random, parent));
            }
            level = next;
        }
    }

    fn add_children(&mut self, random: &mut Random, parent: usize) -> Vec<usize> {
        let above = self.quotas[parent].clone();
        let count = if self.quotas.len() > 10 { 0 } else { random.between(0, 3) };
        let mut left = above.min.clone();
        let mut added = Vec::new();
        for at in 0..count {
            let is_last = at + 1 == count && random.chance(50);
            let share = if is_last { 100 } else { random.pick(&[0, 25, 34, 50, 50, 67]) };
            let min: AmountByName = left
                .iter()
                .map(|(name, value)| {
                    (name.clone(), if share == 100 { *value } else { value * share / 100 / 500 * 500 })
                })
                .collect();
            for (name, value) in &min {
                *left.get_mut(name).unwrap() -= value;
            }
            let quota = CreateQuota {
                quota: QuotaId::new(&format!("{}.{at}", above.quota)).unwrap(),
                parent: Some(above.quota.clone()),
                groups: Vec::new(),
                min,
                settings: settings(random),
            };
            self.add_quota(quota);
            added.push(self.quotas.len() - 1);
        }
        added
    }

    fn add_quota(&mut self, mut quota: CreateQuota) {
        if self.is_impatient {
            quota.settings.starvation_after = Millis::MINUTE;
        }
        self.quotas.push(quota.clone());
        self.setup.push(Command::CreateQuota(quota));
    }
}

fn add(total: &mut AmountByName, amount: Option<&AmountByName>) {
    for (name, value) in amount.into_iter().flatten() {
        *total.or_default(name.clone()) += value;
    }
}

fn dimensions(random: &mut Random) -> Vec<Dimension> {
    let known: BTreeMap<&str, DimensionKind> = BTreeMap::from([
        ("gpu", DimensionKind::Gpu),
        ("h100", DimensionKind::Gpu),
        ("a100", DimensionKind::Gpu),
        ("cpu", DimensionKind::Cpu),
        ("memory", DimensionKind::Memory),
        ("rdma", DimensionKind::Other),
    ]);
    let names = random.pick(&[
        &["gpu"][..],
        &["gpu"],
        &["gpu", "cpu"],
        &["cpu", "gpu", "memory", "rdma"],
        &["h100", "a100", "cpu"],
    ]);
    names.iter().map(|name| Dimension { name: (*name).to_owned(), kind: known[name] }).collect()
}

fn priorities(random: &mut Random, low: i64, high: i64) -> PrioritySet {
    let first = random.between(low, high);
    let last = random.between(first, high);
    (first..=last).map(|value| Priority::new(value).unwrap()).collect()
}

pub(crate) fn settings(random: &mut Random) -> QuotaSettings {
    let modules = |random: &mut Random| {
        if random.chance(60) {
            Module::ALL.into_iter().collect()
        } else {
            [random.pick(&Module::ALL)].into_iter().collect()
        }
    };
    let self_level = random.chance(40).then(|| {
        let border = random.between(2, 9);
        SelfLevelPreemption {
            high: priorities(random, border, 9),
            low: priorities(random, 1, border - 1),
            modules: modules(random),
            scope: random.pick(&[Scope::SameLevel, Scope::Own, Scope::SiblingsIdle]),
        }
    });
    let child_level = random
        .chance(40)
        .then(|| ChildLevelPreemption { preemptible: priorities(random, 1, 9), modules: modules(random) });
    QuotaSettings {
        strategy: random.pick(&[
            QueueStrategy::Intelligent,
            QueueStrategy::Intelligent,
            QueueStrategy::StrictFifo,
            QueueStrategy::RoundRobin,
            QueueStrategy::Balance,
        ]),
        lends: random.chance(80),
        self_level,
        child_level,
        grace_period: if random.chance(50) { Millis::ZERO } else { Millis::from_seconds(30) },
        min_runtime: if random.chance(75) { Millis::ZERO } else { Millis::from_seconds(90) },
        starvation_after: QuotaSettings::default().starvation_after,
    }
}
