//! Examples: what a Worker was really sent and has really answered (`record.mjs`), each read by the very type that the
//! document has for it; and of each command, the message that every version must be able to read.

use std::fs;

use engine::message::command::Command;
use protocol::answer::Refusal;
use serde::Deserialize;
use serde_json::Map;
use serde_json::Value;
use serde_json::json;

use crate::page::Kind;
use crate::repository::root;
use crate::shape::Components;

const RECORDED: &str = "xtask/openapi/examples.json";
const COMMANDS: &str = "engine/tests/fixtures/commands.jsonl";

/// What was recorded.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Examples {
    /// By operation and by name.
    requests: Map<String, Value>,
    /// By operation and by name.
    answers: Map<String, Value>,
    /// By status.
    refusals: Map<String, Value>,
}

impl Examples {
    pub(crate) fn read() -> Result<Self, String> {
        serde_json::from_str(&file(RECORDED)?).map_err(|error| format!("{RECORDED}: {error}"))
    }

    /// What was sent.
    pub(crate) fn requests(&self, operation: &str, kind: &Kind) -> Result<Value, String> {
        checked(&self.requests, operation, kind)
    }

    /// What was answered.
    pub(crate) fn answers(&self, operation: &str, kind: &Kind) -> Result<Value, String> {
        checked(&self.answers, operation, kind)
    }

    /// How a request was refused.
    pub(crate) fn refusal(&self, status: u16) -> Result<Value, String> {
        let refusal = self.refusals.get(&status.to_string());
        let refusal =
            refusal.ok_or_else(|| format!("the refusal {status} has no example: see xtask/openapi/record.mjs"))?;
        Refusal::deserialize(refusal).map_err(|error| format!("{RECORDED}: the refusal {status}: {error}"))?;
        Ok(refusal.clone())
    }
}

fn checked(examples: &Map<String, Value>, operation: &str, kind: &Kind) -> Result<Value, String> {
    let examples = examples.get(operation).and_then(Value::as_object);
    let examples = examples.ok_or_else(|| format!("{operation} has no example: see xtask/openapi/record.mjs"))?;
    let one = |(name, value): (&String, &Value)| {
        (kind.check)(value).map_err(|error| format!("{RECORDED}: {operation}, {name}: {error}"))?;
        Ok((name.clone(), json!({ "value": value })))
    };
    Ok(Value::Object(examples.iter().map(one).collect::<Result<_, String>>()?))
}

/// Puts an example into the component of each command.
pub(crate) fn add_commands(components: &mut Components) -> Result<(), String> {
    let stored = file(COMMANDS)?;
    let choices = components.get("Command").and_then(|command| command["oneOf"].as_array()).cloned();
    for choice in choices.into_iter().flatten() {
        let name = choice["$ref"].as_str().and_then(|path| path.rsplit('/').next()).unwrap_or_default().to_owned();
        let component = components.get_mut(&name).ok_or_else(|| format!("there is no component {name}"))?;
        let kind = component["required"][0].as_str().unwrap_or_default().to_owned();
        let is_of_kind = |line: &&str| line.starts_with(&format!("{{\"{kind}\":"));
        let line = stored.lines().find(is_of_kind).ok_or_else(|| format!("{COMMANDS} has no {kind}"))?;
        let command: Command = serde_json::from_str(line).map_err(|error| format!("{COMMANDS}: {error}"))?;
        let value = serde_json::to_value(command).map_err(|error| error.to_string())?;
        component["examples"] = json!([value]);
    }
    Ok(())
}

fn file(path: &str) -> Result<String, String> {
    fs::read_to_string(root().join(path)).map_err(|error| format!("{path}: {error}"))
}
