//! The names of all clusters, so that the clock knows whose rounds to run.
//!
//! One object, named [`REGISTRY`], with one table. A cluster's object enters its name before it takes its first command,
//! so there is no log without an entry; an entry without a log costs one empty call a minute.
//! The clock copies the list to KV under [`LIST_KEY`] and gives names from there back, so that neither store alone
//! can lose a cluster.

use std::collections::BTreeSet;

use protocol::kv::KvStore;
use protocol::name::ClusterName;
use serde::Deserialize;
use worker::Env;
use worker::Method;
use worker::Request;
use worker::RequestInit;
use worker::Response;
use worker::SqlStorage;

use crate::answer::Problem;
use crate::answer::Reply;
use crate::bindings;
use crate::bindings::Kv;
use crate::bindings::REGISTRY;

/// Where KV has the list.
pub(crate) const LIST_KEY: &str = "clusters";

#[derive(Deserialize)]
struct Row {
    name: String,
}

/// What the object answers to a path: `POST /registry/{name}` enters a name, `GET /registry` lists them.
pub(crate) fn serve(sql: &SqlStorage, method: &Method, path: &str) -> Reply {
    sql.exec("CREATE TABLE IF NOT EXISTS clusters (name TEXT PRIMARY KEY) WITHOUT ROWID", None)?;
    if let (Method::Post, Some(name)) = (method, path.strip_prefix("/registry/")) {
        sql.exec("INSERT OR IGNORE INTO clusters VALUES (?)", vec![name.into()])?;
        return Ok(Response::from_json(&name)?);
    }
    let rows: Vec<Row> = sql.exec("SELECT name FROM clusters ORDER BY name", None)?.to_array()?;
    let names: Vec<String> = rows.into_iter().map(|row| row.name).collect();
    Ok(Response::from_json(&names)?)
}

/// Enters a name. Entering it again changes nothing.
pub(crate) async fn enter(env: &Env, cluster: &ClusterName) -> Result<(), Problem> {
    let url = format!("http://object/registry/{cluster}");
    let request = Request::new_with_init(&url, RequestInit::new().with_method(Method::Post))?;
    let status = bindings::object(env, REGISTRY)?.fetch_with_request(request).await?.status_code();
    if status == 200 { Ok(()) } else { Err(Problem::Unavailable(format!("the registry answered {status}"))) }
}

/// All names.
pub(crate) async fn list(env: &Env) -> Result<Vec<ClusterName>, Problem> {
    let mut answer = bindings::object(env, REGISTRY)?.fetch_with_str("http://object/registry").await?;
    let names: Vec<String> = answer.json().await?;
    Ok(names.iter().filter_map(|name| ClusterName::new(name)).collect())
}

/// Makes the list and its copy in KV the same, each with what either has.
pub(crate) async fn reconcile(env: &Env) -> Result<Vec<ClusterName>, Problem> {
    let kv = Kv::of(env)?;
    let copy = kv.get(LIST_KEY).await?.unwrap_or_default();
    let copied: Vec<ClusterName> = copy.lines().filter_map(ClusterName::new).collect();
    let mut names = list(env).await?;
    for lost in copied.iter().filter(|name| !names.contains(name)) {
        enter(env, lost).await?;
    }
    if names.iter().any(|name| !copied.contains(name)) {
        let all: BTreeSet<&str> = names.iter().chain(&copied).map(ClusterName::as_str).collect();
        let lines: Vec<&str> = all.into_iter().collect();
        kv.put(LIST_KEY, &lines.join("\n")).await?;
    }
    names.extend(copied);
    names.sort();
    names.dedup();
    Ok(names)
}
