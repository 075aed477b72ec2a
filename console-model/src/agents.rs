//! The agents beside the machines, as the service tells of them: no replica knows when one was heard.

use engine::unit::time::Timestamp;
use serde::Deserialize;

use crate::duration::rough;

/// An agent.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Agent {
    /// Its name.
    pub agent: String,
    /// The groups on whose nodes it may run jobs; none if its key does not serve any more.
    pub serves: Vec<String>,
    /// When it was last heard, if that is known.
    pub heard: Option<Timestamp>,
    /// Since when it is missed, if it is.
    pub missed: Option<Timestamp>,
    /// Its nodes.
    pub nodes: Vec<AgentNode>,
}

/// A node of an agent.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct AgentNode {
    /// The node.
    pub node: String,
    /// Why nothing can begin there, if nothing can.
    pub unfit: Option<String>,
}

impl Agent {
    /// When it was last heard, in words.
    #[must_use]
    pub fn last_heard(&self, now: Timestamp) -> String {
        match (self.missed, self.heard) {
            (Some(since), _) => format!("not heard for {}", rough(now - since)),
            (None, Some(at)) => format!("{} ago", rough(now - at)),
            (None, None) if self.nodes.is_empty() => "never".to_owned(),
            // The service slept: nobody has asked since, and nobody is missed yet.
            (None, None) => "not since the service woke up".to_owned(),
        }
    }

    /// What is to be said of its key: for which groups it serves.
    #[must_use]
    pub fn serves(&self) -> String {
        if self.serves.is_empty() { "its key no longer serves".to_owned() } else { self.serves.join(", ") }
    }
}

/// The agent of a node, if it has named one.
#[must_use]
pub fn of_node<'a>(agents: &'a [Agent], node: &str) -> Option<&'a Agent> {
    agents.iter().find(|agent| agent.nodes.iter().any(|named| named.node == node))
}

/// Why nothing can begin on a node, in a sentence, as its agent says.
#[must_use]
pub fn unfit(agents: &[Agent], node: &str) -> Option<String> {
    let agent = of_node(agents, node)?;
    let reason = agent.nodes.iter().find(|named| named.node == node)?.unfit.as_deref()?;
    let reason = reason.trim().trim_end_matches('.');
    let why = if reason.is_empty() { String::new() } else { format!(": {reason}") };
    Some(format!(
        "Agent {} says that nothing can begin here{why}. It is ready again when the agent says so.",
        agent.agent
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_000_000);

    fn agent(heard: Option<i64>, missed: Option<i64>, nodes: &[(&str, Option<&str>)]) -> Agent {
        let node = |(node, unfit): &(&str, Option<&str>)| AgentNode {
            node: (*node).to_owned(),
            unfit: unfit.map(str::to_owned),
        };
        Agent {
            agent: "west".to_owned(),
            serves: vec!["machines".to_owned()],
            heard: heard.map(Timestamp),
            missed: missed.map(Timestamp),
            nodes: nodes.iter().map(node).collect(),
        }
    }

    #[test]
    fn who_is_missed_is_not_said_to_be_heard() {
        let nodes = [("n1", None)];
        assert_eq!(agent(Some(988_000), None, &nodes).last_heard(NOW), "12 s ago");
        assert_eq!(agent(Some(700_000), Some(760_000), &nodes).last_heard(NOW), "not heard for 4 min");
        assert_eq!(agent(None, None, &nodes).last_heard(NOW), "not since the service woke up");
        assert_eq!(agent(None, None, &[]).last_heard(NOW), "never");
    }

    #[test]
    fn a_reason_is_told_with_whose_it_is() {
        let agents = [agent(None, None, &[("n1", None), ("n2", Some("the driver shows no GPU.")), ("n3", Some(""))])];
        assert_eq!((unfit(&agents, "n1"), unfit(&agents, "elsewhere")), (None, None));
        assert_eq!(
            unfit(&agents, "n2").as_deref(),
            Some(
                "Agent west says that nothing can begin here: the driver shows no GPU. It is ready again when the agent says so."
            )
        );
        assert_eq!(
            unfit(&agents, "n3").as_deref(),
            Some("Agent west says that nothing can begin here. It is ready again when the agent says so.")
        );
        assert_eq!(of_node(&agents, "n3").map(Agent::serves).as_deref(), Some("machines"));
    }
}
