//! The cluster of a replay: quotas from their file, machines from theirs or made to measure.

use std::collections::BTreeMap;

use engine::message::command::AmountByName;
use engine::message::command::Command;
use engine::message::command::CreateCluster;
use engine::message::command::CreateQuota;
use engine::message::command::PutGroup;
use engine::message::command::PutNode;
use engine::message::rejection::Rejection;
use engine::quota::policy::ChildLevelPreemption;
use engine::quota::policy::Scope;
use engine::quota::policy::SelfLevelPreemption;
use engine::quota::settings::QuotaSettings;
use engine::state::cluster::Execution;
use engine::state::cluster::NodeStatus;
use engine::unit::amount::Dimension;
use engine::unit::amount::DimensionKind;
use engine::unit::amount::GPU;
use engine::unit::id::GroupId;
use engine::unit::id::NodeId;
use engine::unit::id::QuotaId;
use engine::unit::priority::Module;
use engine::unit::priority::Priority;
use engine::unit::priority::PrioritySet;
use engine::unit::resource::ResourceType;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;

use crate::offers::Offers;
use crate::sheet::Sheet;
use crate::sheet::Source;

/// What the machines are made of.
#[derive(Clone, Copy, Debug)]
pub struct Setting<'a> {
    pub quotas: &'a Source,
    pub nodes: Option<&'a Source>,
    pub gpus_per_node: Option<i64>,
    pub has_preemption: bool,
}

/// A command that sets the scene.
#[derive(Clone, Debug)]
pub struct Setup {
    pub command: Command,
    /// Where it stands; nothing for what stands nowhere.
    pub place: Option<String>,
}

impl Setup {
    /// What is told of it when it is refused.
    #[must_use]
    pub fn complaint(&self, rejection: &Rejection) -> String {
        match &self.place {
            Some(place) => format!("{place}: {rejection}"),
            None => rejection.to_string(),
        }
    }
}

/// A cluster without jobs.
#[derive(Clone, Debug)]
pub struct Machines {
    /// What makes it, in order.
    pub setup: Vec<Setup>,
    /// When it is made: with the first that is known of its spot market.
    pub begin: Timestamp,
    /// The quotas' names with their lines in the file.
    pub quotas: BTreeMap<String, u64>,
    /// GPUs of the largest node, in thousandths; nothing in a pool.
    pub node_gpus: Option<i64>,
    /// All GPUs that jobs may start on, in thousandths.
    pub gpus: i64,
}

struct Row {
    name: String,
    parent: Option<String>,
    gpus: i64,
    line: u64,
}

impl Machines {
    /// Reads the files and sets everything up.
    pub fn read(setting: &Setting<'_>) -> Result<Self, String> {
        let rows = read_quotas(setting.quotas)?;
        let mut machines =
            Self { setup: Vec::new(), begin: Timestamp(0), quotas: BTreeMap::new(), node_gpus: None, gpus: 0 };
        let gpu = Dimension { name: "gpu".to_owned(), kind: DimensionKind::Gpu };
        machines.add(Command::CreateCluster(CreateCluster { dimensions: vec![gpu], execution: Execution::Simulated }));
        let wanted: i64 = rows.iter().filter(|row| row.parent.is_none()).map(|row| row.gpus).sum();
        let nodes = match (setting.nodes, setting.gpus_per_node) {
            (Some(source), _) => read_nodes(source)?,
            (None, Some(each)) => made_to_measure(wanted, each),
            (None, None) => Vec::new(),
        };
        let is_pool = setting.nodes.is_none() && setting.gpus_per_node.is_none();
        let pool = is_pool.then(|| gpus(wanted));
        machines.add(Command::PutGroup(PutGroup {
            group: group()?,
            resource_type: ResourceType::Lingjun,
            pool,
            on_silence: None,
        }));
        machines.gpus = if is_pool { wanted } else { nodes.iter().map(|(_, value)| *value).sum() };
        machines.node_gpus = nodes.iter().map(|(_, value)| *value).max();
        for (name, value) in nodes {
            let node = NodeId::new(&name).map_err(|bad| bad.to_string())?;
            let put = PutNode {
                node,
                group: group()?,
                node_type: None,
                gpu_type: None,
                amount: gpus(value),
                status: NodeStatus::Ready,
            };
            machines.add(Command::PutNode(put));
        }
        machines.add_quotas(rows, setting)?;
        Ok(machines)
    }

    /// Adds a spot market, which begins with the first that is known of it.
    pub fn add_offers(&mut self, offers: &Offers) {
        self.begin = offers.begin();
        self.setup.extend(offers.declared().map(|(command, place)| Setup { command, place: Some(place.to_owned()) }));
    }

