//! The front: finds out who sends a request, answers reads from KV, and hands the rest to the cluster's object.
//!
//! A read says in its headers which revision it shows, how old that is and where it comes from. It goes to the object
//! when KV cannot answer: when the reader wants a newer revision than KV shows, or KV does not show what its head names;
//! and when the reader is somebody who may not see everything, for what they may see is judged by the state as it is.

use engine::host::veil::Veil;
use engine::message::snapshot::Snapshot;
use engine::state::world::State;
use engine::unit::time::Timestamp;
use protocol::document::Head;
use protocol::fault::Fault;
use protocol::history;
use protocol::log::encode;
use protocol::name::ClusterName;
use protocol::past;
use protocol::past::Kept;
use protocol::past::Moment;
use protocol::past::Search;
use protocol::route::Call;
use protocol::route::MarketCall;
use protocol::route::Place;
use protocol::route::Who;
use worker::Env;
use worker::Headers;
use worker::Method;
use worker::Request;
use worker::RequestInit;
use worker::Response;
use worker::wasm_bindgen::JsValue;

use crate::access;
use crate::answer;
use crate::answer::Origin;
use crate::answer::Problem;
use crate::answer::REVISION_HEADER;
use crate::answer::Reply;
use crate::backup;
use crate::bindings;
use crate::bindings::Kv;
use crate::body;
use crate::gate;
use crate::gate::NETWORK_HEADER;
use crate::market;
use crate::proof::PROOF_HEADER;
use crate::proof::Proof;
use crate::query::Query;
use crate::ready;
use crate::registry;
use crate::routes::Asked;

/// How many rounds are listed, if nothing is asked for.
pub(crate) const ROUNDS_SHOWN: usize = 20;
/// How many rounds can be listed.
pub(crate) const ROUNDS_MAX: usize = 200;
/// How far back in pages of history a read goes.
const PAGES_MAX: usize = 4;
/// How many entries can be asked for at once.
const PORTION_MAX: usize = 1000;

/// Answers a request.
pub(crate) async fn serve(mut request: Request, env: &Env) -> Reply {
    let reply = answered(&mut request, env).await;
    body::drop_unread(&mut request).await;
    reply
}

async fn answered(request: &mut Request, env: &Env) -> Reply {
    let asked = Asked::read(&request.method(), &request.path())?;
    match (asked.route.who, &asked.cluster) {
        (Who::Clock, _) => return Err(Problem::NoRoute),
        (Who::Anybody, None) => return Ok(Response::from_json(&registry::health(env).await)?),
        // Whoever asks for a session is not known yet.
        (Who::Anybody, Some(cluster)) => return hand_on(request, env, cluster, None).await,
        (Who::Known | Who::SeesJob | Who::May(_) | Who::Agent, _) => {}
    }
    let proof = gate::prove(request, &asked, env).await?;
    let sees_all = matches!(proof, Proof::Root | Proof::Access { administers: true, .. });
    let Some(cluster) = &asked.cluster else {
        if asked.route.call != Call::ServiceIncidents {
            return clusters(env, &proof).await;
        }
        return if sees_all { registry::incidents(env, request).await } else { Err(Problem::Unauthorised) };
    };
    if matches!(asked.route.call, Call::Object | Call::Import) {
        return if sees_all { backup::serve(request, env, cluster, &asked).await } else { Err(Problem::Unauthorised) };
    }
    if sees_all && asked.route.place == Place::Published {
        match published(env, cluster, &asked, &Query::of(request, asked.route)?).await {
            Ok(Some(response)) => return Ok(response),
            Ok(None) | Err(Problem::Unavailable(_)) => {}
            Err(problem) => return Err(problem),
        }
    }
    let response = hand_on(request, env, cluster, Some(&proof)).await?;
    if asked.route.call == Call::Command
        && let Some(revision) = response.headers().get(REVISION_HEADER)?.and_then(|text| text.parse().ok())
    {
        ready::written(cluster, revision);
    }
    Ok(response)
}

/// The names of the clusters that somebody can have to do with.
async fn clusters(env: &Env, proof: &Proof) -> Reply {
    let all = registry::list(env).await?;
    let is_known = |name: &&ClusterName| match proof {
        Proof::Root | Proof::Access { .. } => true,
        Proof::Session { key, .. } => gate::is_of(key, name),
        Proof::Monitor => false,
    };
    let names: Vec<&str> = all.iter().filter(is_known).map(ClusterName::as_str).collect();
    Ok(Response::from_json(&names)?)
}

/// Hands a request to the cluster's object, with what has been proved of its sender and nothing that claims to be that.
async fn hand_on(request: &mut Request, env: &Env, cluster: &ClusterName, proof: Option<&Proof>) -> Reply {
    let headers = Headers::new();
    for name in ["upgrade", "sec-websocket-protocol"] {
        if let Some(value) = request.headers().get(name)? {
            headers.set(name, &value)?;
        }
    }
    if let Some(proof) = proof {
        headers.set(PROOF_HEADER, &proof.text())?;
    }
    if let Some(network) = gate::network(request)? {
        headers.set(NETWORK_HEADER, &network)?;
    }
    let mut init = RequestInit::new();
    init.with_method(request.method()).with_headers(headers);
    if request.method() == Method::Post {
        let text = String::from_utf8(body::limited(request).await?).map_err(|error| {
            Problem::Rejected(engine::message::rejection::Rejection::Malformed { reason: error.to_string() })
        })?;
        init.with_body(Some(JsValue::from_str(&text)));
    }
    let request = Request::new_with_init(request.url()?.as_str(), &init)?;
    Ok(bindings::object(env, cluster.as_str())?.fetch_with_request(request).await?)
}

