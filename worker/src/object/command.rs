//! Commands: from their bytes to what is committed.

use agent::script::Script;
use engine::host::visibility::Visibility;
use engine::message::envelope::Envelope;
use engine::unit::id::JobId;
use protocol::agents::script;
use protocol::cluster::Cluster;
use protocol::founding;
use protocol::history;
use protocol::log::encode;
use protocol::name::ClusterName;
use worker::Request;

use crate::access::Principal;
use crate::answer;
use crate::answer::Origin;
use crate::answer::Problem;
use crate::answer::Reply;
use crate::bindings;
use crate::bindings::Kv;
use crate::object::agents;
use crate::object::core::Core;
use crate::object::incidents;
use crate::object::keys;
use crate::query::Query;

/// In which a new cluster's first answer has the key of the head that was given up for it.
const GIVEN_UP_HEADER: &str = "x-tidegate-given-up";

/// Answers a command.
pub(super) async fn command(
    core: &Core,
    cluster: &ClusterName,
    mut request: Request,
    query: &Query,
    principal: &Principal,
) -> Reply {
    let (envelope, script) = script::read(&request.bytes().await?)?;
    let reply = decide(core, cluster, &envelope, script, query, principal).await;
    if let Err(problem @ Problem::Rejected(_)) = &reply {
        core.n_refused.set(core.n_refused.get() + 1);
        core.note_refusal(&principal.sender, &incidents::name_of(&envelope.command), problem);
    }
    reply
}

async fn decide(
    core: &Core,
    cluster: &ClusterName,
    envelope: &Envelope,
    script: Option<(JobId, Script)>,
    query: &Query,
    principal: &Principal,
) -> Reply {
    let notes = script.map(|(job, script)| agents::note(core, &job, &script)).transpose()?;
    keys::check_name(&envelope.command, cluster)?;
    let sender = &principal.sender;
    let mut given_up = GivenUp::default();
    if core.with(Cluster::is_unfounded)? {
        given_up = look(core, cluster, query.value("anew")?).await?;
        // The name is taken by the command that founds the cluster, and by none that is refused.
        let trial = Envelope { dry_run: true, ..envelope.clone() };
        core.with(|cluster| cluster.submit(&trial, sender, bindings::now()))?;
    }
    // Before the first commit, so that no cluster with a log is without rounds.
    if !envelope.dry_run {
        core.enter(cluster).await?;
    }
    let done = core.with(|cluster| cluster.submit_noted(envelope, sender, notes.as_slice(), bindings::now()))?;
    core.push(&done)?;
    if given_up.is_deleted {
        core.with(|cluster| cluster.begin_again(bindings::now()))?;
    }
    core.follow_up().await?;
    let made = done.record.as_ref().and_then(|_| keys::made(&envelope.command, &done.receipt));
    let revision = done.receipt.revision;
    let receipt =
        core.with(|cluster| cluster.with_state(|state| Visibility::new(state, sender).receipt(done.receipt)))?;
    let response = answer::json_text(encode(&receipt)?, Origin::object(revision))?;
    if let Some(key) = given_up.head {
        response.headers().set(GIVEN_UP_HEADER, &key)?;
    }
    if let Some(key) = made {
        keys::show_secret(core, cluster, &key, response.headers())?;
    }
    Ok(response)
}

/// What there was of a new cluster's name.
#[derive(Default)]
struct GivenUp {
    /// The key under which the head of a lost cluster is kept.
    head: Option<String>,
    /// Whether a cluster of that name was deleted.
    is_deleted: bool,
}

/// Looks whether KV shows a cluster of which the storage has nothing. A head that is given up is set aside first.
async fn look(core: &Core, cluster: &ClusterName, given_up: Option<u64>) -> Result<GivenUp, Problem> {
    let kv = Kv::of(&core.env)?;
    let shown = history::head(&kv, cluster).await?;
    let tombstone = if shown.is_none() { protocol::deletion::tombstone::shown(&kv, cluster).await? } else { None };
    if let Some(tombstone) = tombstone.as_ref().filter(|tombstone| given_up != Some(tombstone.revision)) {
        return Err(Problem::Deleted(tombstone.sentence_of_lost(cluster)));
    }
    let head = match shown.as_ref().filter(|head| given_up == Some(head.revision)) {
        Some(head) => Some(founding::set_aside(&kv, cluster, head).await?),
        None => None,
    };
    core.with(|cluster| cluster.found(shown.as_ref(), given_up))?;
    Ok(GivenUp { head, is_deleted: tombstone.is_some() })
}
