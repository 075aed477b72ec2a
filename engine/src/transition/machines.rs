//! Resource groups and nodes (rules 1.2).

use crate::message::command::PutGroup;
use crate::message::command::PutNode;
use crate::message::event::Event;
use crate::message::rejection::Noun;
use crate::message::rejection::Rejection;
use crate::state::cluster::Group;
use crate::state::cluster::Node;
use crate::state::cluster::NodeStatus;
use crate::state::cluster::OnSilence;
use crate::state::world::State;
use crate::transition::halt;
use crate::transition::names;
use crate::transition::nodes;
use crate::transition::quota::check_tree;
use crate::unit::amount::GPU;
use crate::unit::id::GroupNo;
use crate::unit::id::NodeId;
use crate::unit::id::NodeNo;
use crate::unit::limit;
use crate::unit::ordered::Set;
use crate::unit::time::Timestamp;

pub(super) fn put_group(state: &State, command: &PutGroup) -> Result<Vec<Event>, Rejection> {
    let PutGroup { group: id, resource_type, pool, on_silence } = command;
    if let Some(OnSilence::StopAfter(after)) = on_silence {
        names::silence_in_range(*after)?;
    }
    let pool = pool.as_ref().map(|pool| names::amount(state, format_args!("group {id}"), pool)).transpose()?;
    let known = state.group_no(id);
    let as_before = || known.map_or_else(OnSilence::default, |no| state.groups[no.at()].on_silence);
    let on_silence = on_silence.unwrap_or_else(as_before);
    let group = Group { id: id.clone(), resource_type: *resource_type, pool, on_silence };
    let Some(no) = known else {
        if group.pool.is_some() && state.cluster.is_reported() {
            return Err(Rejection::Structure {
                reason: format!(
                    "group {id} is a pool, which has no nodes, and jobs of this cluster really run; add a group of nodes"
                ),
            });
        }
        names::within_limit("resource groups", state.groups.len() + 1, limit::GROUPS_MAX)?;
        return Ok(vec![Event::GroupPut { no: GroupNo::from_index(state.groups.len()), group: Box::new(group) }]);
    };
    let before = &state.groups[no.at()];
    if *before == group {
        return Ok(Vec::new());
    }
    if before.resource_type != group.resource_type || before.pool.is_some() != group.pool.is_some() {
        return Err(Rejection::Taken { noun: Noun::Group, name: id.to_string() });
    }
    let mut groups = state.groups.clone();
    groups[no.at()] = group.clone();
    check_tree(&state.cluster, &groups, &state.nodes, &state.quotas, &Set::new())?;
    Ok(vec![Event::GroupPut { no, group: Box::new(group) }])
}

/// A node has whole GPUs; who writes 8 for eight of them is told the unit.
fn not_whole(id: &NodeId, thousandths: i64) -> String {
    let is_likely = thousandths <= limit::NODE_GPUS_MAX_I64;
    let meant = if is_likely { format!("; did you mean {}?", thousandths * GPU) } else { String::new() };
    format!(
        "node {id} has {thousandths} thousandths of a GPU; amounts are in thousandths, and a node has whole GPUs{meant}"
    )
}

