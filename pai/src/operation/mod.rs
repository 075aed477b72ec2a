//! What a request asks for: routed on version and action, its parameters read and named when they are wrong.
//!
//! The version says which product's operation it is; products share paths, so the path alone would not do. That path
//! and method are those of the action is checked all the same: a signature covers both.

pub mod access;
mod arguments;
mod fields;
pub mod instance;
pub mod job;
pub mod machine;
pub mod market;
pub mod misfit;
pub mod nodes;
pub mod page;
pub mod product;
pub(crate) mod quantity;
pub mod quota;
pub mod resource;
pub mod row;
pub mod sent;
pub mod service;
pub mod submission;
pub mod table;
pub mod training;
pub mod unserved;
pub mod workload;
pub mod workspace;

use serde_json::Map;
use serde_json::Value;

use crate::escape;
use crate::operation::arguments::Arguments;
use crate::operation::misfit::Misfit;
use crate::operation::product::Product;
use crate::operation::row::Read;
use crate::operation::row::Row;
use crate::operation::table::ROWS;
use crate::operation::unserved::UNSERVED;
use crate::request::Request;

/// How many levels a body may have: what the SDKs send has fewer than ten.
const DEPTH_MAX: usize = 32;

/// An operation with its parameters.
#[derive(Clone, Debug, PartialEq)]
pub enum Operation {
    /// Of training jobs.
    Job(job::JobOperation),
    /// Of training jobs that are made of algorithms.
    Training(training::TrainingOperation),
    /// Of quotas.
    Quota(quota::QuotaOperation),
    /// Of workspaces and their members.
    Workspace(workspace::WorkspaceOperation),
    /// Of the quotas that are attached to workspaces.
    Resource(resource::ResourceOperation),
    /// Of permissions and defaults.
    Access(access::AccessOperation),
    /// Of resource groups and nodes.
    Machine(machine::MachineOperation),
    /// Of the spot market.
    Market(market::MarketOperation),
    /// Of inference services.
    Service(service::ServiceOperation),
    /// Of development instances.
    Instance(instance::InstanceOperation),
}

/// The operation that a request asks for.
pub fn read(request: &Request) -> Result<Operation, Misfit> {
    let row = row(request)?;
    let arguments = Arguments {
        path: path_arguments(row, request)?,
        query: query_arguments(request)?,
        body: body_arguments(request.body)?,
    };
    row.query.check(row.action, &arguments.query)?;
    row.body.check(row.action, &arguments.body)?;
    match row.read {
        Read::Job(read) => read(&arguments).map(Operation::Job),
        Read::Training(read) => read(&arguments).map(Operation::Training),
        Read::Quota(read) => read(&arguments).map(Operation::Quota),
        Read::Workspace(read) => read(&arguments).map(Operation::Workspace),
        Read::Resource(read) => read(&arguments).map(Operation::Resource),
        Read::Access(read) => read(&arguments).map(Operation::Access),
        Read::Machine(read) => read(&arguments).map(Operation::Machine),
        Read::Market(read) => read(&arguments).map(Operation::Market),
        Read::Service(read) => read(&arguments).map(Operation::Service),
        Read::Instance(read) => read(&arguments).map(Operation::Instance),
    }
}

fn row(request: &Request) -> Result<&'static Row, Misfit> {
    let header = |name: &'static str| {
        let value = request.header(name).map_err(|repeated| Misfit::Repeated { field: repeated.0 })?;
        value.ok_or(Misfit::Missing { field: name.to_owned() })
    };
    let (version, action) = (header("x-acs-version")?, header("x-acs-action")?);
    let product = Product::of_version(version).ok_or_else(|| Misfit::Version { version: version.to_owned() })?;
    if let Some(row) = ROWS.iter().find(|row| row.product == product && row.action == action) {
        return Ok(row);
    }
    let is_meant = |actions: &str| actions.split(' ').any(|name| name == action);
    let unserved = UNSERVED.iter().find(|(of, actions, _)| *of == product && is_meant(actions));
    Err(match unserved {
        Some((_, _, why)) => Misfit::Unserved { action: action.to_owned(), why },
        None => Misfit::Action { action: action.to_owned(), version: version.to_owned() },
    })
}

/// The parameters in the path, by the names that the row gives them.
fn path_arguments(row: &Row, request: &Request) -> Result<Map<String, Value>, Misfit> {
    let wrong = || Misfit::Path { action: row.action, method: row.method, path: row.path };
    let (form, sent): (Vec<&str>, Vec<&str>) = (row.path.split('/').collect(), request.path().split('/').collect());
    if request.method != row.method || form.len() != sent.len() {
        return Err(wrong());
    }
    let mut arguments = Map::new();
    for (form, sent) in form.iter().zip(sent) {
        if let Some(name) = form.strip_prefix('{').and_then(|form| form.strip_suffix('}')) {
            let value = escape::decoded(sent).and_then(|bytes| String::from_utf8(bytes).ok());
            let value = value.filter(|value| !value.is_empty()).ok_or_else(wrong)?;
            arguments.insert(name.to_owned(), Value::from(value));
        } else if *form != sent {
            return Err(wrong());
        }
    }
    Ok(arguments)
}

fn query_arguments(request: &Request) -> Result<Map<String, Value>, Misfit> {
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).ok();
    let mut arguments = Map::new();
    for (name, value) in request.query().ok_or(Misfit::Query)? {
        let (name, value) = text(name).zip(text(value)).ok_or(Misfit::Query)?;
        // Objects are flattened, one point deep.
        let into = match name.split_once('.') {
            None => arguments.insert(name.clone(), Value::from(value)),
            Some((outer, inner)) => {
                let object = arguments.entry(outer).or_insert_with(|| Value::Object(Map::new())).as_object_mut();
                let object = object.ok_or_else(|| Misfit::Repeated { field: outer.to_owned() })?;
                object.insert(inner.to_owned(), Value::from(value))
            }
        };
        if into.is_some() {
            return Err(Misfit::Repeated { field: name });
        }
    }
    arguments.values_mut().for_each(listed);
    Ok(arguments)
}

/// A list is flattened with numbers from 1: by clients that are given one where the contract has a text.
fn listed(value: &mut Value) {
    let Some(object) = value.as_object_mut() else { return };
    let items: Option<Vec<Value>> = (1..=object.len()).map(|number| object.get(&number.to_string()).cloned()).collect();
    if let Some(items) = items.filter(|items| !items.is_empty()) {
        *value = Value::Array(items);
    }
}

fn body_arguments(body: &[u8]) -> Result<Map<String, Value>, Misfit> {
    if body.is_empty() {
        return Ok(Map::new());
    }
    let wrong = |reason: String| Misfit::Body { reason };
    let text = std::str::from_utf8(body).map_err(|error| wrong(format!("it is not UTF-8: {error}")))?;
    match serde_json::from_str(text).map_err(|error| wrong(error.to_string()))? {
        Value::Object(body) if depth(body.values()) < DEPTH_MAX => Ok(body),
        Value::Object(_) => Err(wrong(format!("it is nested deeper than {DEPTH_MAX} levels"))),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Err(wrong("it is not an object".to_owned()))
        }
    }
}

/// How many levels these values have. The reader has refused what would be too deep for this.
fn depth<'a>(values: impl Iterator<Item = &'a Value>) -> usize {
    let of_one = |value: &Value| match value {
        Value::Array(list) => 1 + depth(list.iter()),
        Value::Object(object) => 1 + depth(object.values()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    };
    values.map(of_one).max().unwrap_or_default()
}
