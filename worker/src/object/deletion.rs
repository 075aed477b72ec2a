//! Deleting the cluster: what it costs, that it is done, and what a deleted cluster still answers.
//!
//! The log goes with the command; KV is emptied by the alarm, and by the clock should the alarm be lost.

use engine::transition::Sender;
use engine::unit::time::Millis;
use protocol::agents::contact::Refused;
use protocol::cluster::Cluster;
use protocol::deletion::DeletionAnswer;
use protocol::deletion::Undeleted;
use protocol::deletion::left::InKv;
use protocol::deletion::steps;
use protocol::deletion::tombstone::Tombstone;
use protocol::fault::Fault;
use protocol::health::Condition;
use protocol::incident::Kind;
use protocol::log::encode;
use protocol::name::ClusterName;
use protocol::route::AgentCall;
use protocol::route::Call;
use worker::Request;
use worker::Response;
use worker::console_error;

use crate::access;
use crate::access::Principal;
use crate::answer;
use crate::answer::Origin;
use crate::answer::Problem;
use crate::answer::Reply;
use crate::answer::unknown_cluster;
use crate::bindings;
use crate::bindings::Kv;
use crate::object::agents;
use crate::object::command;
use crate::object::contacts;
use crate::object::core::Core;
use crate::object::publication::RETRY_MS;
use crate::object::restore;
use crate::object::slot;
use crate::proof::Proof;
use crate::query::Query;
use crate::registry;
use crate::routes::Asked;

/// The close code for "it goes away".
const GOING_AWAY: u16 = 1001;
/// Tables that every storage has, and those that come with their first row.
const TABLES: [&str; 4] = ["agents", "tails", "nonces", "nonce_counts"];
const OWN_TABLES: [&str; 3] = ["uses", "sessions", "incidents"];

/// What deleting the cluster costs.
pub(super) async fn cost(core: &Core, cluster: &ClusterName) -> Reply {
    let in_kv = in_kv(core, cluster).await?;
    if let Some(tombstone) = in_kv.gone() {
        return told(cluster, &tombstone);
    }
    let cost = core.with(|cluster| cluster.deletion_cost(&in_kv))?.ok_or_else(|| unknown_cluster(cluster))?;
    Ok(Response::from_json(&DeletionAnswer::Cost(Box::new(cost)))?)
}

async fn in_kv(core: &Core, cluster: &ClusterName) -> Result<InKv, Problem> {
    let is_empty = core.with(Cluster::mark).is_ok_and(|mark| mark.seq == 0);
    Ok(InKv::read(&Kv::of(&core.env)?, cluster, is_empty).await?)
}

fn told(cluster: &ClusterName, tombstone: &Tombstone) -> Reply {
    Ok(Response::from_json(&DeletionAnswer::Deleted(tombstone.told(cluster)))?)
}

/// Deletes the cluster, if its sender has been told what that costs.
pub(super) async fn delete(core: &Core, cluster: &ClusterName, query: &Query, sender: &Sender) -> Reply {
    let (in_kv, confirm) = (in_kv(core, cluster).await?, query.text("confirm").unwrap_or_default());
    if let Some(tombstone) = in_kv.gone() {
        return told(cluster, &tombstone);
    }
    let deleted = core.with(|cluster| cluster.delete(&confirm, &sender.user, &in_kv, bindings::now()))?;
    let tombstone = deleted.map_err(|undeleted| match undeleted {
        Undeleted::Nothing => unknown_cluster(cluster),
        Undeleted::OtherCost(cost) => Problem::Unconfirmed(cost.message),
    })?;
    clear(core)?;
    // Agents ask, and hear what to stop; everybody else has nothing more to hear.
    for socket in core.state.get_websockets() {
        // Who cannot be told has lost the connection.
        let _ = if core.is_bell(&socket) {
            socket.send_with_str(tombstone.revision.to_string())
        } else {
            socket.close(Some(GOING_AWAY), Some("deleted"))
        };
    }
    core.set_alarm(bindings::now()).await?;
    let noted = registry::note(&core.env, Kind::Delete, sender.user.as_str(), cluster.as_str()).await;
    noted.unwrap_or_else(|problem| console_error!("the deletion of {cluster} is not noted: {problem:?}"));
    told(cluster, &tombstone)
}

