//! The names of all clusters, so that the clock knows whose rounds to run.
//!
//! One object, named [`REGISTRY`], with these tables. A cluster's object enters its name before it takes its first command,
//! so there is no log without an entry; an entry without a log costs one empty call a minute.
//! The clock copies the list to KV under [`LIST_KEY`] and gives names from there back, so that neither store alone
//! can lose a cluster.
//!
//! | table | key | holds |
//! |---|---|---|
//! | `clusters` | `name` | every cluster |
//! | `conditions` | `name` | of those that do not do well, how they did in their last round |
//! | `deleted` | `name` | clusters that were deleted, so that KV's copy brings none of them back |
//! | `incidents` | | what happened beside the logs of all clusters ([`crate::incidents`]) |
//! | `minutes` | `id` | the last minute that the clock has reached, and with whom the next one begins |

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::collections::BTreeSet;

use engine::unit::time::Millis;
use engine::unit::time::Timestamp;
use protocol::answer::Health;
use protocol::cluster::SLOT_MS;
use protocol::health::Condition;
use protocol::incident::Incidents;
use protocol::incident::Kind;
use protocol::kv::KvStore;
use protocol::log::decode;
use protocol::log::encode;
use protocol::name::ClusterName;
use serde::Deserialize;
use serde::Serialize;
use serde::de::DeserializeOwned;
use worker::Env;
use worker::Method;
use worker::Request;
use worker::RequestInit;
use worker::Response;
use worker::SqlStorage;
use worker::SqlStorageValue;
use worker::wasm_bindgen::JsValue;

use crate::answer::Problem;
use crate::answer::Reply;
use crate::bindings;
use crate::bindings::Kv;
use crate::bindings::REGISTRY;
use crate::incidents;
use crate::query::Query;
use crate::routes::Asked;

/// Where KV has the list.
pub(crate) const LIST_KEY: &str = "clusters";
/// After how many slots it is looked whether there are too many incidents.
const PRUNED_EVERY: i64 = 1_440;
/// Where the list of incidents is asked for, which says what may be asked.
const INCIDENTS_PATH: &str = "/v1/incidents";
/// How long an instance answers for the whole service by what it has read: who asks again and again costs nothing.
const HEALTH_KEPT: Millis = Millis(10_000);

const SCHEMA: [&str; 4] = [
    "CREATE TABLE IF NOT EXISTS clusters (name TEXT PRIMARY KEY) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS deleted (name TEXT PRIMARY KEY) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS conditions (name TEXT PRIMARY KEY, condition TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS minutes (id INTEGER PRIMARY KEY, slot INTEGER NOT NULL, next TEXT NOT NULL)",
];

#[derive(Deserialize)]
struct Row {
    name: String,
}

#[derive(Deserialize)]
struct ConditionRow {
    name: String,
    condition: String,
}

#[derive(Deserialize)]
struct MinuteRow {
    slot: i64,
    next: String,
}

/// What the clock has to know.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Listed {
    pub(crate) names: Vec<String>,
    /// Those that were deleted.
    pub(crate) deleted: Vec<String>,
    /// With whom the next minute begins; empty if with the first.
    pub(crate) next: String,
}

/// What came of a minute.
#[derive(Serialize, Deserialize)]
pub(crate) struct Told {
    pub(crate) slot: i64,
    /// With whom the next minute begins; empty if with the first.
    pub(crate) next: String,
    /// How those do that were called.
    pub(crate) conditions: BTreeMap<String, Condition>,
}

