//! Operations of quotas (`PaiStudio`).

use engine::quota::policy::ChildLevelPreemption;
use engine::quota::policy::Scope;
use engine::quota::policy::SelfLevelPreemption;
use engine::quota::settings::QueueStrategy;
use engine::unit::amount::DimensionKind;
use engine::unit::limit;
use engine::unit::priority::Module;
use engine::unit::priority::ModuleSet;
use engine::unit::priority::Priority;
use engine::unit::priority::PrioritySet;
use engine::unit::resource::ResourceType;
use serde_json::Map;
use serde_json::Value;

use crate::operation::arguments::Arguments;
use crate::operation::fields::Fields;
use crate::operation::misfit::Misfit;
use crate::operation::page::Direction;
use crate::operation::page::Page;
use crate::operation::workload;
use crate::operation::workload::ListUsages;
use crate::operation::workload::ListWorkloads;

pub(super) const RESOURCE_TYPES: [(&str, ResourceType); 2] =
    [("Lingjun", ResourceType::Lingjun), ("ECS", ResourceType::General)];
pub(crate) const STRATEGIES: [(&str, QueueStrategy); 4] = [
    ("PaiStrategyIntelligent", QueueStrategy::Intelligent),
    ("PaiStrategyStrictFIFO", QueueStrategy::StrictFifo),
    ("PaiStrategyRoundRobin", QueueStrategy::RoundRobin),
    ("PaiStrategyBalance", QueueStrategy::Balance),
];
/// How many quotas a page has if nothing is asked for.
const PAGE_SIZE: i64 = 10;
const PRIORITY_MIN: i64 = 1;
const PRIORITY_MAX: i64 = 9;

/// An operation of quotas.
#[derive(Clone, Debug, PartialEq)]
pub enum QuotaOperation {
    /// Add a quota.
    Create(Box<CreateQuota>),
    /// Tell of a quota.
    Get {
        /// The quota.
        quota: String,
    },
    /// Tell of many.
    List(Box<ListQuotas>),
    /// Change what is set on a quota.
    Update(Box<UpdateQuota>),
    /// Change its amount.
    Scale {
        /// The quota.
        quota: String,
        /// The target.
        nodes: Vec<NodeCount>,
        /// The target as it was sent: answers repeat it.
        document: Value,
    },
    /// Remove a quota.
    Delete {
        /// The quota.
        quota: String,
    },
    /// Tell of the jobs of a quota and of their places in its queue.
    Workloads(Box<ListWorkloads>),
    /// Tell who uses how much of a quota.
    Usages(Box<ListUsages>),
}

/// Nodes of a type: quotas are counted in them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeCount {
    /// The type.
    pub node_type: String,
    /// How many.
    pub count: i64,
}

/// A quota that is added.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateQuota {
    /// Its name for people.
    pub name: String,
    /// Its parent; none for a root.
    pub parent: Option<String>,
    /// The resource groups that a root draws on.
    pub groups: Vec<String>,
    /// The kind of its machines.
    pub resource_type: ResourceType,
    /// What it is guaranteed.
    pub nodes: Vec<NodeCount>,
    /// What is set on it.
    pub settings: SettingsChange,
    /// The request as it was sent: answers repeat it.
    pub document: Map<String, Value>,
}

/// What is changed on a quota.
#[derive(Clone, Debug, PartialEq)]
pub struct UpdateQuota {
    /// The quota.
    pub quota: String,
    /// What is set on it.
    pub settings: SettingsChange,
    /// The request as it was sent: answers repeat it.
    pub document: Map<String, Value>,
}

/// Settings that are stated; all others stay as they are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SettingsChange {
    /// How its queue is ordered.
    pub strategy: Option<QueueStrategy>,
    /// Whether what it leaves idle may be lent.
    pub lends: Option<bool>,
    /// Whether self-level preemption is on.
    pub is_self_level_on: Option<bool>,
    /// What self-level preemption may take.
    pub self_level: Option<SelfLevelPreemption>,
    /// Whether child-level preemption is on.
    pub is_child_level_on: Option<bool>,
    /// What child-level preemption may take.
    pub child_level: Option<ChildLevelPreemption>,
}

/// Whose children are asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Under {
    /// All quotas.
    Anything,
    /// Roots.
    Nothing,
    /// The children of this quota.
    Quota(String),
}

/// Which quotas are asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListQuotas {
    /// Below which one.
    pub under: Under,
    /// Of these names.
    pub quotas: Vec<String>,
    /// With this in their names for people.
    pub name_part: Option<String>,
    /// Attached to one of these workspaces.
    pub workspaces: Vec<String>,
    /// Attached to a workspace with this in its names.
    pub workspace_part: Option<String>,
    /// Of this kind; of every kind if nothing is asked for.
    pub resource_type: Option<ResourceType>,
    /// Whether quotas that are ready are asked for: all of them are.
    pub ready: bool,
    /// With each of these labels.
    pub labels: Vec<(String, String)>,
    /// By what they are sorted, if not as they were created.
    pub sort: Option<QuotaOrder>,
    /// In which direction.
    pub direction: Direction,
    /// Which part of the list.
    pub page: Page,
}

