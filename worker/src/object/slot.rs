//! What the clock sends each minute.

use protocol::cluster::Cluster;
use protocol::fault::Lost;
use protocol::garbage;
use protocol::health::Condition;
use protocol::name::ClusterName;
use protocol::publish::Occasion;
use worker::Response;
use worker::console_error;

use crate::answer::Problem;
use crate::answer::Reply;
use crate::bindings;
use crate::bindings::Kv;
use crate::clock::SlotDone;
use crate::object::agents;
use crate::object::core::Core;
use crate::object::health;
use crate::object::reads;
use crate::object::restore;
use crate::object::sessions;

/// Decides a slot.
pub(super) async fn run(core: &Core, cluster: &ClusterName, slot: i64) -> Reply {
    if restore::is_under_way(core)? {
        // The alarm may have been lost.
        restore::step_or_retry(core).await?;
        return told(slot, 0, Condition::Lost);
    }
    if core.with(Cluster::mark)?.seq == 0 {
        if let Some(Lost { revision, .. }) = reads::shown(core, cluster).await? {
            let reason = format!(
                "the storage of cluster {cluster} is lost; KV shows it at revision {revision}: restore or delete it"
            );
            return Err(Problem::Unavailable(reason));
        }
        return told(slot, 0, Condition::Ok);
    }
    // Nothing is placed on what is silent.
    agents::look_for_silence(core)?;
    let outcome = core.with(|cluster| cluster.run_slot(slot, bindings::now()));
    if let Ok(done) = &outcome {
        core.push(done)?;
    }
    core.dismiss()?;
    core.sweep(slot)?;
    core.tidy_incidents(slot);
    sessions::sweep(core, slot)?;
    // A slot that had been decided is a good moment for what has not been published yet all the same.
    core.publish_or_retry(Occasion::Round).await?;
    collect(core).await;
    core.look_in_time().await?;
    told(slot, outcome?.receipt.revision, health::condition(core))
}

/// What the clock is told of a slot.
pub(super) fn told(slot: i64, revision: u64, condition: Condition) -> Reply {
    Ok(Response::from_json(&SlotDone { slot, revision, condition })?)
}

/// Deletes of KV what nothing names any more. What fails is done again in the next minute.
async fn collect(core: &Core) {
    let outcome = match Kv::of(&core.env) {
        Ok(kv) => {
            let count = bindings::deleted_a_minute(&core.env);
            garbage::collect(&kv, core, bindings::now(), count).await.map_err(Problem::from)
        }
        Err(problem) => Err(problem),
    };
    if let Err(problem) = outcome {
        console_error!("what KV does not need any more was not deleted: {problem:?}");
    }
}