/// What the object answers: `GET /registry` lists the names, `POST /registry` enters those in the body, a line each,
/// `POST /registry/deleted` takes one away, `POST /registry/minute` takes what came of one, `GET /registry/health` says how
/// the service does, and `/registry/incidents` takes and lists what happened.
pub(crate) async fn serve(sql: &SqlStorage, mut request: Request) -> Reply {
    for statement in SCHEMA {
        sql.exec(statement, None)?;
    }
    let path = request.path();
    match (request.method(), path.as_str()) {
        (Method::Post, "/registry") => {
            for name in request.text().await?.lines() {
                sql.exec("INSERT OR IGNORE INTO clusters VALUES (?)", vec![name.into()])?;
                sql.exec("DELETE FROM deleted WHERE name = ?", vec![name.into()])?;
            }
            Ok(Response::empty()?)
        }
        (Method::Post, "/registry/deleted") => {
            let name = request.text().await?;
            sql.exec("INSERT OR IGNORE INTO deleted VALUES (?)", vec![name.as_str().into()])?;
            for table in ["clusters", "conditions"] {
                sql.exec(&format!("DELETE FROM {table} WHERE name = ?"), vec![name.as_str().into()])?;
            }
            Ok(Response::empty()?)
        }
        (Method::Post, "/registry/incidents") => {
            incidents::write(sql, decode("incidents", &request.text().await?)?)?;
            Ok(Response::empty()?)
        }
        (Method::Get, "/registry/incidents") => {
            let (asked, query) = (Asked::read(&Method::Get, INCIDENTS_PATH)?, request);
            Ok(Response::from_json(&incidents::read(sql, None, &Query::of(&query, asked.route)?)?)?)
        }
        (Method::Post, "/registry/minute") => {
            tell(sql, &decode("a minute", &request.text().await?)?)?;
            Ok(Response::empty()?)
        }
        (Method::Get, "/registry/health") => Ok(Response::from_json(&counted(sql)?)?),
        (Method::Get, "/registry") => {
            let listed = |query: &str| {
                Ok::<_, worker::Error>(rows::<Row>(sql, query)?.into_iter().map(|row| row.name).collect())
            };
            let names = listed("SELECT name FROM clusters ORDER BY name")?;
            let deleted = listed("SELECT name FROM deleted ORDER BY name")?;
            let next = minute(sql)?.map_or_else(String::new, |last| last.next);
            Ok(Response::from_json(&Listed { names, deleted, next })?)
        }
        _ => Err(Problem::NoRoute),
    }
}

fn rows<T: DeserializeOwned>(sql: &SqlStorage, query: &str) -> worker::Result<Vec<T>> {
    sql.exec(query, None)?.to_array()
}

fn minute(sql: &SqlStorage) -> worker::Result<Option<MinuteRow>> {
    Ok(rows(sql, "SELECT slot, next FROM minutes")?.into_iter().next())
}

/// Notes what came of a minute. How a cluster does is written when that has changed.
fn tell(sql: &SqlStorage, told: &Told) -> Result<(), Problem> {
    let Told { slot, next, conditions } = told;
    let values = vec![SqlStorageValue::Integer(*slot), next.as_str().into()];
    sql.exec("INSERT OR REPLACE INTO minutes VALUES (0, ?, ?)", values)?;
    if slot % PRUNED_EVERY == 0 {
        incidents::prune(sql, bindings::now())?;
    }
    let known = known(sql)?;
    for (name, condition) in conditions {
        let word = if *condition == Condition::Ok { None } else { Some(encode(condition)?) };
        if known.get(name) == word.as_ref() {
            continue;
        }
        match word {
            Some(word) => {
                sql.exec("INSERT OR REPLACE INTO conditions VALUES (?, ?)", vec![name.as_str().into(), word.into()])?
            }
            None => sql.exec("DELETE FROM conditions WHERE name = ?", vec![name.as_str().into()])?,
        };
    }
    Ok(())
}

fn known(sql: &SqlStorage) -> worker::Result<BTreeMap<String, String>> {
    let known: Vec<ConditionRow> = rows(sql, "SELECT name, condition FROM conditions")?;
    Ok(known.into_iter().map(|row| (row.name, row.condition)).collect())
}

fn counted(sql: &SqlStorage) -> Result<Health, Problem> {
    let lost_word = encode(&Condition::Lost)?;
    let known = known(sql)?;
    let lost = known.values().filter(|word| **word == lost_word).count();
    let last_tick = minute(sql)?.map(|last| Timestamp(last.slot.saturating_mul(SLOT_MS)));
    Ok(Health::of((known.len() - lost) as u64, lost as u64, last_tick, bindings::now()))
}

async fn post(env: &Env, path: &str, body: &str) -> Result<(), Problem> {
    let mut init = RequestInit::new();
    init.with_method(Method::Post).with_body(Some(JsValue::from_str(body)));
    let request = Request::new_with_init(&format!("http://object{path}"), &init)?;
    let status = bindings::object(env, REGISTRY)?.fetch_with_request(request).await?.status_code();
    if status == 200 { Ok(()) } else { Err(Problem::Unavailable(format!("the registry answered {status}"))) }
}

