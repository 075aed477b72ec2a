//! `tidegate export` and `tidegate apply`: a cluster as a file, and a cluster made as its file says.

use std::path::PathBuf;

use clap::Args;
use clap::ValueEnum;
use console_model::explained;
use console_model::preview;
use engine::host::planner;
use engine::message::command::ApplyPlan;
use engine::message::command::Command;
use engine::message::command::ScaleMode;
use engine::state::world::State;
use engine::unit::time::Timestamp;

use crate::service::time;
use crate::shell::agree;
use crate::shell::agree::Agree;
use crate::shell::agree::Wanted;
use crate::shell::at::At;
use crate::shell::document::Document;
use crate::shell::failure::Failure;
use crate::shell::person::Person;
use crate::shell::print;
use crate::shell::prompt;
use crate::shell::table::Output;
use crate::shell::table::shown;

/// What `tidegate apply` is asked for.
#[derive(Debug, Args)]
pub struct Apply {
    /// The file, as `tidegate export` writes it, or - for the standard input; what it does not name stays as it is.
    #[arg(required_unless_present = "named")]
    pub file: Option<PathBuf>,
    /// The same.
    #[arg(long = "file", short = 'f', id = "named", value_name = "FILE", conflicts_with = "file")]
    pub named: Option<PathBuf>,
    /// Evicts jobs that a smaller quota no longer covers; otherwise they run on until they end.
    #[arg(long)]
    pub evict: bool,
    #[command(flatten)]
    pub agree: Agree,
    #[command(flatten)]
    pub at: At,
}

/// How a cluster is written down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Form {
    /// For people: TOML, with amounts and periods as they are said.
    #[default]
    Toml,
    /// For programs: JSON, with the numbers of commands.
    Json,
}

/// Prints the cluster as a file.
pub fn export(context: Option<&str>, form: Form) -> Result<(), Failure> {
    let mut person = Person::of(context)?;
    let state = person.state()?;
    let document = Document::of(&state);
    let text = match form {
        Form::Toml => format!("# {}\n{}", person.place(), document.written(&state.cluster)?.trim_end()),
        Form::Json => serde_json::to_string_pretty(&document).map_err(|error| error.to_string())?,
    };
    print::line(&text)
}

/// Makes the cluster as the file says: all of it, or nothing.
pub fn apply(asked: &Apply) -> Result<(), Failure> {
    let path = asked.named.as_ref().or(asked.file.as_ref()).ok_or_else(|| Failure::usage("name a file"))?;
    let text =
        if path.as_os_str() == "-" { std::io::read_to_string(std::io::stdin()) } else { std::fs::read_to_string(path) };
    let path = path.display();
    let text = text.map_err(|error| Failure::usage(format!("{path}: {error}")))?;
    let about = |problem: String| Failure::usage(format!("{path}: {problem}; nothing was changed"));
    let mut person = Person::of(asked.at.context.as_deref())?;
    let state = person.state()?;
    let document = Document::read(&text, &state.cluster).map_err(about)?;
    let mode = if asked.evict { ScaleMode::Evict } else { ScaleMode::Drain };
    let commands = document.commands(&state, mode).map_err(about)?;
    if commands.is_empty() {
        prompt::say(&format!("tidegate: {} is as {path} says\n", person.place()));
        return Ok(());
    }
    let command = Command::ApplyPlan(ApplyPlan { commands });
    if asked.agree.dry_run && asked.at.output != Output::Json {
        difference(&state, &command)?;
    }
    let foresee = |state: &State, now: Timestamp| preview::of_change(state, &command, now);
    // Who wrote the file has seen this state and no later one.
    let base = Some(state.revision);
    let wanted = Wanted { command: command.clone(), script: None, base, foresee: &foresee };
    agree::send(&mut person, &state, &wanted, asked.agree, &asked.at)
}

/// Prints what the plan changes. What is refused is said with the preview.
fn difference(state: &State, command: &Command) -> Result<(), Failure> {
    let Ok(foreseen) = planner::preview(state, command, time::now()) else { return Ok(()) };
    let sentences = explained::sentences(&foreseen.after, &foreseen.events);
    sentences.iter().try_for_each(|(text, _)| print::line(&format!("  {}", shown(text))))
}
