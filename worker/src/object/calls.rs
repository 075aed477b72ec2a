//! The calls of a cluster's object.

use std::time::Duration;

use agent::script::Script;
use engine::host::veil::Veil;
use engine::message::envelope::Envelope;
use engine::message::rejection::Rejection;
use engine::unit::id::JobId;
use protocol::agents::script;
use protocol::answer::Flushed;
use protocol::cluster::Cluster;
use protocol::founding;
use protocol::founding::Lost;
use protocol::garbage;
use protocol::health::Condition;
use protocol::history;
use protocol::incident::Kind;
use protocol::log::encode;
use protocol::name::ClusterName;
use protocol::publish::Due;
use protocol::publish::Occasion;
use protocol::route::Call;
use worker::Delay;
use worker::Request;
use worker::Response;
use worker::WebSocketPair;
use worker::console_error;

use crate::access;
use crate::access::Principal;
use crate::answer;
use crate::answer::Origin;
use crate::answer::Problem;
use crate::answer::Reply;
use crate::bindings;
use crate::bindings::Kv;
use crate::clock::SlotDone;
use crate::gate::SUBPROTOCOL;
use crate::object::Core;
use crate::object::agents;
use crate::object::deletion;
use crate::object::health;
use crate::object::incidents;
use crate::object::keys;
use crate::object::output;
use crate::object::reads;
use crate::object::restore;
use crate::object::sessions;
use crate::proof::PROOF_HEADER;
use crate::proof::Proof;
use crate::query::Query;
use crate::routes::Asked;
use crate::storage::SqlLog;

/// How often a demand to publish tries.
const FLUSH_TRIES: u32 = 10;
/// How long it waits for a publication that is under way.
const FLUSH_WAIT_MS: i64 = 200;
/// How many sockets one session may have open, and one key of the service: each takes memory, and a text for each commit.
const SOCKETS_MAX: usize = 50;
/// In which a new cluster's first answer has the key of the head that was given up for it.
const GIVEN_UP_HEADER: &str = "x-tidegate-given-up";

/// Answers a call that the front or the clock hands on.
pub(super) async fn serve(core: &Core, request: Request) -> Reply {
    let reply = dispatch(core, request).await;
    reply.inspect_err(|problem| core.note_damage(problem))
}

async fn dispatch(core: &Core, request: Request) -> Reply {
    let asked = Asked::read(&request.method(), &request.path())?;
    let (call, Some(cluster)) = (asked.route.call, &asked.cluster) else { return Err(Problem::NoRoute) };
    // Nobody is known yet: whoever tries names leaves nothing behind.
    let proof = request.headers().get(PROOF_HEADER)?.and_then(|text| Proof::read(&text));
    let monitors = proof == Some(Proof::Monitor);
    if call == Call::Condition && health::may_watch(proof.as_ref()) {
        return health::answer(core, cluster, monitors).await;
    }
    if (call == Call::Session || monitors) && !SqlLog::exists(&core.state.storage())? {
        return Err(Problem::Unauthorised);
    }
    core.open(cluster)?;
    if let Some(tombstone) = core.with(|cluster| cluster.tombstone())? {
        return deletion::answer(core, cluster, &asked, request, proof.as_ref(), tombstone).await;
    }
    if call == Call::Slot {
        return run_slot(core, cluster, asked.number()?).await;
    }
    if call == Call::Session {
        return keys::open_session(core, cluster, request).await;
    }
    if monitors && call == Call::Metrics {
        let query = Query::of(&request, asked.route)?;
        return reads::answer(core, cluster, &asked, &query, &access::monitor()?).await;
    }
    let principal = match keys::principal(core, proof.as_ref()) {
        // Who is who is known again once the cluster is there; the administrator goes on, and hears how far it is.
        Err(Problem::Restoring(progress)) => {
            let query = Query::of(&request, asked.route)?;
            return restore::go_on_with(core, cluster, call, &query, proof.as_ref(), progress).await;
        }
        // A log that cannot be read says of nobody who they are, and somebody has to be able to replace it.
        Err(problem @ Problem::Internal(_)) if call == Call::Restore => {
            let query = Query::of(&request, asked.route)?;
            return restore::answer_blindly(core, cluster, &query, proof.as_ref(), problem).await;
        }
        principal => principal?,
    };
    let sender = principal.sender.clone();
    let admitted = core
        .with(|cluster| cluster.with_state(|state| access::admit(state, &principal, asked.route.who, asked.name())))?;
    let reply = match admitted {
        Ok(()) => admit(core, cluster, &asked, request, proof.as_ref(), principal).await,
        Err(problem) => Err(problem),
    };
    reply.inspect_err(|problem| {
        // What a command was refused for is noted with its name.
        if problem.is_denial() && call != Call::Command {
            core.note_refusal(&sender, asked.route.path.rsplit("}/").next().unwrap_or_default(), problem);
        }
    })
}

