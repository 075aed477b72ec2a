//! What is known of agents beside the log.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::fmt;

use agent::exit::Exit;
use agent::message::BadMessage;
use agent::message::NodeStatus;
use agent::run::RunId;
use agent::run::Version;
use engine::state::cluster::OnSilence;
use engine::state::world::State;
use engine::unit::id::GroupId;
use engine::unit::id::NodeId;
use engine::unit::id::UserId;
use engine::unit::id::WorkspaceId;
use engine::unit::time::Timestamp;
use engine::workspace::key::AccessKey;
use serde::Deserialize;
use serde::Serialize;

use crate::agents::judged::Judged;
use crate::name::ClusterName;

/// Who an agent is, by the key that it has shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Its name: that of its key, without the cluster's.
    pub name: String,
    /// Whose key it is.
    pub user: UserId,
    /// The groups on whose nodes it runs jobs.
    pub serves: Vec<GroupId>,
    /// The workspaces for which it adopts jobs.
    pub adopts: Vec<WorkspaceId>,
}

/// What is kept of an agent. It is written when it has changed; an agent that has nothing to say changes nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contact {
    /// The number that its process was given.
    pub incarnation: u64,
    /// The name of its store, which knows what was claimed.
    pub store: String,
    /// The epoch of which it has acted on an answer before it told what it has.
    pub epoch: Option<u64>,
    /// The nodes that are its own, also those that it does not name any more: what was started there is known to it alone.
    pub nodes: BTreeSet<String>,
    /// Why nodes cannot begin runs.
    pub unfit: BTreeMap<String, String>,
    /// Nodes that are cordoned because they cannot, and not because a person said so.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub cordoned: BTreeSet<String>,
    /// Runs that have begun here and have pods elsewhere too, of which that is not known.
    pub begun: BTreeSet<RunId>,
    /// Runs that have ended here and have pods elsewhere too.
    pub ended: BTreeMap<RunId, Ending>,
    /// Orders to pods to leave of which nothing is left here, and something elsewhere.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub gone: BTreeSet<RunId>,
    /// Runs from before a restore that the log does not know, and that have not ended.
    pub strangers: BTreeSet<RunId>,
    /// Since when it is missed.
    #[serde(default)]
    pub missed: Option<Timestamp>,
    /// What it was told of its groups' silence, the oldest first, as far as something lives that goes by it.
    #[serde(default)]
    pub told: BTreeMap<String, Vec<Told>>,
}

/// What an agent was told of a group from some answer on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Told {
    /// The first answer that said so.
    pub since: Version,
    /// How long runs go on of which nobody hears.
    pub on_silence: OnSilence,
}

/// How a run ended on an agent's nodes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ending {
    /// How its pods ended.
    pub exit: Exit,
    /// Whether it had been told to stop.
    pub told: bool,
}

/// All agents that have ever said hello, by their names.
pub type Contacts = BTreeMap<String, Contact>;

/// The keys of agents that serve, by the agents' names.
pub type Serving<'a> = BTreeMap<&'a str, &'a AccessKey>;

/// Why an agent is not heard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// What it says cannot be taken.
    Message(BadMessage),
    /// Another process has its place.
    Superseded(String),
    /// It has not said hello, as far as is known.
    Unknown(String),
    /// Its store does not know what was started.
    OtherStore {
        /// Which agent.
        agent: String,
        /// How many runs the other store has.
        runs: usize,
    },
    /// It names a node that is none of its own.
    Node(String),
    /// The jobs of the cluster run nowhere.
    Simulated,
}

impl Refused {
    /// What kind of refusal it is, for programs.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Message(_) => "malformed",
            Self::Superseded(_) => "superseded",
            Self::Unknown(_) => "say_hello",
            Self::OtherStore { .. } => "other_store",
            Self::Node(_) => "bad_node",
            Self::Simulated => "simulated",
        }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Message(bad) => write!(f, "{bad}"),
            Self::Superseded(agent) => write!(
                f,
                "another process has said hello as agent {agent} since; if there are two, give each a key of its own"
            ),
            Self::Unknown(agent) => write!(f, "agent {agent} has not said hello; say it first"),
            Self::OtherStore { agent, runs } => write!(
                f,
                "agent {agent} came with another state directory before, which may have {runs} runs that have not \
                 ended; start it with that one, or give the other machine a key of its own"
            ),
            Self::Node(reason) => f.write_str(reason),
            Self::Simulated => f.write_str(
                "the jobs of this cluster are simulated, so there is nothing to run; join one whose execution is reported",
            ),
        }
    }
}