async fn get<T: DeserializeOwned>(env: &Env, path: &str) -> Result<T, Problem> {
    let mut answer = bindings::object(env, REGISTRY)?.fetch_with_str(&format!("http://object{path}")).await?;
    Ok(decode("what the registry answers", &answer.text().await?)?)
}

/// Enters a name. Entering it again changes nothing.
pub(crate) async fn enter(env: &Env, cluster: &ClusterName) -> Result<(), Problem> {
    post(env, "/registry", cluster.as_str()).await
}

/// Takes a deleted cluster's name away. Taking it away again changes nothing.
pub(crate) async fn leave(env: &Env, cluster: &ClusterName) -> Result<(), Problem> {
    post(env, "/registry/deleted", cluster.as_str()).await
}

/// All names.
pub(crate) async fn list(env: &Env) -> Result<Vec<ClusterName>, Problem> {
    Ok(named(&listed(env).await?.names))
}

/// Those of some texts that are names.
pub(crate) fn named(texts: &[String]) -> Vec<ClusterName> {
    texts.iter().filter_map(|text| ClusterName::new(text)).collect()
}

/// What the clock has to know.
pub(crate) async fn listed(env: &Env) -> Result<Listed, Problem> {
    get(env, "/registry").await
}

thread_local! {
    /// What this instance has seen of what happened.
    static INCIDENTS: RefCell<Incidents> = const { RefCell::new(Incidents::new()) };
}

/// Notes what happened beside the logs of all clusters.
pub(crate) async fn note(env: &Env, kind: Kind, who: &str, what: &str) -> Result<(), Problem> {
    let what = what.to_owned().into();
    let due = INCIDENTS.with_borrow_mut(|incidents| incidents.note(kind, who, what, bindings::now()));
    if due.is_empty() { Ok(()) } else { post(env, "/registry/incidents", &encode(&due)?).await }
}

/// What happened beside the logs of all clusters.
pub(crate) async fn incidents(env: &Env, request: &Request) -> Reply {
    let query = request.url()?.query().map_or_else(String::new, |query| format!("?{query}"));
    let url = format!("http://object/registry/incidents{query}");
    Ok(bindings::object(env, REGISTRY)?.fetch_with_str(&url).await?)
}

/// Notes what came of a minute.
pub(crate) async fn tell_minute(env: &Env, told: &Told) -> Result<(), Problem> {
    post(env, "/registry/minute", &encode(told)?).await
}

thread_local! {
    /// What was read last, and when.
    static HEALTH: RefCell<Option<(Timestamp, Health)>> = const { RefCell::new(None) };
}

/// How the service does as a whole. Who cannot read it says so.
pub(crate) async fn health(env: &Env) -> Health {
    let now = bindings::now();
    let kept = HEALTH.with_borrow(|kept| kept.filter(|(at, _)| now - *at < HEALTH_KEPT));
    if let Some((_, health)) = kept {
        return health;
    }
    let health = get(env, "/registry/health").await.unwrap_or_else(|_| Health::unknown());
    HEALTH.set(Some((now, health)));
    health
}

/// Makes the list and its copy in KV the same, each with what either has.
pub(crate) async fn reconcile(env: &Env, listed: &Listed) -> Result<Vec<ClusterName>, Problem> {
    let kv = Kv::of(env)?;
    let copy = kv.get(LIST_KEY).await?.unwrap_or_default();
    let is_deleted = |name: &ClusterName| listed.deleted.iter().any(|deleted| deleted == name.as_str());
    let (gone, copied): (Vec<_>, Vec<_>) = copy.lines().filter_map(ClusterName::new).partition(is_deleted);
    let mut names = named(&listed.names);
    let lost: Vec<&str> = copied.iter().filter(|name| !names.contains(name)).map(ClusterName::as_str).collect();
    if !lost.is_empty() {
        post(env, "/registry", &lost.join("\n")).await?;
    }
    if !gone.is_empty() || names.iter().any(|name| !copied.contains(name)) {
        let all: BTreeSet<&str> = names.iter().chain(&copied).map(ClusterName::as_str).collect();
        let lines: Vec<&str> = all.into_iter().collect();
        kv.put(LIST_KEY, &lines.join("\n")).await?;
    }
    names.extend(copied);
    names.sort();
    names.dedup();
    Ok(names)
}
