//! From a single command to what happens; plans are made of such.

use crate::message::command::Command;
use crate::message::event::Event;
use crate::message::rejection::Noun;
use crate::message::rejection::Rejection;
use crate::state::world::State;
use crate::transition::bill;
use crate::transition::cluster;
use crate::transition::job;
use crate::transition::key;
use crate::transition::machines;
use crate::transition::market;
use crate::transition::nodes;
use crate::transition::quota;
use crate::transition::report;
use crate::transition::resize;
use crate::transition::round;
use crate::transition::scale;
use crate::transition::workspace;
use crate::unit::time::Timestamp;

/// Refuses whatever comes before the cluster has been created.
pub(super) fn need_cluster(state: &State) -> Result<(), Rejection> {
    if state.cluster.dimensions.is_empty() {
        return Err(Rejection::NotNow {
            noun: Noun::Cluster,
            name: String::new(),
            reason: "has not been created; send create_cluster with its dimensions first".to_owned(),
        });
    }
    Ok(())
}

/// What the command comes to at this time, or why it is refused.
pub(super) fn decide(state: &State, command: &Command, now: Timestamp) -> Result<Vec<Event>, Rejection> {
    if !matches!(command, Command::CreateCluster(_)) {
        need_cluster(state)?;
    }
    // Rounds are most of what is decided. They do not come through the code of everything else, which is long: a browser
    // would compile it a second time, for speed, while a page with a planner is laid out.
    let decided = if let Command::Round(command) = command {
        round::round(state, *command, now)
    } else {
        judge(state, command, now)
    };
    decided.map(|events| bill::with_bills(state, events))
}

#[inline(never)]
fn judge(state: &State, command: &Command, now: Timestamp) -> Result<Vec<Event>, Rejection> {
    match command {
        Command::CreateCluster(command) => cluster::create(state, command),
        Command::UpdateCluster(command) => cluster::update(state, *command, now),
        Command::PutGroup(command) => machines::put_group(state, command),
        Command::PutNode(command) => machines::put_node(state, command, now),
        Command::DeleteNode(command) => nodes::delete(state, command, now),
        Command::NodeSilent(command) => nodes::silent(state, command, now),
        Command::NodeHeard(command) => nodes::heard(state, command, now),
        Command::CreateQuota(command) => quota::create(state, command),
        Command::UpdateQuota(command) => quota::update(state, command),
        Command::DeleteQuota(command) => quota::delete(state, command),
        Command::ScaleQuotas(command) => scale::scale(state, command, now),
        Command::CreateOffer(command) => market::create(state, command, now),
        Command::UpdateOffer(command) => market::update(state, command),
        Command::DeleteOffer(command) => market::delete(state, command),
        Command::PublishPrice(command) => market::publish(state, command, now),
        Command::SetInventory(command) => market::set_inventory(state, command, now),
        Command::SubmitJob(command) => job::submit(state, command, now),
        Command::CancelJob(command) => job::cancel(state, command, now),
        Command::SetPriority(command) => job::set_priority(state, command, now),
        Command::ResizeJob(command) => resize::resize(state, command, now),
        Command::Report(command) => report::report(state, command, now),
        Command::PutWorkspace(command) => workspace::put(state, command, now),
        Command::DeleteWorkspace(command) => workspace::delete(state, command),
        Command::AttachQuota(command) => workspace::attach(state, command),
        Command::DetachQuota(command) => workspace::detach(state, command),
        Command::PutMember(command) => workspace::put_member(state, command, now),
        Command::RemoveMember(command) => workspace::remove_member(state, command),
        Command::CreateKey(command) => key::create(state, command, now),
        Command::RotateKey(command) => key::rotate(state, command, now),
        Command::RevokeKey(command) => key::revoke(state, command, now),
        Command::ApplyPlan(_) => {
            Err(Rejection::Structure { reason: "a plan does not contain another plan; leave it out".to_owned() })
        }
        Command::Round(command) => round::round(state, *command, now),
    }
}
