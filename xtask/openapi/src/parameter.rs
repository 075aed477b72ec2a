//! What is sent beside a body: the parts of paths, and what follows the question mark.

use protocol::route::Call;
use serde_json::Value;
use serde_json::json;

/// The greatest number that every program keeps as it is.
const NUMBER_MAX: u64 = (1 << 53) - 1;
/// How many entries can be asked for at once.
const PORTION_MAX: u64 = 1_000;
/// How many rounds, or commands, can be listed.
const LISTED_MAX: u64 = 200;
/// How many incidents can be listed.
const INCIDENTS_MAX: u64 = 500;
/// How long KV's keys are.
const KEY_BYTES_MAX: u64 = 512;
const CLUSTER: &str = "^[a-z0-9][a-z0-9-]{0,62}$";
const BY: [&str; 4] = ["day", "job", "workspace", "job_and_day"];
const FORMATS: [&str; 2] = ["json", "csv"];

/// A part of a path.
pub(crate) fn of_path(name: &str) -> Result<Value, String> {
    let (description, schema) = match name {
        "cluster" => ("The cluster.", json!({ "type": "string", "pattern": CLUSTER })),
        "job" => ("The job.", text()),
        "offer" => ("The offer.", text()),
        "revision" => ("The revision.", number(NUMBER_MAX)),
        "object" => {
            let schema = json!({ "type": "string", "minLength": 1, "maxLength": KEY_BYTES_MAX });
            ("The object's key in KV; of what is imported, without the cluster's part of it.", schema)
        }
        _ => return Err(format!("nothing is said of the part {{{name}}} of a path")),
    };
    Ok(json!({ "name": name, "in": "path", "required": true, "description": description, "schema": schema }))
}

/// A parameter of a query.
pub(crate) fn of_query(call: Call, name: &str) -> Result<Value, String> {
    let (description, schema) = match (name, call) {
        ("min_revision", _) => ("Be at least as new as this.", number(NUMBER_MAX)),
        ("after", Call::Log) => ("Only what follows so many bytes.", number(NUMBER_MAX)),
        ("after", _) => ("The revision.", number(NUMBER_MAX)),
        ("count", Call::Entries) => {
            ("At most so many, the oldest first; with it the whole past can be read.", number(PORTION_MAX))
        }
        ("count", Call::Audit) => {
            let description =
                "How many at most; commands that changed nothing come with the last one, whose revision they share.";
            (description, number(LISTED_MAX))
        }
        ("count", Call::Incidents | Call::ServiceIncidents) => {
            ("How many at most; no minute is cut.", number(INCIDENTS_MAX))
        }
        ("before", Call::Incidents | Call::ServiceIncidents) => {
            ("Only before this time, in milliseconds since 1970: that of the last one of a list.", number(NUMBER_MAX))
        }
        ("confirm", _) => {
            let description = "The word by which the cost was told; without it, the cost is told and nothing done.";
            (description, json!({ "type": "string" }))
        }
        ("count", _) => ("How many at most.", number(LISTED_MAX)),
        ("before", Call::Audit) => ("Only before this revision.", number(NUMBER_MAX)),
        ("before", _) => {
            let description = "Only what was written up to this revision, which an answer names that breaks off.";
            (description, number(NUMBER_MAX))
        }
        ("time", _) => {
            ("A time in milliseconds since 1970: before everything that was decided then.", number(NUMBER_MAX))
        }
        ("revision", _) => ("A revision, in place of a time.", number(NUMBER_MAX)),
        ("by", _) => ("By what they are added up.", json!({ "type": "string", "enum": BY })),
        ("format", _) => ("What they are written in.", json!({ "type": "string", "enum": FORMATS })),
        ("from", _) => {
            ("The cluster that is read; this one if left out.", json!({ "type": "string", "pattern": CLUSTER }))
        }
        ("head", _) => {
            let description =
                "The key of a head of it that was given up, or that came with a backup; the newest if left out.";
            (description, json!({ "type": "string" }))
        }
        ("anew", _) => {
            let description = "The revision that KV shows of a cluster whose storage is lost, or at which a cluster was \
                               deleted: its name is that of a new cluster.";
            (description, number(NUMBER_MAX))
        }
        ("force", _) => ("Whether what is there may be replaced.", json!({ "type": "boolean" })),
        (name, call) => return Err(format!("nothing is said of the parameter {name} of {call:?}")),
    };
    Ok(json!({ "name": name, "in": "query", "description": description, "schema": schema }))
}

fn text() -> Value {
    json!({ "type": "string", "minLength": 1, "maxLength": engine::unit::id::NAME_BYTES_MAX })
}

fn number(max: u64) -> Value {
    json!({ "type": "integer", "minimum": 0, "maximum": max })
}

#[cfg(test)]
mod tests {
    use engine::market::statement::By;

    use super::BY;

    #[test]
    fn bills_are_added_up_by_each_word() {
        let read: Vec<By> = BY.iter().filter_map(|word| word.parse().ok()).collect();
        assert_eq!(read.len(), BY.len());
        assert!(read.contains(&By::default()));
    }
}
