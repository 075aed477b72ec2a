//! Whether a node takes pods.

use engine::message::command::Command;
use engine::message::command::PutNode;
use engine::state::cluster::NodeStatus;

use crate::facts::Facts;
use crate::field::Described;
use crate::field::Field;
use crate::field::Holds;
use crate::list::List;

const STATUS: List = List::Words(&[("ready", "takes pods"), ("cordoned", "takes no new pods")]);

const FIELDS: &[Field<PutNode>] = &[
    Field {
        key: "node",
        label: "Node",
        about: "The node that is cordoned, or takes pods again.",
        holds: Holds::Text {
            list: |_| List::Nodes,
            read: |node| node.node.to_string(),
            write: |node, facts, name| {
                let known = facts.nodes.iter().find(|known| known.node.as_str() == name);
                let known = known.ok_or_else(|| format!("there is no node “{name}”"))?.clone();
                *node = PutNode { status: node.status, ..known };
                Ok(())
            },
        },
    },
    Field {
        key: "status",
        label: "It",
        about: "A cordoned node keeps the pods that it has.",
        holds: Holds::Text {
            list: |_| STATUS,
            read: |node| if node.status == NodeStatus::Ready { "ready" } else { "cordoned" }.to_owned(),
            write: |node, _, text| {
                node.status = if text == "ready" { NodeStatus::Ready } else { NodeStatus::Cordoned };
                Ok(())
            },
        },
    },
];

/// The first node, cordoned.
pub(crate) fn begin(facts: &Facts) -> Option<Command> {
    let node = facts.nodes.first()?.clone();
    Some(PutNode { status: NodeStatus::Cordoned, ..node }.command())
}

impl Described for PutNode {
    fn fields(&self) -> &'static [Field<Self>] {
        FIELDS
    }

    fn line(&self, _: &Facts) -> String {
        format!("{} takes {}", self.node, if self.status == NodeStatus::Ready { "pods" } else { "no new pods" })
    }

    fn command(self) -> Command {
        Command::PutNode(self)
    }
}