/// What quotas are sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuotaOrder {
    /// The name for people.
    Name,
    /// When it was created.
    Created,
    /// When it was changed.
    Modified,
    /// Its amount.
    Amount(DimensionKind),
}

pub(super) fn create(arguments: &Arguments) -> Result<QuotaOperation, Misfit> {
    let body = arguments.body();
    let create = CreateQuota {
        name: body.need("QuotaName")?,
        parent: body.name("ParentQuotaId")?,
        groups: body.names("ResourceGroupIds")?,
        resource_type: body.one_of("ResourceType", &RESOURCE_TYPES)?.unwrap_or(ResourceType::General),
        nodes: nodes(&body)?,
        settings: settings(&body)?,
        document: body.object().clone(),
    };
    Ok(QuotaOperation::Create(Box::new(create)))
}

pub(super) fn get(arguments: &Arguments) -> Result<QuotaOperation, Misfit> {
    Ok(QuotaOperation::Get { quota: quota(arguments)? })
}

pub(super) fn list(arguments: &Arguments) -> Result<QuotaOperation, Misfit> {
    let query = arguments.query();
    let under = match query.text("ParentQuotaId")? {
        None => Under::Anything,
        Some("") => Under::Nothing,
        Some(parent) => Under::Quota(parent.to_owned()),
    };
    let list = ListQuotas {
        under,
        quotas: query.names("QuotaIds")?,
        name_part: query.name("QuotaName")?,
        workspaces: query.names("WorkspaceIds")?,
        workspace_part: query.name("WorkspaceName")?,
        resource_type: query.one_of("ResourceType", &RESOURCE_TYPES)?,
        ready: asks_for_ready(&query, "Statuses")?,
        labels: query.labels("Labels")?,
        sort: quota_order(&query)?,
        direction: Direction::read(&query)?.unwrap_or(Direction::Ascending),
        page: Page::read(&query, PAGE_SIZE)?,
    };
    Ok(QuotaOperation::List(Box::new(list)))
}

/// Whether a list of statuses has the one that everything here has; also if nothing is asked for.
pub(super) fn asks_for_ready(query: &Fields, name: &str) -> Result<bool, Misfit> {
    let statuses = query.names(name)?;
    Ok(statuses.is_empty() || statuses.iter().any(|status| status.eq_ignore_ascii_case("Ready")))
}

/// An order without a name is that of the names.
fn quota_order(query: &Fields) -> Result<Option<QuotaOrder>, Misfit> {
    let sorts = [
        ("QuotaName", QuotaOrder::Name),
        ("GmtCreatedTime", QuotaOrder::Created),
        ("GmtModifiedTime", QuotaOrder::Modified),
        ("CPU", QuotaOrder::Amount(DimensionKind::Cpu)),
        ("Memory", QuotaOrder::Amount(DimensionKind::Memory)),
        ("GPU", QuotaOrder::Amount(DimensionKind::Gpu)),
    ];
    let by_name = Direction::read(query)?.map(|_| QuotaOrder::Name);
    Ok(query.one_of("SortBy", &sorts)?.or(by_name))
}

pub(super) fn update(arguments: &Arguments) -> Result<QuotaOperation, Misfit> {
    let body = arguments.body();
    let update = UpdateQuota { quota: quota(arguments)?, settings: settings(&body)?, document: body.object().clone() };
    Ok(QuotaOperation::Update(Box::new(update)))
}

pub(super) fn scale(arguments: &Arguments) -> Result<QuotaOperation, Misfit> {
    let body = arguments.body();
    let document = body.value("Min").cloned().unwrap_or_default();
    Ok(QuotaOperation::Scale { quota: quota(arguments)?, nodes: nodes(&body)?, document })
}

pub(super) fn delete(arguments: &Arguments) -> Result<QuotaOperation, Misfit> {
    Ok(QuotaOperation::Delete { quota: quota(arguments)? })
}

pub(super) fn workloads(arguments: &Arguments) -> Result<QuotaOperation, Misfit> {
    Ok(QuotaOperation::Workloads(Box::new(workload::workloads(arguments)?)))
}

pub(super) fn usages(arguments: &Arguments) -> Result<QuotaOperation, Misfit> {
    Ok(QuotaOperation::Usages(Box::new(workload::usages(arguments)?)))
}

fn quota(arguments: &Arguments) -> Result<String, Misfit> {
    arguments.path().need("QuotaId")
}

/// The amount of a quota, which is always stated in nodes.
fn nodes(body: &Fields) -> Result<Vec<NodeCount>, Misfit> {
    nodes_of(&body.inside("Min")?.ok_or_else(|| body.missing("Min"))?)
}

/// The nodes that a document repeats.
pub(crate) fn read_nodes(min: &Map<String, Value>) -> Result<Vec<NodeCount>, Misfit> {
    nodes_of(&Fields::new("Min", min))
}

