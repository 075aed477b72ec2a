//! Amounts between the engine's dimensions, the contract's texts and counts of nodes.

use engine::message::command::AmountByName;
use engine::message::command::NodesByName;
use engine::quota::tree::Quota;
use engine::state::cluster::Node;
use engine::state::world::State;
use engine::unit::amount::Amount;
use engine::unit::amount::DimensionKind;
use engine::unit::id::GroupNo;
use engine::unit::id::NodeId;
use engine::unit::id::QuotaNo;
use serde_json::Value;
use serde_json::json;

use crate::operation::nodes::AssignNodes;
use crate::operation::quantity;
use crate::operation::quota::NodeCount;
use crate::operation::submission::PodNeed;
use crate::problem::Problem;
use crate::service::engine_name;

/// What one machine of a type has: a node of the cluster, or an instance of the spot market.
pub(crate) fn machine(state: &State, node_type: &str) -> Option<Amount> {
    let node = state.live_nodes().find(|(_, node)| node.node_type.as_deref() == Some(node_type));
    let offer = || state.market.live_offers().find(|(_, offer)| offer.id.as_str() == node_type);
    node.map(|(_, node)| node.amount).or_else(|| offer().map(|(_, offer)| offer.instance))
}

/// The types of machines that there are.
fn machine_types(state: &State) -> Vec<&str> {
    let nodes = state.live_nodes().filter_map(|(_, node)| node.node_type.as_deref());
    let mut types: Vec<&str> = nodes.chain(state.market.live_offers().map(|(_, offer)| offer.id.as_str())).collect();
    types.sort_unstable();
    types.dedup();
    types
}

/// What so many nodes have, in the dimensions that are stated: all of them for a root, its parent's for a child.
pub(crate) fn of_nodes(
    state: &State,
    nodes: &[NodeCount],
    is_stated: impl Fn(usize) -> bool,
) -> Result<AmountByName, Problem> {
    let mut sums = AmountByName::new();
    for NodeCount { node_type, count } in nodes {
        let Some(machine) = machine(state, node_type) else {
            let known = machine_types(state).join(", ");
            let known =
                if known.is_empty() { "there are no machines yet".to_owned() } else { format!("known: {known}") };
            let message = format!("Min.NodeSpecs names the type {node_type:?}, which no machine here has; {known}");
            return Err(Problem::new(400, "InvalidNodeType", message));
        };
        for (at, dimension) in state.cluster.dimensions.iter().enumerate() {
            if machine[at] > 0 && is_stated(at) {
                let sum = sums.or_default(dimension.name.clone());
                *sum = sum.saturating_add(machine[at].saturating_mul(*count));
            }
        }
    }
    Ok(sums)
}

/// A quota's amount as so many nodes of one type, if it is that exactly.
pub(crate) fn in_nodes(state: &State, quota: &Quota) -> Option<Vec<NodeCount>> {
    let count_of = |node_type: &str| {
        let machine = machine(state, node_type)?;
        let stated = (0..state.cluster.dimensions.len()).filter(|at| quota.min.states(*at));
        let mut count = None;
        for at in stated {
            let (min, each) = (quota.min.amount[at], machine[at]);
            let is_whole = each > 0 && min % each == 0 && count.is_none_or(|count| count == min / each);
            count = is_whole.then(|| min / each);
            count?;
        }
        count
    };
    let found = machine_types(state).into_iter().find_map(|node_type| Some((node_type, count_of(node_type)?)));
    found.map(|(node_type, count)| vec![NodeCount { node_type: node_type.to_owned(), count }])
}

/// The groups of a kind that have nodes of a type, for a root that names none; all groups of the kind if no node has it.
pub(crate) fn groups_with(
    state: &State,
    nodes: &[NodeCount],
    kind: engine::unit::resource::ResourceType,
) -> Vec<GroupNo> {
    let of_kind = |no: &GroupNo| state.groups[no.at()].resource_type == kind;
    let all = (0..state.groups.len()).map(GroupNo::from_index).filter(of_kind);
    let has = |no: &GroupNo| {
        let is_meant = |node_type: &str| nodes.iter().any(|count| count.node_type == node_type);
        state.live_nodes().any(|(_, node)| node.group == *no && node.node_type.as_deref().is_some_and(is_meant))
    };
    let (having, others): (Vec<_>, Vec<_>) = all.partition(has);
    if having.is_empty() { others } else { having }
}

