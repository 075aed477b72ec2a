//! The calls of a cluster's object.

use std::time::Duration;

use engine::explain;
use engine::message;
use engine::message::envelope::Entry;
use engine::message::envelope::Envelope;
use engine::message::rejection::Noun;
use engine::message::rejection::Rejection;
use engine::message::snapshot::Snapshot;
use engine::unit::id::JobId;
use engine::unit::id::UserId;
use protocol::cluster::Cluster;
use protocol::cluster::Position;
use protocol::history;
use protocol::log::decode;
use protocol::log::encode;
use protocol::name::ClusterName;
use protocol::note;
use protocol::publish::Due;
use protocol::publish::Occasion;
use protocol::restore;
use protocol::restore::Adopted;
use serde_json::json;
use worker::Delay;
use worker::Request;
use worker::Response;
use worker::WebSocketPair;

use crate::answer;
use crate::answer::Origin;
use crate::answer::Problem;
use crate::answer::Reply;
use crate::bindings;
use crate::bindings::Kv;
use crate::front;
use crate::gate::SUBPROTOCOL;
use crate::market;
use crate::metrics;
use crate::object::Core;
use crate::query::Query;
use crate::routes;
use crate::routes::Call;
use crate::routes::Route;

/// How far back in pages of history a restore looks for answered commands.
const RESTORED_PAGES: usize = 64;
/// How often a demand to publish tries.
const FLUSH_TRIES: u32 = 10;
/// How long it waits for a publication that is under way.
const FLUSH_WAIT_MS: i64 = 200;
/// The close code for "the service restarts": clients connect again and start from the snapshot.
const SERVICE_RESTART: u16 = 1012;

/// Answers a call that the front or the clock hands on.
pub(super) async fn serve(core: &Core, request: Request) -> Reply {
    let Route::Cluster(cluster, call) = routes::route(&request.method(), &request.path())? else {
        return Err(Problem::NoRoute);
    };
    core.open(&cluster)?;
    match call {
        Call::Command => command(core, &cluster, request).await,
        Call::Slot(slot) => run_slot(core, slot).await,
        Call::Restore => restore(core, &cluster, &Query::of(&request)?).await,
        Call::Flush => flush(core).await,
        Call::Events => events(core, &request),
        Call::Snapshot
        | Call::Head
        | Call::Entries
        | Call::Rounds
        | Call::RoundAt(_)
        | Call::Why(_)
        | Call::Market(_)
        | Call::Metrics
        | Call::Hash => read_state(core, &cluster, &call, &Query::of(&request)?),
    }
}

async fn command(core: &Core, cluster: &ClusterName, mut request: Request) -> Reply {
    let sender = request.headers().get(front::SENDER_HEADER)?.and_then(|name| UserId::new(&name).ok());
    let bytes = request.bytes().await?;
    let mut envelope: Envelope = message::read(&bytes)?;
    envelope.by = Some(sender.ok_or(Problem::Unauthorised)?);
    // Before the first commit, so that no cluster with a log is without rounds.
    core.enter(cluster).await?;
    let done = core.with(|cluster| cluster.submit(&envelope, bindings::now()))?;
    core.push(&done);
    core.publish_soon().await?;
    let revision = done.receipt.revision;
    answer::json_text(encode(&done.receipt)?, Origin::object(revision))
}

async fn run_slot(core: &Core, slot: i64) -> Reply {
    if core.with(Cluster::mark)?.seq == 0 {
        return Ok(Response::from_json(&json!({ "slot": slot, "revision": 0 }))?);
    }
    let outcome = core.with(|cluster| cluster.run_slot(slot, bindings::now()));
    if let Ok(done) = &outcome {
        core.push(done);
    }
    // A slot that had been decided is a good moment for what has not been published yet all the same.
    core.publish_or_retry(Occasion::Round).await?;
    let revision = outcome?.receipt.revision;
    Ok(Response::from_json(&json!({ "slot": slot, "revision": revision }))?)
}

/// Publishes all that is committed. Heads keep their distance in time, so this may wait for a second.
async fn flush(core: &Core) -> Reply {
    for _ in 0..FLUSH_TRIES {
        core.publish(Occasion::Demand).await?;
        let now = bindings::now();
        let wait_ms = match core.with(|cluster| cluster.due(Occasion::Demand, now))? {
            Due::No => {
                let head = core.with(Cluster::published)?;
                return Ok(Response::from_json(&json!({ "published": head.map(|head| head.revision) }))?);
            }
            Due::At(time) => (time - now).0,
            // Another publication is under way.
            Due::Now => FLUSH_WAIT_MS,
        };
        Delay::from(Duration::from_millis(wait_ms.unsigned_abs())).await;
    }
    Err(Problem::Unavailable("new commands kept coming while all was to be published".to_owned()))
}

async fn restore(core: &Core, cluster: &ClusterName, query: &Query) -> Reply {
    let is_forced = query.value("force")?.unwrap_or(false);
    let from = match query.text("from") {
        Some(name) => ClusterName::new(&name).ok_or(Problem::BadCluster)?,
        None => cluster.clone(),
    };
    let kv = Kv::of(&core.env)?;
    let head = history::head(&kv, &from).await?.ok_or_else(|| unknown_cluster(&from))?;
    let restored = restore::read(&kv, head, RESTORED_PAGES).await?;
    let notes = note::read(&kv, &from).await?;
    core.enter(cluster).await?;
    let outcome = match core.with(|cluster| cluster.adopt(&restored, &notes, is_forced))? {
        Adopted::Yes => "restored",
        Adopted::Same => "same",
        Adopted::Different(here) => {
            return Err(Problem::HasLog(format!("revision {}, hash {}", here.revision, here.hash)));
        }
    };
    for socket in core.state.get_websockets() {
        // Who cannot be told has lost the connection.
        let _ = socket.close(Some(SERVICE_RESTART), Some("restored"));
    }
    core.publish_soon().await?;
    let here = core.with(Cluster::position)?;
    let answer = json!({ "outcome": outcome, "from": from.as_str(), "kv": position(&restored.position()), "object": position(&here) });
    Ok(Response::from_json(&answer)?)
}