pub(super) fn put_node(state: &State, command: &PutNode, now: Timestamp) -> Result<Vec<Event>, Rejection> {
    let PutNode { node: id, group, node_type, gpu_type, amount, status } = command;
    let group = names::group(state, group)?;
    if state.groups[group.at()].pool.is_some() {
        return Err(Rejection::Structure {
            reason: format!("group {} is a pool; a pool has an amount and no nodes", state.groups[group.at()].id),
        });
    }
    let amount = names::amount(state, format_args!("node {id}"), amount)?;
    let gpu_dimensions: Vec<usize> = state.cluster.gpu_dimensions().filter(|&at| amount[at] > 0).collect();
    if let [first, second, ..] = gpu_dimensions[..] {
        let name = |at: usize| &state.cluster.dimensions[at].name;
        return Err(Rejection::Structure {
            reason: format!(
                "node {id} has GPUs in {} and in {}; a node has GPUs of one type",
                name(first),
                name(second)
            ),
        });
    }
    for at in gpu_dimensions {
        if amount[at] % GPU != 0 {
            return Err(Rejection::Structure { reason: not_whole(id, amount[at]) });
        }
        names::in_range(format_args!("GPUs of node {id}"), amount[at] / GPU, 1, limit::NODE_GPUS_MAX_I64)?;
    }
    let node = Node {
        id: id.clone(),
        group,
        node_type: node_type.clone(),
        gpu_type: gpu_type.clone(),
        amount,
        status: *status,
        silence: state.node_no(id).and_then(|no| state.nodes[no.at()].silence),
        is_deleted: false,
    };
    if node.status == NodeStatus::Dead && !state.cluster.is_reported() {
        let reason = format!("node {id} cannot be dead: what runs there is simulated; cordon it");
        return Err(Rejection::Structure { reason });
    }
    let Some(no) = state.node_no(id) else {
        return Ok(vec![Event::NodePut { no: new_number(state, id)?, node: Box::new(node) }]);
    };
    let before = &state.nodes[no.at()];
    if *before == node {
        return Ok(Vec::new());
    }
    if before.group != node.group {
        return Err(Rejection::Taken { noun: Noun::Node, name: id.to_string() });
    }
    let is_smaller = !before.amount.fits_in(&node.amount);
    let is_used = state.floor.nodes[no.at()].free != before.amount;
    if is_smaller && is_used {
        let reason = "runs pods; cordon it, wait until it is empty, and then change its amount".to_owned();
        return Err(Rejection::NotNow { noun: Noun::Node, name: id.to_string(), reason });
    }
    let mut nodes = state.nodes.clone();
    nodes[no.at()] = node.clone();
    check_tree(&state.cluster, &state.groups, &nodes, &state.quotas, &Set::new())?;
    let is_dead_now = node.status == NodeStatus::Dead && before.status != NodeStatus::Dead;
    let put = Event::NodePut { no, node: Box::new(node) };
    if is_dead_now {
        return Ok(nodes::lost(state, put, no, &format!("{id} was declared dead"), now));
    }
    Ok(halt::machines_changed(state, put, now))
}

/// The number of a node that is new, or that comes again.
fn new_number(state: &State, id: &NodeId) -> Result<NodeNo, Rejection> {
    if let Some(no) = state.node_no_ever(id) {
        return Ok(no);
    }
    let count = state.nodes.len();
    if count >= limit::NODES_MAX {
        let is_any_deleted = state.nodes.iter().any(|node| node.is_deleted);
        let what = if is_any_deleted { "nodes, deleted ones included," } else { "nodes" };
        names::within_limit(what, count + 1, limit::NODES_MAX)?;
    }
    Ok(NodeNo::from_index(count))
}

#[cfg(test)]
mod tests {
    use crate::host::authority;
    use crate::message;
    use crate::state::world::State;
    use crate::unit::time::Timestamp;

    #[test]
    fn whoever_forgets_the_unit_is_told_what_they_mean() {
        let mut state = State::default();
        let mut told = |text: &str| {
            let command = message::read(text.as_bytes()).expect("it is a command");
            authority::step(&mut state, &command, Timestamp(0))
                .map_or_else(|rejection| rejection.to_string(), |_| String::new())
        };
        assert_eq!(told(r#"{"create_cluster":{"dimensions":[{"name":"gpu","kind":"gpu"}]}}"#), "");
        assert_eq!(told(r#"{"put_group":{"group":"m","resource_type":"lingjun"}}"#), "");
        let mut node =
            |gpus: u32| told(&format!(r#"{{"put_node":{{"node":"n1","group":"m","amount":{{"gpu":{gpus}}}}}}}"#));
        assert!(node(8).ends_with("amounts are in thousandths; did you mean 8000?"), "{}", node(8));
        assert!(node(16).ends_with(
            "16 thousandths of a GPU; amounts are in thousandths, and a node has whole GPUs; did you mean 16000?"
        ));
        assert!(node(1500).ends_with("amounts are in thousandths, and a node has whole GPUs"));
        assert!(node(17_000).starts_with("GPUs of node n1"), "{}", node(17_000));
        assert_eq!(node(8000), "");
    }
}