/// The agents whose keys serve.
#[must_use]
pub fn serving<'a>(state: &'a State, cluster: &ClusterName, now: Timestamp) -> Serving<'a> {
    let serves = |key: &AccessKey| key.is_agent() && key.generations(now).next().is_some();
    let keys = state.keys.iter().filter(|(_, key)| serves(key));
    keys.filter_map(|(id, key)| Some((id.as_str().strip_prefix(cluster.as_str())?.strip_prefix('.')?, key))).collect()
}

/// What is known of an agent, if it is the newest process of its name that says something.
pub(super) fn current<'a>(contacts: &'a Contacts, who: &Identity, incarnation: u64) -> Result<&'a Contact, Refused> {
    let name = || who.name.clone();
    let contact = contacts.get(&who.name).ok_or_else(|| Refused::Unknown(name()))?;
    match incarnation.cmp(&contact.incarnation) {
        Ordering::Less => Err(Refused::Superseded(name())),
        Ordering::Equal => Ok(contact),
        Ordering::Greater => Err(Refused::Unknown(name())),
    }
}

/// Whether the agent has told what it has since the last restore.
pub(super) fn is_known(state: &State, contact: &Contact) -> bool {
    state.cluster.epoch == 0 || contact.epoch == Some(state.cluster.epoch)
}

/// Whether nothing may begin: since a restore somebody has not told what they have, or has runs that nobody knows.
pub(super) fn is_held(state: &State, contacts: &Contacts, serving: &Serving) -> bool {
    let is_clear = |contact: &Contact| is_known(state, contact) && contact.strangers.is_empty();
    // An epoch is a time in seconds: a key that was made in it had no runs before.
    let is_new = |key: &AccessKey| u64::try_from(key.created.0 / 1_000).is_ok_and(|made| made >= state.cluster.epoch);
    let is_clear = |(name, key): (&&str, &&AccessKey)| contacts.get(*name).map_or(is_new(key), is_clear);
    state.cluster.epoch > 0 && !serving.iter().all(is_clear)
}

/// Takes the nodes that an agent names as its own.
pub(super) fn take_nodes(
    state: &State,
    contacts: &mut Contacts,
    who: &Identity,
    nodes: &[Judged],
) -> Result<(), Refused> {
    // Who has not heard yet that a node was deleted goes on with the others.
    let nodes = || nodes.iter().filter(|report| !report.no.is_some_and(|no| state.nodes[no.at()].is_deleted));
    for report in nodes() {
        let node = report.name;
        let Some(no) = report.no else {
            let reason = format!("the cluster has no node {node}; add it with put_node, or do not name it");
            return Err(Refused::Node(reason));
        };
        let group = &state.groups[state.nodes[no.at()].group.at()].id;
        if !who.serves.contains(group) {
            let reason =
                format!("node {node} belongs to group {group}, which the key of agent {} is not for", who.name);
            return Err(Refused::Node(reason));
        }
        let other = contacts.iter().find(|(name, contact)| **name != who.name && contact.nodes.contains(node));
        if let Some((other, _)) = other {
            let reason = format!("node {node} is agent {other}'s; name it in one of them only");
            return Err(Refused::Node(reason));
        }
    }
    if let Some(contact) = contacts.get_mut(&who.name) {
        // Most clusters have never deleted one, and then no name has to be looked up.
        if state.nodes.iter().any(|node| node.is_deleted) {
            contact.nodes.retain(|node| !is_deleted(state, node));
            contact.cordoned.retain(|node| !is_deleted(state, node));
        }
        for report in nodes() {
            if !contact.nodes.contains(report.name) {
                contact.nodes.insert(report.name.to_owned());
            }
        }
        let unfit = nodes().filter(|report| report.status == NodeStatus::Unfit);
        let told = |report: &Judged| (report.name.to_owned(), report.reason.as_deref().unwrap_or_default().to_owned());
        contact.unfit = unfit.map(told).collect();
    }
    Ok(())
}

/// Whether the cluster had a node of this name, and has it no more.
fn is_deleted(state: &State, node: &str) -> bool {
    let no = NodeId::new(node).ok().and_then(|id| state.node_no_ever(&id));
    no.is_some_and(|no| state.nodes[no.at()].is_deleted)
}