/// What one pod needs, by dimension names. CPU and memory that the cluster does not count are not asked for. A pod that
/// no machine of the quota could ever take is refused.
pub(crate) fn of_pod(state: &State, need: &PodNeed, quota: Option<QuotaNo>) -> Result<AmountByName, Problem> {
    let amount = by_dimensions(state, need, quota)?;
    let machines = machines_of(state, quota);
    let asked = |at: usize| amount.get(&state.cluster.dimensions[at].name).copied().unwrap_or_default();
    let dimensions = || 0..state.cluster.dimensions.len();
    let takes = |node: &&Node| dimensions().all(|at| asked(at) <= node.amount[at]);
    if machines.is_empty() || machines.iter().any(takes) {
        return Ok(amount);
    }
    let most = |at: usize| machines.iter().map(|node| node.amount[at]).max().unwrap_or_default();
    let told = |of: &dyn Fn(usize) -> i64| {
        let told = dimensions().filter(|at| asked(*at) > 0).map(|at| in_words(state, at, of(at)));
        told.collect::<Vec<_>>().join(", ")
    };
    let quota = quota.map(|no| format!(" of quota {}", state.quotas[no.at()].id)).unwrap_or_default();
    let (asked, most) = (told(&asked), told(&most));
    let message = format!("a pod asks for {asked}, and no node{quota} has that; the most that one has is {most}");
    Err(Problem::new(400, "PodTooLarge", message))
}

/// An amount in a dimension, as people say it.
fn in_words(state: &State, at: usize, amount: i64) -> String {
    let dimension = &state.cluster.dimensions[at];
    match dimension.kind {
        DimensionKind::Gpu if amount == 1000 => format!("{} GPU", quantity::decimal(amount)),
        DimensionKind::Gpu => format!("{} GPUs", quantity::decimal(amount)),
        DimensionKind::Cpu => format!("{} CPUs", quantity::decimal(amount)),
        DimensionKind::Memory => format!("{} of memory", quantity::memory(amount)),
        DimensionKind::Other => format!("{amount} of {}", dimension.name),
    }
}

/// The nodes that a quota draws on, or none where it draws on a pool as well, in which any split fits.
fn machines_of(state: &State, quota: Option<QuotaNo>) -> Vec<&Node> {
    let Some(quota) = quota else { return Vec::new() };
    let root = std::iter::successors(Some(quota), |no| state.quotas[no.at()].parent).last().unwrap_or(quota);
    let groups = &state.quotas[root.at()].groups;
    if groups.iter().any(|group| state.groups[group.at()].pool.is_some()) {
        return Vec::new();
    }
    state.live_nodes().map(|(_, node)| node).filter(|node| groups.contains(&node.group)).collect()
}

fn by_dimensions(state: &State, need: &PodNeed, quota: Option<QuotaNo>) -> Result<AmountByName, Problem> {
    let (gpus, gpu_type, cpus, memory) = match need {
        PodNeed::Amounts { gpus, gpu_type, cpus, memory } => (*gpus, gpu_type.as_deref(), *cpus, *memory),
        PodNeed::Instance(node_type) => {
            return of_nodes(state, &[NodeCount { node_type: node_type.clone(), count: 1 }], |_| true);
        }
    };
    let mut amount = AmountByName::new();
    if gpus > 0 {
        amount.insert(gpu_dimension(state, gpu_type, quota)?.to_owned(), gpus);
    }
    for (kind, value) in [(DimensionKind::Cpu, cpus), (DimensionKind::Memory, memory)] {
        let dimension = state.cluster.dimensions.iter().find(|dimension| dimension.kind == kind);
        if let Some(dimension) = dimension.filter(|_| value > 0) {
            amount.insert(dimension.name.clone(), value);
        }
    }
    Ok(amount)
}

/// The dimension of GPUs of a type. Where all types share one dimension, nodes are chosen by their type.
fn gpu_dimension<'s>(state: &'s State, gpu_type: Option<&str>, quota: Option<QuotaNo>) -> Result<&'s str, Problem> {
    let names: Vec<&str> =
        state.cluster.gpu_dimensions().map(|at| state.cluster.dimensions[at].name.as_str()).collect();
    let asked = names.iter().find(|name| gpu_type.is_some_and(|sent| name.eq_ignore_ascii_case(sent)));
    match (asked, names.as_slice()) {
        (Some(name), _) => Ok(name),
        (None, [name]) => check_gpu_type(state, gpu_type, quota).map(|()| *name),
        (None, []) => Err(Problem::new(400, "InvalidParameter", "the cluster counts no GPUs; leave GPU out")),
        (None, _) => {
            let sent = gpu_type.unwrap_or_default();
            let message = format!("GPUType is {sent:?}; it must be one of {}", names.join(", "));
            Err(Problem::new(400, "InvalidParameter", message))
        }
    }
}