    fn add(&mut self, command: Command) {
        self.setup.push(Setup { command, place: None });
    }

    fn add_quotas(&mut self, mut rows: Vec<Row>, setting: &Setting<'_>) -> Result<(), String> {
        let parents: Vec<String> = rows.iter().filter_map(|row| row.parent.clone()).collect();
        while !rows.is_empty() {
            let (ready, later): (Vec<Row>, Vec<Row>) = rows
                .into_iter()
                .partition(|row| row.parent.as_ref().is_none_or(|parent| self.quotas.contains_key(parent)));
            if let (true, Some(row)) = (ready.is_empty(), later.first()) {
                let (file, line, parent) = (&setting.quotas.name, row.line, row.parent.as_deref().unwrap_or_default());
                return Err(format!(
                    "{file}, line {line}, column parent: the value {parent:?} cannot be used; name a group of this file, without cycles"
                ));
            }
            for row in ready {
                let settings = settings(setting.has_preemption, parents.contains(&row.name));
                let create = CreateQuota {
                    quota: QuotaId::new(&row.name).map_err(|bad| bad.to_string())?,
                    parent: row.parent.as_deref().map(QuotaId::new).transpose().map_err(|bad| bad.to_string())?,
                    groups: if row.parent.is_none() { vec![group()?] } else { Vec::new() },
                    min: gpus(row.gpus),
                    settings,
                };
                let place = Some(format!("{}, line {}, column gpus", setting.quotas.name, row.line));
                self.setup.push(Setup { command: Command::CreateQuota(create), place });
                self.quotas.insert(row.name, row.line);
            }
            rows = later;
        }
        Ok(())
    }
}

/// A simulation has no grace periods. With preemption every leaf lets 6 to 9 take 1 to 4, and every parent may take
/// 1 to 4 from its descendants.
fn settings(has_preemption: bool, is_parent: bool) -> QuotaSettings {
    let mut settings = QuotaSettings { grace_period: Millis::ZERO, ..QuotaSettings::default() };
    if !has_preemption {
        return settings;
    }
    let range =
        |low: i64, high: i64| -> PrioritySet { (low..=high).filter_map(|value| Priority::new(value).ok()).collect() };
    let modules = Module::ALL.into_iter().collect();
    if is_parent {
        settings.child_level = Some(ChildLevelPreemption { preemptible: range(1, 4), modules });
    } else {
        settings.self_level =
            Some(SelfLevelPreemption { high: range(6, 9), low: range(1, 4), modules, scope: Scope::SameLevel });
    }
    settings
}

fn group() -> Result<GroupId, String> {
    GroupId::new("machines").map_err(|bad| bad.to_string())
}

fn gpus(value: i64) -> AmountByName {
    AmountByName::from([("gpu".to_owned(), value)])
}

fn read_quotas(source: &Source) -> Result<Vec<Row>, String> {
    let sheet = Sheet::read(source, &["group", "parent", "gpus"])?;
    let mut rows: Vec<Row> = Vec::new();
    for line in sheet.lines() {
        let name = line.need("group")?.to_owned();
        if let Some(first) = rows.iter().find(|row| row.name == name) {
            return Err(line.complaint(
                "group",
                &name,
                &format!("line {} has it already; give every group its own name", first.line),
            ));
        }
        let parent = line.text("parent").map(str::to_owned);
        rows.push(Row { name, parent, gpus: line.need_decimal("gpus")?, line: line.number });
    }
    if rows.is_empty() {
        return Err(format!("{} has no quota; write a line such as root,,512", source.name));
    }
    Ok(rows)
}

/// Nodes with GPUs, by either of the two headings under which they are published.
fn read_nodes(source: &Source) -> Result<Vec<(String, i64)>, String> {
    let sheet = Sheet::read(source, &[])?;
    let (name, count) = match (sheet.has("sn"), sheet.has("node_name")) {
        (true, _) => ("sn", "gpu"),
        (false, true) => ("node_name", "gpu_capacity_num"),
        (false, false) => {
            return Err(format!(
                "{}, line 1: there is neither a column sn (with gpu) nor node_name (with gpu_capacity_num)",
                source.name
            ));
        }
    };
    let mut nodes = Vec::new();
    for line in sheet.lines() {
        let gpus = line.need_decimal(count)?;
        if gpus > 0 {
            nodes.push((line.need(name)?.to_owned(), gpus));
        }
    }
    Ok(nodes)
}

fn made_to_measure(wanted: i64, each: i64) -> Vec<(String, i64)> {
    let each = each.max(1).saturating_mul(GPU);
    let count = wanted.saturating_add(each - 1) / each;
    (0..count).map(|at| (format!("node-{at:05}"), each)).collect()
}