/// The answer from KV; none if only the object can answer.
async fn published(
    env: &Env,
    cluster: &ClusterName,
    asked: &Asked,
    query: &Query,
) -> Result<Option<Response>, Problem> {
    let kv = Kv::of(env)?;
    let Some(head) = history::head(&kv, cluster).await? else { return Ok(None) };
    let wanted = query.value::<u64>("min_revision")?.unwrap_or_default().max(ready::last_written(cluster));
    let before: u64 = query.value("before")?.unwrap_or_default();
    if head.revision < wanted.max(before) {
        return Ok(None);
    }
    if let Call::Market(call) = asked.route.call {
        let market::Answer { text, content_type } = market(&kv, cluster, &head, call, asked, query).await?;
        return answer::typed(text, content_type, origin(&head, bindings::now())).map(Some);
    }
    let Some(text) = text(&kv, cluster, &head, asked, query).await? else { return Ok(None) };
    answer::json_text(text, origin(&head, bindings::now())).map(Some)
}

async fn market(
    kv: &Kv,
    cluster: &ClusterName,
    head: &Head,
    call: MarketCall,
    asked: &Asked,
    query: &Query,
) -> Result<market::Answer, Problem> {
    let folded = ready::folded(kv, cluster, head).await?;
    let (entries, is_whole) = match call {
        MarketCall::Offers => Default::default(),
        MarketCall::History | MarketCall::Bills => {
            let before: u64 = query.value("before")?.unwrap_or(head.revision);
            at_hand(past::newest(kv, head, before, market::PAGES_MAX).await?)?
        }
    };
    let entries: Vec<_> = entries.into_iter().map(|(_, entry)| entry).collect();
    let everybody = access::root()?;
    let seen = Veil::new(&folded.state, &everybody);
    market::answer(seen, &entries, is_whole, call, asked.name(), query, bindings::now())
}

async fn text(
    kv: &Kv,
    cluster: &ClusterName,
    head: &Head,
    asked: &Asked,
    query: &Query,
) -> Result<Option<String>, Problem> {
    Ok(match asked.route.call {
        Call::Snapshot => Some(ready::snapshot(kv, cluster, head).await?),
        Call::Head => Some(encode(head)?),
        Call::Entries => {
            let after: u64 = query.value("after")?.unwrap_or_default();
            // Who has seen all of it may be ahead of KV.
            if after >= head.revision {
                return Ok(None);
            }
            let entries = match portion(query)? {
                Some(count) => at_hand(past::entries(kv, head, after, count).await?)?,
                None => history::entries_after(kv, head, after, PAGES_MAX).await?.ok_or(Problem::Gone)?,
            };
            let entries: Vec<_> = entries.into_iter().map(|(_, entry)| entry).collect();
            Some(encode(&entries)?)
        }
        Call::Past => Some(at_hand(past::snapshot(kv, head, moment(query)?).await?)?.map_or_else(beginning, Ok)?),
        Call::Rounds => {
            let mut rounds = Search::new(count(query)?, u64::MAX, history::is_round);
            at_hand(past::find(kv, head, u64::MAX, 1, &mut rounds).await?)?;
            Some(encode(&rounds.found())?)
        }
        Call::RoundAt => {
            let revision: u64 = asked.number()?;
            if revision > head.revision {
                return Ok(None);
            }
            let entry = at_hand(past::entry_at(kv, head, revision).await?)?;
            Some(encode(&entry.ok_or(Problem::Gone)?)?)
        }
        Call::Health
        | Call::Condition
        | Call::Clusters
        | Call::Command
        | Call::Session
        | Call::Me
        | Call::Keys
        | Call::Audit
        | Call::Why
        | Call::Overdue
        | Call::Agents
        | Call::Market(_)
        | Call::Metrics
        | Call::Hash
        | Call::Events
        | Call::Restore
        | Call::Object
        | Call::Import
        | Call::Flush
        | Call::Agent(_)
        | Call::Log
        | Call::Incidents
        | Call::ServiceIncidents
        | Call::Deletion
        | Call::Delete
        | Call::SignOut
        | Call::Slot => None,
    })
}

/// How many entries a query asks for, if it says so.
pub(crate) fn portion(query: &Query) -> Result<Option<usize>, Problem> {
    let count: Option<usize> = query.value("count")?;
    Ok(count.map(|count| count.min(PORTION_MAX)))
}

/// The moment that a query asks for.
pub(crate) fn moment(query: &Query) -> Result<Moment, Problem> {
    match (query.value("time")?, query.value("revision")?) {
        (Some(ms), None) => Ok(Moment::Time(Timestamp(ms))),
        (None, Some(revision)) => Ok(Moment::Revision(revision)),
        (None, None) | (Some(_), Some(_)) => Err(Problem::BadQuery("time or revision, one of the two,")),
    }
}

/// What is kept of the past, or since when something is.
pub(crate) fn at_hand<T>(kept: Kept<T>) -> Result<T, Problem> {
    match kept {
        Kept::Yes(kept) => Ok(kept),
        Kept::Since(revision, gap) => Err(Problem::NotKept(revision, gap)),
    }
}

/// The state before anything happened.
pub(crate) fn beginning() -> Result<String, Fault> {
    encode(&Snapshot::of(&State::default()))
}

/// How many rounds a query asks for.
pub(crate) fn count(query: &Query) -> Result<usize, Problem> {
    Ok(query.value("count")?.unwrap_or(ROUNDS_SHOWN).min(ROUNDS_MAX))
}

fn origin(head: &Head, now: Timestamp) -> Origin {
    Origin { revision: head.revision, age_ms: (now - head.published_at).0.max(0), source: "kv" }
}
