//! Nodes of which an agent says that nothing can begin there, and what is said of that to the log: they are cordoned, and
//! ready again when the agent says so. What a person has cordoned stays that until a person says otherwise.

use agent::message::NodeStatus as Fitness;
use engine::message::command::PutNode;
use engine::state::cluster::Node;
use engine::state::cluster::NodeStatus;
use engine::state::world::State;

use crate::agents::contact::Contact;
use crate::agents::judged::Judged;

/// The nodes whose status changes by what their agent says of them.
pub(super) fn changed(state: &State, contact: &mut Contact, reports: &[Judged]) -> Vec<PutNode> {
    let mut puts = Vec::new();
    for report in reports {
        let node = report.no.map(|no| &state.nodes[no.at()]).filter(|node| !node.is_deleted);
        let Some(node) = node else { continue };
        let is_ours = contact.cordoned.contains(report.name);
        match (report.status, node.status) {
            (Fitness::Unfit, NodeStatus::Ready) => {
                contact.cordoned.insert(report.name.to_owned());
                puts.push(put(state, node, NodeStatus::Cordoned));
            }
            // It goes from the list when the log has it as ready.
            (Fitness::Ready, NodeStatus::Cordoned) if is_ours => puts.push(put(state, node, NodeStatus::Ready)),
            (Fitness::Ready, NodeStatus::Ready) | (_, NodeStatus::Dead) => {
                contact.cordoned.remove(report.name);
            }
            (Fitness::Ready | Fitness::Unfit, NodeStatus::Cordoned) => {}
        }
    }
    puts
}

/// A node as it is, with another status.
fn put(state: &State, node: &Node, status: NodeStatus) -> PutNode {
    PutNode { status, ..PutNode::of(state, node) }
}

#[cfg(test)]
mod tests {
    use agent::message::NodeReport;
    use agent::message::NodeStatus as Fitness;
    use engine::host::authority;
    use engine::message::envelope::Envelope;
    use engine::state::cluster::NodeStatus;
    use engine::state::world::State;
    use engine::unit::time::Timestamp;
    use serde_json::Value;
    use serde_json::json;

    use super::changed;
    use crate::agents::contact::Contact;
    use crate::agents::judged::judged;

    fn node(status: &str) -> Value {
        json!({ "put_node": { "node": "n1", "group": "m", "amount": { "gpu": 8_000 }, "gpu_type": "h100", "status": status } })
    }

    fn send(state: &mut State, command: &Value) {
        let id = state.revision.to_string();
        let envelope = json!({ "format": 1, "id": id, "command": command });
        let envelope: Envelope = serde_json::from_value(envelope).expect("it is a command");
        authority::handle(state, &envelope, Timestamp(0)).expect("it is accepted");
    }

    fn founded() -> State {
        let mut state = State::default();
        let dimensions = json!([{ "name": "gpu", "kind": "gpu" }]);
        send(&mut state, &json!({ "create_cluster": { "dimensions": dimensions, "execution": "reported" } }));
        send(&mut state, &json!({ "put_group": { "group": "m", "resource_type": "lingjun" } }));
        send(&mut state, &node("ready"));
        state
    }

    /// What becomes of the node when its agent says this of it.
    fn told(state: &mut State, contact: &mut Contact, status: Fitness) -> NodeStatus {
        told_of(state, contact, status, 8)
    }

    fn told_of(state: &mut State, contact: &mut Contact, status: Fitness, gpus: u16) -> NodeStatus {
        let reports = [NodeReport { node: "n1".to_owned(), gpus, status, reason: None }];
        let puts = changed(state, contact, &judged(state, &reports));
        for put in puts {
            let put = serde_json::to_value(put).expect("it is JSON");
            send(state, &json!({ "put_node": put }));
        }
        assert_eq!(state.nodes[0].gpu_type.as_deref(), Some("h100"));
        state.nodes[0].status
    }

    #[test]
    fn a_node_is_cordoned_while_its_agent_says_that_nothing_can_begin_there() {
        let (mut state, mut contact) = (founded(), Contact::default());
        assert_eq!(told(&mut state, &mut contact, Fitness::Ready), NodeStatus::Ready);
        assert_eq!(told(&mut state, &mut contact, Fitness::Unfit), NodeStatus::Cordoned);
        let revision = state.revision;
        assert_eq!(told(&mut state, &mut contact, Fitness::Unfit), NodeStatus::Cordoned);
        assert_eq!(state.revision, revision, "what is known is not said again");
        assert_eq!(told(&mut state, &mut contact, Fitness::Ready), NodeStatus::Ready);
    }

    #[test]
    fn a_node_is_cordoned_while_it_has_fewer_gpus_than_the_cluster_counts_on() {
        let (mut state, mut contact) = (founded(), Contact::default());
        assert_eq!(told_of(&mut state, &mut contact, Fitness::Ready, 6), NodeStatus::Cordoned);
        let report = NodeReport { node: "n1".to_owned(), gpus: 6, status: Fitness::Ready, reason: None };
        let reports = [report];
        let reasons: Vec<_> = judged(&state, &reports).into_iter().map(|report| report.reason).collect();
        assert_eq!(reasons, [Some("it has 6 GPUs, and the cluster counts on 8".into())]);
        assert_eq!(told_of(&mut state, &mut contact, Fitness::Ready, 8), NodeStatus::Ready);
        assert_eq!(told_of(&mut state, &mut contact, Fitness::Ready, 9), NodeStatus::Ready, "more do no harm");
    }

    #[test]
    fn what_a_person_has_cordoned_stays_so() {
        let (mut state, mut contact) = (founded(), Contact::default());
        assert_eq!(told(&mut state, &mut contact, Fitness::Unfit), NodeStatus::Cordoned);
        assert_eq!(told(&mut state, &mut contact, Fitness::Ready), NodeStatus::Ready);
        told(&mut state, &mut contact, Fitness::Ready);
        send(&mut state, &node("cordoned"));
        assert_eq!(told(&mut state, &mut contact, Fitness::Ready), NodeStatus::Cordoned);
        assert_eq!(told(&mut state, &mut contact, Fitness::Unfit), NodeStatus::Cordoned);
        assert_eq!(told(&mut state, &mut contact, Fitness::Ready), NodeStatus::Cordoned);
    }
}
