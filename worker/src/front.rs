//! The front: finds out who sends a request, answers reads from KV, and hands the rest to the cluster's object.
//!
//! A read says in its headers which revision it shows, how old that is and where it comes from. It goes to the object
//! when KV cannot answer: when the reader wants a newer revision than KV shows, or KV does not show what its head names;
//! and when the reader is somebody who may not see everything, for what they may see is judged by the state as it is. Of
//! the past the object says what is newest, and the rest is read here ([`crate::past_reads`]).

use engine::unit::time::Timestamp;
use protocol::document::Head;
use protocol::history;
use protocol::log::encode;
use protocol::meter::Meter;
use protocol::meter::Metered;
use protocol::name::ClusterName;
use protocol::newest::Newest;
use protocol::route::Call;
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
use crate::past_reads;
use crate::past_reads::NEWEST_HEADER;
use crate::past_reads::Read;
use crate::portion;
use crate::proof::PROOF_HEADER;
use crate::proof::Proof;
use crate::query::Query;
use crate::ready;
use crate::registry;
use crate::routes::Asked;

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
    let mut response = hand_on(request, env, cluster, Some(&proof)).await?;
    if response.headers().has(NEWEST_HEADER)? {
        let query = Query::of(request, asked.route)?;
        return past_reads::answer(env, cluster, &asked, &query, &response.text().await?).await;
    }
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
    // Nobody is charged.
    let meter = Meter::default();
    let kv = Metered::new(Kv::of(env)?, &meter);
    let Some(head) = history::head(&kv, cluster).await? else { return Ok(None) };
    let head = ready::newer(cluster, head);
    let wanted = query.value::<u64>("min_revision")?.unwrap_or_default().max(ready::last_written(cluster));
    let before: u64 = query.value("before")?.unwrap_or_default();
    if head.revision < wanted.max(before) {
        return Ok(None);
    }
    let origin = origin(&head, bindings::now());
    let (call, after) = (asked.route.call, query.value::<u64>("after")?.unwrap_or_default());
    // Who has seen all of it may be ahead of KV.
    if call == Call::Entries && after >= head.revision
        || call == Call::RoundAt && asked.number::<u64>()? > head.revision
    {
        return Ok(None);
    }
    let text = match (call, portion::portion(query)?) {
        (Call::Snapshot, _) => ready::snapshot(&kv, cluster, &head).await?,
        (Call::Head, _) => encode(&head)?,
        (Call::Entries, None) => {
            let pages_max = bindings::profile(env).pages.at_once;
            let entries = history::entries_after(&kv, &head, after, pages_max).await?.ok_or(Problem::Gone)?;
            encode(&entries.into_iter().map(|(_, entry)| entry).collect::<Vec<_>>())?
        }
        (_, _) => {
            let newest = Newest::published(&access::root()?, head);
            let read = Read { env, cluster, newest: &newest, meter: &meter };
            return read.answer(asked, query, origin).await.map(Some);
        }
    };
    answer::json_text(text, origin).map(Some)
}

fn origin(head: &Head, now: Timestamp) -> Origin {
    Origin { revision: head.revision, age_ms: (now - head.published_at).0.max(0), source: "kv" }
}