/// What is kept beside the log goes with it.
fn clear(core: &Core) -> Result<(), Problem> {
    let sql = core.state.storage().sql();
    for table in TABLES {
        sql.exec(&format!("DELETE FROM {table}"), None)?;
    }
    for table in OWN_TABLES {
        sql.exec(&format!("DROP TABLE IF EXISTS {table}"), None)?;
    }
    core.contacts.replace(None);
    core.noted.borrow_mut().clear();
    core.sessions.borrow_mut().clear();
    Ok(())
}

/// What a deleted cluster answers.
pub(super) async fn answer(
    core: &Core,
    cluster: &ClusterName,
    asked: &Asked,
    mut request: Request,
    proof: Option<&Proof>,
    tombstone: Tombstone,
) -> Reply {
    match (asked.route.call, proof) {
        (Call::Slot, _) => {
            step_or_retry(core, cluster).await?;
            return slot::told(asked.number()?, 0, Condition::Ok);
        }
        (_, None | Some(Proof::Monitor)) => return Err(Problem::Unauthorised),
        // Their keys are gone, and they learn nothing but that everything ends.
        (Call::Agent(AgentCall::Hello), Some(Proof::Session { .. })) => {
            let hello = agents::hello(&mut request).await?;
            return Ok(Response::from_json(&tombstone.welcome(&hello))?);
        }
        (Call::Agent(AgentCall::Sync), Some(Proof::Session { .. })) => {
            let said = agents::said(&mut request).await?;
            said.check().map_err(|bad| Problem::Agent(Refused::Message(bad)))?;
            return answer::json_text(encode(&tombstone.farewell(&said))?, Origin::object(tombstone.revision));
        }
        (_, Some(_)) => {}
    }
    let query = Query::of(&request, asked.route)?;
    let is_taken = tombstone.is_done && query.value("anew")? == Some(tombstone.revision);
    match (asked.route.call, access::administrator(proof)) {
        (Call::Deletion | Call::Delete, Some(_)) => told(cluster, &tombstone),
        (Call::Command, Some(principal)) if is_taken => found(core, cluster, request, &query, &principal).await,
        (Call::Restore, Some(principal)) if is_taken => {
            core.with(Cluster::take_again)?;
            let reply = restore::answer(core, cluster, &query, &principal).await;
            // Unless it has begun, the cluster stays deleted.
            core.with(|cluster| {
                cluster.forget();
                Ok::<_, Fault>(())
            })?;
            reply
        }
        (_, _) => Err(Problem::Deleted(tombstone.sentence(cluster))),
    }
}

/// Takes the name for a new cluster. Unless it is founded, it stays deleted.
async fn found(core: &Core, cluster: &ClusterName, request: Request, query: &Query, principal: &Principal) -> Reply {
    core.with(Cluster::take_again)?;
    let reply = command::command(core, cluster, request, query, principal).await;
    core.with(|cluster| {
        if cluster.mark()?.seq == 0 {
            cluster.forget();
        }
        Ok::<_, Fault>(())
    })?;
    reply
}

/// Goes on with emptying KV; what fails is tried again soon.
pub(super) async fn step_or_retry(core: &Core, cluster: &ClusterName) -> Result<(), Problem> {
    let Err(problem) = step(core, cluster).await else { return Ok(()) };
    console_error!("the deletion does not go on, and is tried again: {problem:?}");
    core.set_alarm(bindings::now() + Millis(RETRY_MS)).await
}

async fn step(core: &Core, cluster: &ClusterName) -> Result<(), Problem> {
    clear(core)?;
    let (kv, now) = (Kv::of(&core.env)?, bindings::now());
    let operations = bindings::restore_budget(&core.env).operations;
    let Some(tombstone) = steps::go_on(&kv, core, operations, bindings::kv_late(&core.env), now).await? else {
        return Ok(());
    };
    if !tombstone.is_done {
        return core.set_alarm(tombstone.next.max(now)).await;
    }
    for socket in core.state.get_websockets_with_tag(contacts::BELL) {
        // Who cannot be told has lost the connection.
        let _ = socket.close(Some(GOING_AWAY), Some("deleted"));
    }
    // A cluster that takes the name again enters it again.
    core.is_entered.set(false);
    registry::leave(&core.env, cluster).await
}
