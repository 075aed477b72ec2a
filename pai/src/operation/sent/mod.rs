//! What can be sent with each operation, field by field: every field that an SDK has is served, or refused by its name.
//!
//! The tables of this module are the one place that says so. What is refused, the list of it in `docs/pai.md`, and the
//! tests that hold both against the SDKs' own fields follow from them.

pub(super) mod dlc;
pub(crate) mod dsw;
pub(super) mod eas;
pub(super) mod machine;
pub(super) mod quota;
pub(super) mod training;
pub(super) mod workspace;

use serde_json::Map;
use serde_json::Value;

use crate::operation::misfit::Misfit;

/// A field and what becomes of it.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// What becomes of it.
    pub becomes: Use,
}

/// What becomes of a field that says something.
#[derive(Clone, Copy, Debug)]
pub enum Use {
    /// The operation is done by it.
    Read,
    /// An object, or a list of objects, of these fields.
    Inside(&'static [Field]),
    /// Kept for the operator of the machines: answers repeat it as it was sent.
    Kept,
    /// It asks for what every answer has, for this reason.
    Always(&'static str),
    /// Only these values, of which each is what happens in any case, and nothing else for this reason.
    Only(&'static [&'static str], &'static str),
    /// Refused, for this reason.
    Refused(&'static str),
}

pub(super) const fn read(name: &'static str) -> Field {
    Field { name, becomes: Use::Read }
}

const fn inside(name: &'static str, fields: &'static [Field]) -> Field {
    Field { name, becomes: Use::Inside(fields) }
}

const fn kept(name: &'static str) -> Field {
    Field { name, becomes: Use::Kept }
}

const fn always(name: &'static str, why: &'static str) -> Field {
    Field { name, becomes: Use::Always(why) }
}

const fn only(name: &'static str, values: &'static [&'static str], why: &'static str) -> Field {
    Field { name, becomes: Use::Only(values, why) }
}

/// A switch that may be sent while it is off.
const fn off(name: &'static str, why: &'static str) -> Field {
    only(name, &["false"], why)
}

const fn refused(name: &'static str, why: &'static str) -> Field {
    Field { name, becomes: Use::Refused(why) }
}

/// What is sent of an operation.
#[derive(Clone, Copy, Debug)]
pub enum Sent {
    /// These fields.
    Fields(&'static [Field]),
    /// A description that no SDK looks into, kept as it is.
    Description,
}

impl Sent {
    /// Refuses what is not served of an operation, and what it does not have.
    pub(super) fn check(&self, action: &str, object: &Map<String, Value>) -> Result<(), Misfit> {
        match self {
            Self::Fields(fields) => check(action, "", fields, object),
            Self::Description => Ok(()),
        }
    }
}

/// Those fields of a request that answers repeat and the engine does not know.
pub(super) fn kept_of(fields: &[Field], object: &Map<String, Value>) -> Map<String, Value> {
    let is_kept = |name: &str| fields.iter().any(|field| field.name == name && matches!(field.becomes, Use::Kept));
    let kept = object.iter().filter(|(name, _)| is_kept(name));
    kept.map(|(name, value)| (name.clone(), value.clone())).collect()
}

fn check(action: &str, place: &str, fields: &[Field], object: &Map<String, Value>) -> Result<(), Misfit> {
    for (name, value) in object.iter().filter(|(_, value)| says_something(value)) {
        let path = if place.is_empty() { name.clone() } else { format!("{place}.{name}") };
        let Some(field) = fields.iter().find(|field| field.name == name) else {
            return Err(Misfit::Unknown { action: action.to_owned(), field: path });
        };
        match field.becomes {
            Use::Read | Use::Kept | Use::Always(_) => {}
            Use::Inside(fields) => check_inside(action, &path, fields, value)?,
            Use::Only(values, _) if values.iter().any(|one| one.eq_ignore_ascii_case(&text(value))) => {}
            Use::Only(_, why) | Use::Refused(why) => {
                return Err(Misfit::Unserved { action: format!("{action} with {path}"), why });
            }
        }
    }
    Ok(())
}

/// What is no object where one belongs is refused by whoever reads it.
fn check_inside(action: &str, path: &str, fields: &[Field], value: &Value) -> Result<(), Misfit> {
    match value {
        Value::Object(object) => check(action, path, fields, object),
        Value::Array(list) => {
            let mut objects = list.iter().enumerate().filter_map(|(at, one)| Some((at, one.as_object()?)));
            objects.try_for_each(|(at, object)| check(action, &format!("{path}[{at}]"), fields, object))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
    }
}

/// The SDKs send texts, lists and objects that nobody has filled.
fn says_something(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(_) | Value::Number(_) => true,
        Value::String(text) => !text.is_empty(),
        Value::Array(list) => !list.is_empty(),
        Value::Object(object) => object.values().any(says_something),
    }
}

/// A value as a query would send it.
fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
