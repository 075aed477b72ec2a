//! Requests as the SDKs have sent them, for examples: each is read by the very code that serves it.

use std::fs;

use pai::operation;
use pai::operation::row::Row;
use pai::request::Request;
use serde_json::Map;
use serde_json::Value;
use serde_json::json;

use crate::repository::root;

const FOLDER: &str = "pai/tests/fixtures";

/// What was sent with an operation.
struct Recorded {
    name: String,
    action: String,
    body: Value,
}

/// The requests that have a body.
pub(crate) struct Golden(Vec<Recorded>);

impl Golden {
    pub(crate) fn read() -> Result<Self, String> {
        let wrong = |error: std::io::Error| format!("{FOLDER}: {error}");
        let mut recorded = Vec::new();
        for entry in fs::read_dir(root().join(FOLDER)).map_err(wrong)? {
            let path = entry.map_err(wrong)?.path();
            let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
            // Somebody has changed those on their way.
            if path.extension().is_some_and(|end| end == "http") && !name.starts_with("tampered") {
                let text = fs::read_to_string(&path).map_err(wrong)?;
                recorded.extend(read(name, &text)?);
            }
        }
        recorded.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(Self(recorded))
    }

    /// The bodies of an operation by their names.
    pub(crate) fn bodies(&self, row: &Row) -> Map<String, Value> {
        let own = self.0.iter().filter(|recorded| recorded.action == row.action);
        own.map(|recorded| (recorded.name.clone(), json!({ "value": recorded.body }))).collect()
    }
}

fn read(name: String, text: &str) -> Result<Option<Recorded>, String> {
    let text = text.replace("\r\n", "\n");
    let (head, body) = text.split_once("\n\n").ok_or_else(|| format!("{name} has no body"))?;
    let mut lines = head.lines();
    let mut words = lines.next().unwrap_or_default().split(' ');
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let pairs = lines.filter_map(|line| line.split_once(": "));
    let headers: Vec<(String, String)> = pairs.map(|(name, value)| (name.to_lowercase(), value.to_owned())).collect();
    if body.is_empty() {
        return Ok(None);
    }
    let request = Request { method, target, headers: &headers, body: body.as_bytes() };
    operation::read(&request).map_err(|misfit| format!("{name}: {misfit}"))?;
    let action = headers.iter().find(|(name, _)| name == "x-acs-action").map(|(_, action)| action.clone());
    let body = serde_json::from_str(body).map_err(|error| format!("{name}: {error}"))?;
    Ok(Some(Recorded { name, action: action.unwrap_or_default(), body }))
}
