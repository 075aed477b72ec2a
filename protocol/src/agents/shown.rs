//! What people are shown of agents: which nodes are whose, when each was last heard, and why nodes cannot begin runs.

use std::collections::BTreeSet;

use engine::state::world::State;
use engine::unit::time::Timestamp;

use crate::agents::contact;
use crate::agents::contact::Contacts;
use crate::answer::AgentNode;
use crate::answer::AgentShown;
use crate::name::ClusterName;

/// All agents that have a key that serves, or have ever said hello. `heard` says when one was last heard, if that is
/// known.
#[must_use]
pub fn shown(
    state: &State,
    contacts: &Contacts,
    cluster: &ClusterName,
    heard: &dyn Fn(&str) -> Option<Timestamp>,
    now: Timestamp,
) -> Vec<AgentShown> {
    let serving = contact::serving(state, cluster, now);
    let names: BTreeSet<&str> = serving.keys().copied().chain(contacts.keys().map(String::as_str)).collect();
    let agent = |name: &str| {
        let known = contacts.get(name);
        let node = |node: &String| {
            let unfit = known.and_then(|contact| contact.unfit.get(node)).cloned();
            AgentNode { node: node.clone(), unfit }
        };
        AgentShown {
            agent: name.to_owned(),
            serves: serving.get(name).map(|key| key.serves.clone()).unwrap_or_default(),
            heard: heard(name),
            missed: known.and_then(|contact| contact.missed),
            nodes: known.into_iter().flat_map(|contact| &contact.nodes).map(node).collect(),
        }
    };
    names.into_iter().map(agent).collect()
}

#[cfg(test)]
mod tests {
    use engine::host::authority;
    use engine::message;
    use engine::state::world::State;
    use engine::unit::time::Timestamp;

    use super::shown;
    use crate::agents::contact::Contact;
    use crate::agents::contact::Contacts;
    use crate::name::ClusterName;

    const COMMANDS: [&str; 4] = [
        r#"{"create_cluster":{"dimensions":[{"name":"gpu","kind":"gpu"}],"execution":"reported"}}"#,
        r#"{"put_group":{"group":"m","resource_type":"lingjun"}}"#,
        r#"{"create_key":{"key":"prod.west","user":"west","serves":["m"]}}"#,
        r#"{"create_key":{"key":"prod.ana","user":"ana"}}"#,
    ];

    #[test]
    fn an_agent_is_shown_from_its_key_on_and_with_what_it_says_of_its_nodes() {
        let mut state = State::default();
        for text in COMMANDS {
            let command = message::read(text.as_bytes()).expect("it is a command");
            authority::step(&mut state, &command, Timestamp(0)).expect("it is accepted");
        }
        let cluster = ClusterName::new("prod").expect("a name");
        let list = |contacts: &Contacts| {
            let heard = |name: &str| (name == "west").then_some(Timestamp(7));
            shown(&state, contacts, &cluster, &heard, Timestamp(9))
        };
        let [west] = &list(&Contacts::new())[..] else { panic!("a person's key is no agent's") };
        assert_eq!((west.agent.as_str(), west.serves.len(), west.nodes.len()), ("west", 1, 0));

        let mut contact = Contact { missed: Some(Timestamp(5)), ..Contact::default() };
        contact.nodes.extend(["n1".to_owned(), "n2".to_owned()]);
        contact.unfit.insert("n2".to_owned(), "the driver shows no GPU".to_owned());
        let contacts = Contacts::from([("gone".to_owned(), Contact::default()), ("west".to_owned(), contact)]);
        let [gone, west] = &list(&contacts)[..] else { panic!("whoever said hello stays in the list") };
        assert_eq!((gone.heard, gone.serves.len()), (None, 0));
        assert_eq!((west.heard, west.missed), (Some(Timestamp(7)), Some(Timestamp(5))));
        let reasons: Vec<_> = west.nodes.iter().map(|node| (node.node.as_str(), node.unfit.as_deref())).collect();
        assert_eq!(reasons, [("n1", None), ("n2", Some("the driver shows no GPU"))]);
    }
}