fn nodes_of(min: &Fields) -> Result<Vec<NodeCount>, Misfit> {
    let specs = min.each("NodeSpecs")?;
    if specs.is_empty() {
        return Err(min.missing("NodeSpecs"));
    }
    let nodes_max = i64::try_from(limit::NODES_MAX).unwrap_or(i64::MAX);
    let one = |spec: &Fields| {
        let count = spec.number("Count", 0, nodes_max)?.ok_or_else(|| spec.missing("Count"))?;
        Ok(NodeCount { node_type: spec.need("Type")?, count })
    };
    specs.iter().map(one).collect()
}

/// The settings that a document repeats.
pub(crate) fn remembered(document: &Map<String, Value>) -> Result<SettingsChange, Misfit> {
    settings(&Fields::new("", document))
}

fn settings(body: &Fields) -> Result<SettingsChange, Misfit> {
    let strategy = body.one_of("QueueStrategy", &STRATEGIES)?;
    let Some(config) = body.inside("QuotaConfig")? else {
        return Ok(SettingsChange { strategy, ..SettingsChange::default() });
    };
    let oversold = config.inside("OversoldUsageConfig")?;
    let is_disabled = oversold.map_or(Ok(None), |oversold| oversold.switch("Disabled"))?;
    // The child-level switch has had another name; either of them turns it on.
    let switches = [config.switch("EnableSubQuotaPreemption")?, config.switch("EnablePreemptSubquotaWorkloads")?];
    Ok(SettingsChange {
        strategy,
        lends: is_disabled.map(|is_disabled| !is_disabled),
        is_self_level_on: config.switch("EnableSelfQuotaPreemption")?,
        self_level: config.inside("SelfQuotaPreemptionConfig")?.as_ref().map(self_level).transpose()?,
        is_child_level_on: switches.into_iter().flatten().max(),
        child_level: config.inside("SubQuotaPreemptionConfig")?.as_ref().map(child_level).transpose()?,
    })
}

fn self_level(config: &Fields) -> Result<SelfLevelPreemption, Misfit> {
    Ok(SelfLevelPreemption {
        high: priorities(config, "PreemptorPriorities")?,
        low: priorities(config, "PreemptedPriorities")?,
        modules: modules(config)?,
        scope: Scope::default(),
    })
}

/// The wire has one upper bound where the engine has a set; a set is read as answers tell it.
fn child_level(config: &Fields) -> Result<ChildLevelPreemption, Misfit> {
    const BOUND: &str = "PreemptedPriorityUpperBound";
    let preemptible = priorities(config, "PreemptedPriorities")?;
    if preemptible.lowest().is_some() && config.value(BOUND).is_none() {
        return Ok(ChildLevelPreemption { preemptible, modules: modules(config)? });
    }
    let bound = config.number(BOUND, PRIORITY_MIN, PRIORITY_MAX)?.ok_or_else(|| config.missing(BOUND))?;
    let highest = Priority::new(bound).unwrap_or_default();
    Ok(ChildLevelPreemption { preemptible: PrioritySet::range(Priority::LOWEST, highest), modules: modules(config)? })
}

/// What self-level preemption is if it is switched on and nothing else is said: the example of the product's
/// documentation.
pub(crate) fn usual_self_level() -> SelfLevelPreemption {
    let [low, high, highest] = [4, 6, 9].map(|value| Priority::new(value).unwrap_or_default());
    SelfLevelPreemption {
        high: PrioritySet::range(high, highest),
        low: PrioritySet::range(low, low),
        modules: usual_modules(),
        scope: Scope::default(),
    }
}

/// The same of child-level preemption.
pub(crate) fn usual_child_level() -> ChildLevelPreemption {
    let highest = Priority::new(3).unwrap_or_default();
    ChildLevelPreemption { preemptible: PrioritySet::range(Priority::LOWEST, highest), modules: usual_modules() }
}

fn usual_modules() -> ModuleSet {
    [Module::Dlc, Module::Dsw].into_iter().collect()
}

fn priorities(config: &Fields, name: &str) -> Result<PrioritySet, Misfit> {
    let numbers = config.numbers(name, PRIORITY_MIN, PRIORITY_MAX)?;
    Ok(numbers.into_iter().filter_map(|number| Priority::new(number).ok()).collect())
}

/// Modules, also as they are called elsewhere: `DLC`, `dlc`, `PAI-DLC`.
fn modules(config: &Fields) -> Result<ModuleSet, Misfit> {
    const FIELD: &str = "PreemptedProducts";
    let module = |name: &String| {
        let upper = name.to_ascii_uppercase();
        let short = upper.strip_prefix("PAI-").unwrap_or(&upper);
        let found = Module::ALL.into_iter().find(|module| module.as_str() == short);
        found.ok_or_else(|| config.invalid_text(FIELD, name, "DLC, DSW or EAS"))
    };
    config.names(FIELD)?.iter().map(module).collect()
}
