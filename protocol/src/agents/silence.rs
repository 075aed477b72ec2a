//! Agents of which nothing is heard, and what is said of their nodes then (rules 7.6).
//!
//! Agents ask every few seconds, which changes nothing and is not kept: the service may sleep in between, and forget when
//! it last heard of whom. Only that one has fallen silent, or is heard again, is a row of the log.
//!
//! When what ran in silence is gone is counted from a time that is no earlier than the last answer that its agent had, and
//! by what that said. An agent stops a run by what it was told when that began; so of a group's setting all that
//! was ever said to what lives is remembered ([`Told`]), and the longest counts.

use std::collections::BTreeMap;

use agent::message::RunReport;
use agent::message::RunState;
use agent::message::SyncRequest;
use agent::run::RunId;
use agent::run::Version;
use engine::message::command::NodeHeard;
use engine::message::command::NodeSilent;
use engine::state::cluster::Group;
use engine::state::cluster::Node;
use engine::state::cluster::OnSilence;
use engine::state::world::State;
use engine::unit::id::GroupNo;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;

use crate::agents::books::Here;
use crate::agents::contact::Contact;
use crate::agents::contact::Contacts;
use crate::agents::contact::Told;

/// After how long without a word an agent is missed, if nothing else is set: it asks every 15 s, and its socket every 20.
/// One that is still missed twice as long later is silent. With a look each minute, that is the second one that misses it,
/// and no later than 145 s after its last word: a word that is younger than this at one look is a minute older at the next.
pub const MISSED_AFTER: Millis = Millis(25_000);

/// The nodes of agents that have fallen silent. `heard` says when an agent was last heard, if that is known; who is not
/// known to have been heard lately is missed from now on, which is later than the last answer that it had.
///
/// One look is never enough: who asks without a socket may have been heard by a memory that is gone, and the time of a
/// socket whose other end is gone says nothing of a new one. Whoever lives asks before the next look, and is not missed.
pub(super) fn fallen_silent(
    state: &State,
    contacts: &mut Contacts,
    heard: &dyn Fn(&str) -> Option<Timestamp>,
    missed_after: Millis,
    now: Timestamp,
) -> Vec<NodeSilent> {
    let mut silent = Vec::new();
    for (name, contact) in contacts {
        if heard(name).is_some_and(|at| now - at < missed_after) {
            contact.missed = None;
            continue;
        }
        let since = *contact.missed.get_or_insert(now);
        if now - since < Millis(missed_after.0.saturating_mul(2)) {
            continue;
        }
        let here = Here::of(state, contact);
        let nodes = known(state, &here).filter(|(node, _)| node.silence.is_none());
        silent.extend(nodes.map(|(node, group)| NodeSilent {
            node: node.id.clone(),
            since,
            stop_after_ms: stop_after(contact, group),
        }));
    }
    silent
}

/// The silent nodes that an agent names, which is heard therefore.
pub(super) fn heard_again(state: &State, here: &Here, request: &SyncRequest) -> Vec<NodeHeard> {
    let is_named = |node: &Node| request.nodes.iter().any(|report| report.node == node.id.as_str());
    let nodes = known(state, here).filter(|(node, _)| node.silence.is_some() && is_named(node));
    nodes.map(|(node, _)| NodeHeard { node: node.id.clone() }).collect()
}

/// The nodes of an agent that the cluster has, with their groups.
fn known<'a>(state: &'a State, here: &'a Here) -> impl Iterator<Item = (&'a Node, &'a Group)> {
    let nodes = here.nodes().map(|no| &state.nodes[no.at()]).filter(|node| !node.is_deleted);
    nodes.map(|node| (node, &state.groups[node.group.at()]))
}

/// After how long everything is killed that lives on a group's nodes, as the agent was told; none if something may go on.
fn stop_after(contact: &Contact, group: &Group) -> Option<Millis> {
    let told = contact.told.get(group.id.as_str())?;
    let limits: Option<Vec<Millis>> = told.iter().map(|told| told.on_silence.limit()).collect();
    limits?.into_iter().max()
}

/// Notes what the answer to a request tells of silence, and drops what nothing goes by any more that the agent has.
pub(super) fn note(state: &State, contact: &mut Contact, here: &Here, request: &SyncRequest) {
    let version = Version { epoch: state.cluster.epoch, revision: state.revision };
    let groups: BTreeMap<GroupNo, &Group> = known(state, here).map(|(node, group)| (node.group, group)).collect();
    let says: Vec<(String, OnSilence)> =
        groups.into_values().map(|group| (group.id.to_string(), group.on_silence)).collect();
    let needed = oldest(request);
    for (group, on_silence) in says {
        let told = contact.told.entry(group).or_default();
        if told.last().is_none_or(|last| last.on_silence != on_silence) {
            told.push(Told { since: version, on_silence });
        }
        let over = told.windows(2).take_while(|pair| needed.is_some_and(|needed| pair[1].since <= needed)).count();
        told.drain(..over);
    }
}

/// The oldest answer by which something may go that the agent has: the last one that it has acted upon, or the one that
/// began a run. None if it says of none.
fn oldest(request: &SyncRequest) -> Option<Version> {
    let lives = |report: &&RunReport| !matches!(report.state, RunState::Ended(_));
    let begun = request.runs.iter().filter(lives).map(|report| report.run).chain(request.lives.iter().copied());
    begun.map(RunId::granted).chain([request.answered?]).min()
}
