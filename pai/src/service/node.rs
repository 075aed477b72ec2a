//! Nodes (`PaiStudio`).

use std::collections::BTreeMap;

use engine::job::phase::PodAt;
use engine::message::command::Command;
use engine::message::command::PutNode;
use engine::state::cluster::Node;
use engine::state::cluster::NodeStatus;
use engine::state::jobs::Job;
use engine::state::world::State;
use engine::unit::amount::Amount;
use engine::unit::amount::DimensionKind;
use engine::unit::id::GroupNo;
use engine::unit::id::NodeId;
use engine::unit::id::NodeNo;
use engine::unit::sort;
use serde_json::Value;
use serde_json::json;

use crate::operation::machine::Among;
use crate::operation::machine::NodeOrder;
use crate::operation::page::Direction;
use crate::operation::page::Page;
use crate::operation::quantity;
use crate::problem::Problem;
use crate::service::amount;
use crate::service::context::Context;
use crate::service::context::contains;
use crate::service::context::not_found;
use crate::service::context::one_of;
use crate::service::context::paged;
use crate::service::document::Kind;
use crate::service::group;
use crate::service::held;
use crate::service::job::pods::names;

pub(super) fn list(
    context: &Context,
    among: &Among,
    order: Option<NodeOrder>,
    direction: Direction,
    page: Page,
) -> Result<Value, Problem> {
    let state = context.state()?;
    let mut found = chosen(context, among)?;
    match order {
        None => {}
        Some(NodeOrder::Name) => {
            sort::by(&mut found, |a, b| state.nodes[a.at()].id.cmp(&state.nodes[b.at()].id));
        }
        Some(NodeOrder::Amount(kind)) => {
            sort::by_key(&mut found, |no| amount::in_units(state, &state.nodes[no.at()].amount, kind));
        }
    }
    if direction == Direction::Descending {
        found.reverse();
    }
    let (page, total) = paged(found, page);
    let pods = on_nodes(context.state()?);
    let nodes = page.into_iter().map(|no| told(context, no, &pods)).collect::<Result<Vec<Value>, Problem>>()?;
    Ok(json!({ "Nodes": nodes, "TotalCount": total }))
}

pub(super) fn types(context: &Context, among: &Among) -> Result<Value, Problem> {
    let state = context.state()?;
    let mut counts: BTreeMap<&str, (&Node, i64)> = BTreeMap::new();
    for node in chosen(context, among)?.into_iter().map(|no| &state.nodes[no.at()]) {
        if let Some(node_type) = node.node_type.as_deref() {
            counts.entry(node_type).or_insert((node, 0)).1 += 1;
        }
    }
    let one = |(name, (node, _)): (&&str, &(&Node, i64))| {
        let mut fields = size(state, node);
        fields["NodeType"] = Value::from(*name);
        fields
    };
    let count = |(name, (_, count)): (&&str, &(&Node, i64))| json!({ "NodeType": name, "TotalCount": count });
    Ok(json!({
        "NodeTypes": counts.iter().map(one).collect::<Vec<_>>(),
        "Statistics": counts.iter().map(count).collect::<Vec<_>>(),
    }))
}

/// The pods on a node. Those of other workspaces are told as amounts, without names.
pub(super) fn pods(context: &Context, name: &str, group: Option<&str>, wanted: &[u32]) -> Result<Value, Problem> {
    let (state, no) = (context.state()?, find(context, name, group)?);
    let mut told = Vec::new();
    for OnNode { job, at, gpus, amount } in on_nodes(state).remove(&no).unwrap_or_default() {
        let is_seen = context.may_see_job(&job.spec.id)?;
        let indexes: Vec<u32> = (0..16).filter(|bit| gpus & (1 << bit) != 0).collect();
        if !wanted.is_empty() && !indexes.iter().any(|gpu| wanted.contains(gpu)) {
            continue;
        }
        told.push(json!({
            "PodName": if is_seen { pod_name(context, job, at)? } else { None },
            "WorkloadId": is_seen.then(|| job.spec.id.as_str()),
            "WorkloadType": job.spec.module.as_str().to_ascii_lowercase(),
            "Phase": "Running",
            "ResourceSpec": amount::resource(state, &amount),
            "GPUIndexes": indexes,
        }));
    }
    Ok(json!({ "NodePodInfos": told }))
}

fn pod_name(context: &Context, job: &Job, at: usize) -> Result<Option<String>, Problem> {
    let document = context.document(Kind::Job, job.spec.id.as_str())?;
    Ok(names(job, &document).nth(at))
}

pub(super) fn cordon(
    context: &mut Context,
    name: &str,
    group: Option<&str>,
    is_cordoned: bool,
) -> Result<Value, Problem> {
    let (state, no) = (context.state()?, find(context, name, group)?);
    let status = if is_cordoned { NodeStatus::Cordoned } else { NodeStatus::Ready };
    let put = PutNode { status, ..PutNode::of(state, &state.nodes[no.at()]) };
    context.send(Command::PutNode(put), &[])?;
    Ok(json!({ "NodeId": name }))
}

