//! The clock: each minute, the round of that minute in every known cluster.
//!
//! A scheduled event may come twice, late, or not at all. The slot is the minute that it was scheduled for, so a second
//! one decides nothing; a missing one is counted by the engine when the next comes.
//!
//! Which invocation calls whom is decided in [`protocol::clock`]. Helpers are objects of the same class without a cluster,
//! each named by its number, which have no storage.

use std::collections::BTreeMap;

use futures_util::future::join_all;
use protocol::clock;
use protocol::clock::Calls;
use protocol::cluster::SLOT_MS;
use protocol::health::Condition;
use protocol::log::decode;
use protocol::name::ClusterName;
use serde::Deserialize;
use serde::Serialize;
use worker::Env;
use worker::Method;
use worker::Request;
use worker::RequestInit;
use worker::Response;
use worker::console_error;
use worker::wasm_bindgen::JsValue;

use crate::answer::Problem;
use crate::answer::Reply;
use crate::bindings;
use crate::registry;
use crate::registry::Told;

/// Where an object takes a helper's batch. No cluster has such a path.
pub(crate) const PATH: &str = "/clock/";

/// What a cluster answers when its slot is done.
#[derive(Serialize, Deserialize)]
pub(crate) struct SlotDone {
    pub(crate) slot: i64,
    pub(crate) revision: u64,
    pub(crate) condition: Condition,
}

/// How clusters do. Of those that are left out nothing new is known.
type Conditions = BTreeMap<String, Condition>;

/// Runs a scheduled event. It has no answer to fail with, so what fails is logged; the next one does it again.
pub(crate) async fn tick(env: &Env, scheduled_ms: f64) {
    #[expect(clippy::cast_possible_truncation, reason = "milliseconds since 1970 are far below 2^53")]
    let slot = (scheduled_ms as i64).div_euclid(SLOT_MS);
    if let Err(problem) = minute(env, slot).await {
        console_error!("the minute of slot {slot} failed: {problem:?}");
    }
}

async fn minute(env: &Env, slot: i64) -> Result<(), Problem> {
    let listed = registry::listed(env).await?;
    let names = match registry::reconcile(env, &listed).await {
        Ok(names) => names,
        Err(problem) => {
            console_error!("KV's list of clusters could not be used: {problem:?}");
            registry::named(&listed.names)
        }
    };
    let minute = clock::minute(&names, ClusterName::new(&listed.next).as_ref(), bindings::calls_max(env));
    let conditions = match &minute.calls {
        Calls::Direct(names) => rounds(env, names, slot).await,
        Calls::Helped(batches) => {
            let helped = batches.iter().enumerate().map(|(number, batch)| help(env, number, batch, slot));
            let mut conditions = Conditions::new();
            for (batch, helped) in batches.iter().zip(join_all(helped).await) {
                match helped {
                    Ok(more) => conditions.extend(more),
                    Err(problem) => console_error!("slot {slot} failed in {} clusters: {problem:?}", batch.len()),
                }
            }
            conditions
        }
    };
    let next = minute.next.map_or_else(String::new, |next| next.to_string());
    registry::tell_minute(env, &Told { slot, next, conditions }).await
}

async fn help(env: &Env, number: usize, batch: &[ClusterName], slot: i64) -> Result<Conditions, Problem> {
    let lines: Vec<&str> = batch.iter().map(ClusterName::as_str).collect();
    let mut init = RequestInit::new();
    init.with_method(Method::Post).with_body(Some(JsValue::from_str(&lines.join("\n"))));
    let request = Request::new_with_init(&format!("http://object{PATH}{slot}"), &init)?;
    let mut answer = bindings::object(env, &format!("~clock-{number}"))?.fetch_with_request(request).await?;
    Ok(decode("what a helper answers", &answer.text().await?)?)
}

/// What a helper does.
pub(crate) async fn serve(env: &Env, mut request: Request) -> Reply {
    let slot = request.path().strip_prefix(PATH).and_then(|slot| slot.parse().ok()).ok_or(Problem::NoRoute)?;
    let names: Vec<ClusterName> = request.text().await?.lines().filter_map(ClusterName::new).collect();
    Ok(Response::from_json(&rounds(env, &names, slot).await)?)
}

async fn rounds(env: &Env, names: &[ClusterName], slot: i64) -> Conditions {
    let outcomes = join_all(names.iter().map(|cluster| round(env, cluster, slot))).await;
    let mut conditions = Conditions::new();
    for (cluster, outcome) in names.iter().zip(outcomes) {
        let condition = outcome.unwrap_or_else(|problem| {
            console_error!("the round of slot {slot} in cluster {cluster} failed: {problem:?}");
            Some(Condition::Lost)
        });
        conditions.extend(condition.map(|condition| (cluster.to_string(), condition)));
    }
    conditions
}

/// How a cluster does after its round; not known of a slot that had been decided.
async fn round(env: &Env, cluster: &ClusterName, slot: i64) -> Result<Option<Condition>, Problem> {
    let url = format!("http://object/v1/clusters/{cluster}/slots/{slot}");
    let request = Request::new_with_init(&url, RequestInit::new().with_method(Method::Post))?;
    let mut answer = bindings::object(env, cluster.as_str())?.fetch_with_request(request).await?;
    match answer.status_code() {
        200 => {
            let done: SlotDone = decode("what a slot came to", &answer.text().await?)?;
            Ok(Some(done.condition))
        }
        409 => Ok(None),
        status => Err(Problem::Unavailable(format!("the object answered {status}"))),
    }
}
