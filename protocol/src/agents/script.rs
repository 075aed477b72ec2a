//! What jobs execute: it comes with the command that submits them, and is kept as a note.

use agent::message::FORMAT;
use agent::script::Script;
use engine::message;
use engine::message::command::Command;
use engine::message::envelope::Envelope;
use engine::message::rejection::Rejection;
use engine::state::world::State;
use engine::unit::id::JobId;
use serde_json::Map;
use serde_json::Value;

/// How the names of such notes begin.
const START: &str = "script/";
/// The field beside the command in which a script is sent.
const FIELD: &str = "script";

/// The note on what a job executes.
#[must_use]
pub fn note_name(job: &JobId) -> String {
    format!("{START}{job}")
}

/// Whether a note is about what a job executes, and then whether there is that job.
#[must_use]
pub fn is_needed(state: &State, name: &str) -> Option<bool> {
    let job = name.strip_prefix(START)?;
    Some(JobId::new(job).is_ok_and(|job| state.jobs.find(&job).is_some()))
}

/// Reads an envelope, and the script that comes with it if it submits a job.
pub fn read(bytes: &[u8]) -> Result<(Envelope, Option<(JobId, Script)>), Rejection> {
    let malformed = |reason: String| Rejection::Malformed { reason };
    // An envelope alone is told by the line and column what is wrong with it.
    if !bytes.windows(FIELD.len() + 2).any(|word| word == b"\"script\"") {
        return Ok((message::read(bytes)?, None));
    }
    let mut fields: Map<String, Value> = message::read(bytes)?;
    let Some(script) = fields.remove(FIELD) else { return Ok((message::read(bytes)?, None)) };
    let envelope: Envelope =
        serde_json::from_value(Value::Object(fields)).map_err(|error| malformed(error.to_string()))?;
    let script: Script =
        serde_json::from_value(script).map_err(|error| malformed(format!("in the script: {error}")))?;
    let Command::SubmitJob(submitted) = &envelope.command else {
        return Err(malformed("a script comes with submit_job and with no other command; leave it out".to_owned()));
    };
    check(&script).map_err(malformed)?;
    let job = submitted.job.clone();
    Ok((envelope, Some((job, script))))
}

fn check(script: &Script) -> Result<(), String> {
    if script.format != FORMAT {
        return Err(format!("the script has format {}; this version reads {FORMAT}", script.format));
    }
    if script.command.first().is_none_or(String::is_empty) {
        return Err("the script has no command; write the program and its arguments".to_owned());
    }
    let names = script.environment.keys();
    if let Some(name) = names.clone().find(|name| name.is_empty() || name.contains('=')) {
        return Err(format!("\"{name}\" is no name of an environment variable"));
    }
    let mut texts = script.command.iter().chain(&script.directory).chain(names).chain(script.environment.values());
    if texts.any(|text| text.contains('\0')) {
        return Err("the script has a letter that no argument may have: zero".to_owned());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::read;

    fn told(text: &str) -> Result<Option<Vec<String>>, String> {
        let read = read(text.as_bytes()).map_err(|rejection| rejection.to_string())?;
        Ok(read.1.map(|(_, script)| script.command))
    }

    fn submission(script: &str) -> String {
        let job = r#"{"submit_job":{"job":"a","quota":"q","pods":[{"amount":{"gpu":1000}}]}}"#;
        format!(r#"{{"format":1,"id":"x","command":{job},"script":{script}}}"#)
    }

    #[test]
    fn a_script_comes_with_the_submission() {
        assert_eq!(told(&submission(r#"{"format":1,"command":["true"]}"#)), Ok(Some(vec!["true".to_owned()])));
        let other = r#"{"format":1,"id":"x","command":{"cancel_job":{"job":"script"}}}"#;
        assert_eq!(told(other), Ok(None));
    }

    #[test]
    fn what_cannot_be_executed_is_refused() {
        let refused = |script: &str| told(&submission(script)).unwrap_err();
        for (script, words) in [
            (r#"{"format":1,"command":[]}"#, "the script has no command"),
            (r#"{"format":2,"command":["a"]}"#, "the script has format 2"),
            (r#"{"format":1,"command":["a"],"shell":true}"#, "in the script: unknown field `shell`"),
            (r#"{"format":1,"command":["a\u0000"]}"#, "a letter that no argument may have"),
            (r#"{"format":1,"command":["a"],"environment":{"A=B":"c"}}"#, "\"A=B\" is no name"),
        ] {
            let told = refused(script);
            assert!(told.contains(words), "{script}: {told}");
        }
        let other =
            r#"{"format":1,"id":"x","command":{"cancel_job":{"job":"a"}},"script":{"format":1,"command":["a"]}}"#;
        assert!(told(other).unwrap_err().contains("with submit_job and with no other command"));
        let unknown = r#"{"format":1,"id":"x","scripts":1,"command":{"cancel_job":{"job":"a"}},"script":{}}"#;
        assert!(told(unknown).unwrap_err().contains("unknown field `scripts`"));
    }
}
