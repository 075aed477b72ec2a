//! What jobs execute: it comes with the command that submits them, and is kept as a note.

use agent::message::FORMAT;
use agent::script::Script;
use engine::message;
use engine::message::command::Command;
use engine::message::envelope::Envelope;
use engine::message::rejection::Rejection;
use engine::unit::id::CommandId;
use engine::unit::id::JobId;
use engine::unit::id::UserId;
use serde::Deserialize;

/// How the names of such notes begin.
const START: &str = "script/";

/// The note on what a job executes.
#[must_use]
pub fn note_name(job: &JobId) -> String {
    format!("{START}{job}")
}

/// A command as it is sent: an envelope, and beside the command what a submitted job executes.
// It is read straight away: out of a tree of values the engine's types would be in the bundle twice.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Submission {
    /// The message format.
    pub format: u32,
    /// The command's name: a second one with this name and this body gets the first answer again.
    pub id: CommandId,
    /// Who sends it. The worker overwrites it by whoever has been authenticated.
    #[serde(default)]
    pub by: Option<UserId>,
    /// Refuse when the cluster has moved on from this revision.
    #[serde(default)]
    pub base: Option<u64>,
    /// Decide, but store nothing.
    #[serde(default)]
    pub dry_run: bool,
    /// The command.
    pub command: Command,
    /// What the job executes that the command submits, where jobs really run.
    #[serde(default)]
    pub script: Option<Script>,
}

/// Reads an envelope, and the script that comes with it if it submits a job.
pub fn read(bytes: &[u8]) -> Result<(Envelope, Option<(JobId, Script)>), Rejection> {
    let malformed = |reason: &str| Rejection::Malformed { reason: reason.to_owned() };
    let Submission { format, id, by, base, dry_run, command, script } = message::read(bytes)?;
    let script = match (script, &command) {
        (None, _) => None,
        (Some(script), Command::SubmitJob(submitted)) => {
            check(&script).map_err(|reason| malformed(&reason))?;
            Some((submitted.job.clone(), script))
        }
        (Some(_), _) => {
            return Err(malformed("a script comes with submit_job and with no other command; leave it out"));
        }
    };
    Ok((Envelope { format, id, by, base, dry_run, command }, script))
}

fn check(script: &Script) -> Result<(), String> {
    if script.format != FORMAT {
        return Err(format!("the script has format {}; this version reads {FORMAT}", script.format));
    }
    if script.command.first().is_none_or(String::is_empty) {
        return Err("the script has no command; write the program and its arguments".to_owned());
    }
    if script.adopted.is_some() {
        return Err("only an agent says that a job was adopted; leave that out".to_owned());
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
            (r#"{"format":1,"command":["a"],"shell":true}"#, "unknown field `shell`"),
            (r#"{"format":1,"command":["a\u0000"]}"#, "a letter that no argument may have"),
            (r#"{"format":1,"command":["a"],"adopted":"slurm 1"}"#, "only an agent says that a job was adopted"),
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