/// The type has to be that of some node of the quota.
fn check_gpu_type(state: &State, gpu_type: Option<&str>, quota: Option<QuotaNo>) -> Result<(), Problem> {
    let Some(sent) = gpu_type else { return Ok(()) };
    let nodes = machines_of(state, quota).into_iter().filter(|node| state.cluster.gpus(&node.amount) > 0);
    let mut known: Vec<&str> = nodes.filter_map(|node| node.gpu_type.as_deref()).collect();
    known.sort_unstable();
    known.dedup();
    let rest = match known.as_slice() {
        all if all.iter().any(|one| one.eq_ignore_ascii_case(sent)) => return Ok(()),
        [] => "the machines of the quota are not known by the type of their GPUs; leave it out".to_owned(),
        [one] => format!("the GPUs of the quota are of the type {one}"),
        several => format!("it must be one of {}", several.join(", ")),
    };
    Err(Problem::new(400, "InvalidParameter", format!("GPUType is {sent:?}; {rest}")))
}

/// The nodes that pods may run on: those that are named, and where all types of GPUs share one dimension, those with the
/// type that is asked for.
pub(crate) fn chosen_nodes<'n>(
    state: &State,
    needs: impl IntoIterator<Item = &'n PodNeed>,
    named: &AssignNodes,
) -> Result<NodesByName, Problem> {
    let mut types: Vec<&str> = Vec::new();
    for need in needs {
        if let PodNeed::Amounts { gpus: 1.., gpu_type: Some(gpu_type), .. } = need {
            types.push(gpu_type);
        }
    }
    types.dedup_by(|a, b| a.eq_ignore_ascii_case(b));
    let is_shared = state.cluster.gpu_dimensions().nth(1).is_none();
    let gpu_type = match types.as_slice() {
        _ if !is_shared => None,
        [] => None,
        [one] => {
            state.live_nodes().filter_map(|(_, node)| node.gpu_type.clone()).find(|of| of.eq_ignore_ascii_case(one))
        }
        several => {
            let message = format!("GPUType is {}; all pods of a job have one type of GPUs", several.join(" and "));
            return Err(Problem::new(400, "InvalidParameter", message));
        }
    };
    let ids = |names: &[String]| names.iter().map(|id| engine_name::name::<NodeId>(id)).collect::<Result<_, Problem>>();
    Ok(NodesByName { gpu_type, only: ids(&named.only)?, without: ids(&named.without)? })
}

/// An amount as the contract writes it: a text for each resource.
pub(crate) fn resource(state: &State, amount: &Amount) -> Value {
    let of_kind = |kind: DimensionKind| {
        let at = state.cluster.dimensions.iter().position(|dimension| dimension.kind == kind);
        at.map(|at| amount[at])
    };
    // Where GPUs are not told apart, the dimension's name is not that of a type.
    let is_typed = state.cluster.gpu_dimensions().nth(1).is_some();
    let gpu_type = state.cluster.gpu_dimension(amount).filter(|_| is_typed);
    json!({
        "GPU": quantity::decimal(state.cluster.gpus(amount)),
        "CPU": of_kind(DimensionKind::Cpu).map(quantity::decimal),
        "Memory": of_kind(DimensionKind::Memory).map(quantity::memory),
        "GPUType": gpu_type.map(|at| state.cluster.dimensions[at].name.as_str()),
    })
}

/// Counts of nodes as the contract writes them.
pub(crate) fn node_specs(nodes: &[NodeCount]) -> Value {
    let one = |node: &NodeCount| json!({ "Type": node.node_type, "Count": node.count });
    json!({ "NodeSpecs": nodes.iter().map(one).collect::<Vec<_>>() })
}

/// The number of a dimension's unit that is whole: CPUs, GPUs, GiB.
pub(crate) fn whole(state: &State, amount: &Amount, kind: DimensionKind) -> i64 {
    let each = match kind {
        DimensionKind::Gpu | DimensionKind::Cpu => 1000,
        DimensionKind::Memory => 1024,
        DimensionKind::Other => 1,
    };
    in_units(state, amount, kind) / each
}

/// The amount in all dimensions of a kind, in the engine's units: thousandths, and MiB.
pub(crate) fn in_units(state: &State, amount: &Amount, kind: DimensionKind) -> i64 {
    let at = state.cluster.dimensions.iter().enumerate().filter(|(_, dimension)| dimension.kind == kind);
    at.map(|(at, _)| amount[at]).sum()
}