/// A node, of a group if one is named.
fn find(context: &Context, name: &str, group: Option<&str>) -> Result<NodeNo, Problem> {
    let state = context.state()?;
    let group = group.map(|group| group::find(context, group)).transpose()?;
    let is_meant = |no: &NodeNo| group.is_none_or(|group| state.nodes[no.at()].group == group);
    let found = NodeId::new(name).ok().and_then(|id| state.node_no(&id)).filter(|_| context.is_somebody(state));
    let found = found.filter(is_meant);
    found.ok_or_else(|| not_found("Node", "node", name))
}

fn chosen(context: &Context, among: &Among) -> Result<Vec<NodeNo>, Problem> {
    let state = context.state()?;
    let mut groups: Vec<GroupNo> = Vec::new();
    if let Some(quota) = &among.quota {
        let no = context.quota(quota)?;
        let root = std::iter::successors(Some(no), |no| state.quotas[no.at()].parent).last().unwrap_or(no);
        groups.extend(&state.quotas[root.at()].groups);
    }
    for name in &among.groups {
        groups.push(group::find(context, name)?);
    }
    if let Some(part) = &among.group_part {
        let mut named = Vec::new();
        for no in groups {
            if contains(&group::shown_name(context, &state.groups[no.at()])?, Some(part)) {
                named.push(no);
            }
        }
        groups = named;
    }
    let is_meant = |node: &Node| {
        groups.contains(&node.group)
            && one_of(&among.nodes, Some(node.id.as_str()))
            && one_of(&among.types, node.node_type.as_deref())
            && (among.ready.is_empty() || among.ready.contains(&(node.status == NodeStatus::Ready)))
            && among.gpu_type.as_ref().is_none_or(|wanted| node.gpu_type.as_deref() == Some(wanted))
            && among.accelerated.is_none_or(|wanted| (state.cluster.gpus(&node.amount) > 0) == wanted)
    };
    Ok(state.live_nodes().filter(|(_, node)| is_meant(node)).map(|(no, _)| no).collect())
}

/// A pod on a node.
struct OnNode<'s> {
    job: &'s Job,
    /// Its number in the job.
    at: usize,
    /// Its GPUs bit by bit.
    gpus: u16,
    amount: Amount,
}

fn on_nodes(state: &State) -> BTreeMap<NodeNo, Vec<OnNode<'_>>> {
    let mut nodes: BTreeMap<NodeNo, Vec<OnNode>> = BTreeMap::new();
    for (_, job) in state.jobs.iter() {
        for (at, (place, amount)) in held::pods(job).enumerate() {
            if let Some(PodAt { node, gpus }) = place {
                nodes.entry(node).or_default().push(OnNode { job, at, gpus, amount });
            }
        }
    }
    nodes
}

/// What a node has.
fn size(state: &State, node: &Node) -> Value {
    let mut fields = amount::resource(state, &node.amount);
    let has_gpus = state.cluster.gpus(&node.amount) > 0;
    fields["AcceleratorType"] = Value::from(if has_gpus { "GPU" } else { "CPU" });
    if let Some(gpu_type) = node.gpu_type.as_deref() {
        fields["GPUType"] = Value::from(gpu_type);
    }
    fields
}

fn told(context: &Context, no: NodeNo, pods: &BTreeMap<NodeNo, Vec<OnNode>>) -> Result<Value, Problem> {
    let state = context.state()?;
    let node = &state.nodes[no.at()];
    let on_it = pods.get(&no).map(Vec::as_slice).unwrap_or_default();
    let requested = on_it.iter().fold(Amount::ZERO, |sum, pod| sum.plus(&pod.amount));
    let mut jobs: Vec<&str> = on_it.iter().map(|pod| pod.job.spec.id.as_str()).collect();
    jobs.sort_unstable();
    jobs.dedup();
    let of_kind = |kind| {
        let at = state.cluster.dimensions.iter().position(|dimension| dimension.kind == kind);
        at.map(|at| requested[at]).unwrap_or_default()
    };
    let group = &state.groups[node.group.at()];
    let mut fields = size(state, node);
    let told = json!({
        "NodeName": node.id.as_str(),
        "NodeType": node.node_type.as_deref(),
        "NodeStatus": if node.status == NodeStatus::Ready { "Ready" } else { "SchedulingDisabled" },
        "IsBound": true,
        "ResourceGroupId": group.id.as_str(),
        "ResourceGroupName": group::shown_name(context, group)?,
        "PodNum": on_it.len(),
        "WorkloadNum": jobs.len(),
        "RequestGPU": quantity::decimal(state.cluster.gpus(&requested)),
        "RequestCPU": quantity::decimal(of_kind(DimensionKind::Cpu)),
        "RequestMemory": quantity::memory(of_kind(DimensionKind::Memory)),
    });
    if let (Value::Object(fields), Value::Object(told)) = (&mut fields, told) {
        fields.extend(told);
    }
    Ok(fields)
}