/// Answers somebody who may ask.
async fn admit(
    core: &Core,
    cluster: &ClusterName,
    asked: &Asked,
    request: Request,
    proof: Option<&Proof>,
    principal: Principal,
) -> Reply {
    let query = Query::of(&request, asked.route)?;
    let sender = &principal.sender;
    match asked.route.call {
        Call::Command => command(core, cluster, request, &query, &principal).await,
        Call::Condition => health::answer(core, cluster, false).await,
        Call::Incidents => Ok(Response::from_json(&incidents::list(core, sender, &query)?)?),
        Call::Deletion => deletion::cost(core, cluster).await,
        Call::Delete => deletion::delete(core, cluster, &query, sender).await,
        Call::SignOut => sessions::end(core, sender, proof),
        Call::Restore => {
            let from = query.text("from").unwrap_or_else(|| cluster.to_string());
            let reply = restore::answer(core, cluster, &query, &principal).await;
            let what = reply.as_ref().map_or_else(|problem| format!("{from}: {}", problem.code()), |_| from.clone());
            core.note(Kind::Restore, sender.user.as_str(), what);
            reply
        }
        Call::Flush => {
            core.note(Kind::Flush, sender.user.as_str(), "publish");
            flush(core).await
        }
        Call::Events => events(core, &request, proof),
        Call::Me => Ok(Response::from_json(&keys::me(principal))?),
        Call::Log => output::answer(core, asked.name(), &query),
        Call::Agent(call) => agents::serve(core, call, request, &query, &principal, proof).await,
        Call::Keys => Ok(Response::from_json(&keys::list(core, &principal)?)?),
        Call::Snapshot
        | Call::Head
        | Call::Entries
        | Call::Past
        | Call::Audit
        | Call::Rounds
        | Call::RoundAt
        | Call::Why
        | Call::Overdue
        | Call::Market(_)
        | Call::Metrics
        | Call::Hash => reads::answer(core, cluster, asked, &query, sender).await,
        Call::Health | Call::Clusters | Call::ServiceIncidents | Call::Slot | Call::Session => Err(Problem::NoRoute),
    }
}

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
    let receipt = core.with(|cluster| cluster.with_state(|state| Veil::new(state, sender).receipt(done.receipt)))?;
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
    let tombstone = if shown.is_none() { protocol::deletion::shown(&kv, cluster).await? } else { None };
    if let Some(tombstone) = tombstone.as_ref().filter(|tombstone| given_up != Some(tombstone.revision)) {
        return Err(Problem::Deleted(tombstone.sentence(cluster)));
    }
    let head = match shown.as_ref().filter(|head| given_up == Some(head.revision)) {
        Some(head) => Some(founding::set_aside(&kv, cluster, head).await?),
        None => None,
    };
    core.with(|cluster| cluster.found(shown.as_ref(), given_up))?;
    Ok(GivenUp { head, is_deleted: tombstone.is_some() })
}

async fn run_slot(core: &Core, cluster: &ClusterName, slot: i64) -> Reply {
    if restore::is_under_way(core)? {
        // The alarm may have been lost.
        restore::step_or_retry(core).await?;
        return told(slot, 0, Condition::Lost);
    }
    if core.with(Cluster::mark)?.seq == 0 {
        if let Some(Lost { revision, .. }) = reads::shown(core, cluster).await? {
            let reason =
                format!("the storage of cluster {cluster} is lost; KV shows it at revision {revision}: restore it");
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

/// Publishes all that is committed. Heads keep their distance in time, so this may wait for a second.
async fn flush(core: &Core) -> Reply {
    for _ in 0..FLUSH_TRIES {
        core.publish(Occasion::Demand).await?;
        let now = bindings::now();
        let wait_ms = match core.with(|cluster| cluster.due(Occasion::Demand, now))? {
            Due::No => {
                let head = core.with(Cluster::published)?;
                return Ok(Response::from_json(&Flushed { published: head.map(|head| head.revision) })?);
            }
            Due::At(time) => (time - now).0,
            // Another publication is under way.
            Due::Now => FLUSH_WAIT_MS,
        };
        Delay::from(Duration::from_millis(wait_ms.unsigned_abs())).await;
    }
    Err(Problem::Unavailable("new commands kept coming while all was to be published".to_owned()))
}

fn events(core: &Core, request: &Request, proof: Option<&Proof>) -> Reply {
    socket(core, request, &[&proof.map(Proof::text).unwrap_or_default()])
}

/// Opens a socket with these tags, of which the first says who has proved to be whom.
pub(super) fn socket(core: &Core, request: &Request, tags: &[&str]) -> Reply {
    if request.headers().get("upgrade")?.is_none_or(|value| !value.eq_ignore_ascii_case("websocket")) {
        return Err(Problem::NoUpgrade);
    }
    let held = tags.first().map_or(0, |tag| core.state.get_websockets_with_tag(tag).len());
    if held >= SOCKETS_MAX {
        let what = "open sockets of this session (close some of them)".to_owned();
        return Err(Rejection::Limit { what, count: held as u64 + 1, limit: SOCKETS_MAX as u64 }.into());
    }
    let pair = WebSocketPair::new()?;
    core.state.accept_websocket_with_tags(&pair.server, tags);
    let mut response = Response::from_websocket(pair.client)?;
    let offered = request.headers().get("sec-websocket-protocol")?.unwrap_or_default();
    if offered.split(',').any(|word| word.trim() == SUBPROTOCOL) {
        response.headers_mut().set("sec-websocket-protocol", SUBPROTOCOL)?;
    }
    Ok(response)
}