fn position(position: &Position) -> serde_json::Value {
    let Position { seq, revision, hash } = position;
    json!({ "seq": seq, "revision": revision, "hash": hash })
}

fn events(core: &Core, request: &Request) -> Reply {
    if request.headers().get("upgrade")?.is_none_or(|value| !value.eq_ignore_ascii_case("websocket")) {
        return Err(Problem::NoUpgrade);
    }
    let pair = WebSocketPair::new()?;
    core.state.accept_web_socket(&pair.server);
    let mut response = Response::from_websocket(pair.client)?;
    let offered = request.headers().get("sec-websocket-protocol")?.unwrap_or_default();
    if offered.split(',').any(|word| word.trim() == SUBPROTOCOL) {
        response.headers_mut().set("sec-websocket-protocol", SUBPROTOCOL)?;
    }
    Ok(response)
}

/// Reads that need the newest state.
fn read_state(core: &Core, cluster: &ClusterName, call: &Call, query: &Query) -> Reply {
    let mark = core.with(Cluster::mark)?;
    if mark.seq == 0 {
        return Err(unknown_cluster(cluster));
    }
    let origin = Origin::object(mark.revision);
    let text = match call {
        Call::Snapshot => core.with(|cluster| cluster.with_state(|state| encode(&Snapshot::of(state))))??,
        Call::Head => encode(&core.with(Cluster::published)?.ok_or_else(|| unknown_cluster(cluster))?)?,
        Call::Entries => {
            let after: u64 = query.value("after")?.unwrap_or_default();
            let records = core.with(|cluster| cluster.records_after(after))?.ok_or(Problem::Gone)?;
            let entries: Vec<String> = records.into_iter().map(|record| record.entry).collect();
            format!("[{}]", entries.join(","))
        }
        Call::Rounds => encode(&rounds(core, front::count(query)?)?)?,
        Call::RoundAt(revision) => encode(&entry_at(core, *revision)?)?,
        Call::Why(job) => why(core, job)?,
        Call::Hash => position(&core.with(Cluster::position)?).to_string(),
        Call::Metrics => {
            let text = core.with(|cluster| cluster.with_state(|state| metrics::text(state, mark.seq)))?;
            return answer::typed(text, metrics::CONTENT_TYPE, origin);
        }
        Call::Market(call) => {
            let entries = entries(core)?;
            let is_whole = mark.seq == entries.len() as u64;
            let answer = core.with(|cluster| {
                cluster.with_state(|state| market::answer(state, &entries, is_whole, call, query, bindings::now()))
            })??;
            return answer::typed(answer.text, answer.content_type, origin);
        }
        Call::Command | Call::Events | Call::Restore | Call::Flush | Call::Slot(_) => return Err(Problem::NoRoute),
    };
    answer::json_text(text, origin)
}

/// Every entry that the object still has.
fn entries(core: &Core) -> Result<Vec<Entry>, Problem> {
    let records = core.with(|cluster| cluster.records())?;
    Ok(records.iter().map(|record| decode("an entry of the log", &record.entry)).collect::<Result<_, _>>()?)
}

fn rounds(core: &Core, count: usize) -> Result<Vec<Entry>, Problem> {
    let mut found = Vec::new();
    for record in core.with(|cluster| cluster.records())?.iter().rev() {
        let entry: Entry = decode("an entry of the log", &record.entry)?;
        if history::is_round(&entry) {
            found.push(entry);
        }
        if found.len() == count {
            break;
        }
    }
    Ok(found)
}

fn entry_at(core: &Core, revision: u64) -> Result<Entry, Problem> {
    let records = core.with(|cluster| cluster.records())?;
    let record = records.iter().find(|record| record.revision == revision).ok_or(Problem::Gone)?;
    Ok(decode("an entry of the log", &record.entry)?)
}

/// Why a job waits, as data and as sentences; what is none of that is null. A job that does not wait has a status only.
fn why(core: &Core, job: &str) -> Result<String, Problem> {
    let unknown = || Rejection::Unknown { noun: Noun::Job, name: job.to_owned() };
    let id = JobId::new(job).map_err(|_| unknown())?;
    let now = bindings::now();
    let answer = core.with(|cluster| {
        cluster.with_state(|state| {
            let no = state.jobs.find(&id)?;
            let status = explain::status(state.jobs.get(no)?).as_str();
            let Some(why) = explain::why(state, no, now) else { return Some(json!({ "job": job, "status": status })) };
            let others: Vec<_> =
                why.others.iter().map(|(source, reason)| json!({ "source": source, "reason": reason })).collect();
            let help = why.help.map(|help| json!({ "sentence": help.sentence, "command": help.command }));
            Some(json!({
                "job": job,
                "status": status,
                "reason": why.binding,
                "others": others,
                "position": why.position,
                "help": help,
                "estimate": why.estimate,
                "hold": why.hold,
            }))
        })
    })?;
    Ok(answer.ok_or_else(unknown)?.to_string())
}

fn unknown_cluster(cluster: &ClusterName) -> Problem {
    Rejection::Unknown { noun: Noun::Cluster, name: cluster.to_string() }.into()
}
