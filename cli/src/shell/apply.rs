//! `tidegate export` and `tidegate apply`: a cluster as a file, and a cluster made as its file says.

use std::path::PathBuf;

use clap::Args;
use clap::ValueEnum;
use console_model::explained;
use console_model::preview;
use engine::host::authority;
use engine::host::planner;
use engine::message::command::ApplyPlan;
use engine::message::command::Command;
use engine::message::command::ScaleMode;
use engine::state::cluster::Cluster;
use engine::state::cluster::Execution;
use engine::state::world::State;
use engine::transition::authorise;
use engine::unit::time::Timestamp;
use engine::workspace::role::Role;

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

/// What is added where the second of two commits failed.
const BEGUN: &str = "the cluster has been created, and the same command goes on from there";

/// What may stand in a file, by an example.
const EXAMPLE: &str = r#"
    [[quotas]]
    quota = "vision"
    parent = "all"
    min = { gpu = 40 }

    [[workspaces]]
    workspace = "vision"
    quotas = ["vision"]
    members.ann = ["owner"]
"#;

/// How a file is written, for who has none yet.
fn form_of_file() -> String {
    let of_members = Role::ALL.into_iter().filter(|role| *role != Role::ClusterAdministrator);
    let roles: Vec<String> = of_members.map(|role| format!("    {role}: {}\n", role.about())).collect();
    format!(
        "`tidegate export > cluster.toml` writes what there is, to be changed and applied. A quota with 40 GPUs of its parent's, \
         attached to a workspace with its first member:\n{EXAMPLE}\nA workspace's list of quotas attaches and detaches them. Roles \
         of members:\n{}",
        roles.concat()
    )
}

/// What `tidegate apply` is asked for.
#[derive(Debug, Args)]
#[command(after_long_help = form_of_file())]
pub struct Apply {
    /// The file, as `tidegate export` writes it, or - for the standard input; what it does not name stays as it is.
    #[arg(required_unless_present = "named")]
    pub file: Option<PathBuf>,
    /// The same.
    #[arg(long = "file", short = 'f', id = "named", value_name = "FILE", conflicts_with = "file")]
    pub named: Option<PathBuf>,
    /// Creates a cluster under the name of one that was deleted at this revision, which the refusal names.
    #[arg(long, value_name = "REVISION")]
    pub anew: Option<u64>,
    /// Evicts jobs that a smaller quota no longer covers; otherwise they run on until somebody needs the GPUs that they hold
    /// beyond it.
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

/// Makes the cluster as the file says: all of it, or nothing. One that is not there yet is created first.
pub fn apply(asked: &Apply) -> Result<(), Failure> {
    let path = asked.named.as_ref().or(asked.file.as_ref()).ok_or_else(|| Failure::usage("name a file"))?;
    let text =
        if path.as_os_str() == "-" { std::io::read_to_string(std::io::stdin()) } else { std::fs::read_to_string(path) };
    let path = path.display();
    let text = text.map_err(|error| Failure::usage(format!("{path}: {error}")))?;
    let about = |problem: String| Failure::usage(format!("{path}: {problem}; nothing was changed"));
    let mut person = Person::of(asked.at.context.as_deref())?;
    let there = person.state_if_there(asked.anew.is_some())?;
    let is_new = there.is_none();
    let mut state = there.unwrap_or_default();
    let document = Document::read(&text, &state.cluster).map_err(about)?;
    let founding = is_new.then(|| founded(&mut state, &document)).transpose().map_err(about)?;
    let mode = if asked.evict { ScaleMode::Evict } else { ScaleMode::Drain };
    let commands = document.commands(&state, mode).map_err(about)?;
    let is_so = commands.is_empty();
    let command = Command::ApplyPlan(ApplyPlan { commands });
    if is_so && !is_new {
        prompt::say(&format!("tidegate: {} is as {path} says\n", person.place()));
        return Ok(());
    }
    if let Some(founding) = founding {
        if asked.agree.dry_run {
            lines(&foreseen(&person, &state, Some(&command)), asked)?;
        } else {
            state = found(&mut person, &state, &founding, &command, asked)?;
            if is_so {
                return Ok(());
            }
        }
    } else if asked.agree.dry_run {
        lines(&difference(&state, &command), asked)?;
    }
    let sent = plan(&mut person, &state, &command, asked);
    let has_begun = is_new && !asked.agree.dry_run;
    sent.map_err(
        |failure| if has_begun { Failure { text: format!("{}; {BEGUN}", failure.text), ..failure } } else { failure },
    )
}

/// Changes the cluster, all of it or nothing.
fn plan(person: &mut Person, state: &State, command: &Command, asked: &Apply) -> Result<(), Failure> {
    let foresee = |state: &State, now: Timestamp| preview::of_change(state, command, now);
    // Who wrote the file has seen this state and no later one.
    let base = Some(state.revision);
    let wanted = Wanted { command: command.clone(), script: None, base, foresee: &foresee };
    agree::send(person, state, &wanted, asked.agree, &asked.at)
}

/// The command that founds the cluster that a file declares, and the state after it.
fn founded(state: &mut State, document: &Document) -> Result<Command, String> {
    let declared = document.cluster.as_ref().ok_or("it declares no cluster")?;
    let founding = declared.founding();
    authority::step(state, &founding, time::now()).map_err(|refused| refused.to_string())?;
    Ok(founding)
}

/// Creates the cluster, once what is to come into it was tried: what would be refused leaves nothing behind. The state then.
fn found(
    person: &mut Person,
    state: &State,
    founding: &Command,
    plan: &Command,
    asked: &Apply,
) -> Result<State, Failure> {
    let sender = person.sender()?;
    authorise(&State::default(), &sender, founding).map_err(|denied| person.refused_since(&denied.to_string()))?;
    if let Err(refused) = planner::preview(state, plan, time::now()) {
        return Err(person.refused_since(&format!("{refused}; nothing was created")));
    }
    let all = foreseen(person, state, (!asked.agree.yes).then_some(plan));
    prompt::say(&format!("{}\n", all.join("\n")));
    if !asked.agree.yes {
        prompt::agree(&format!("Create {}?", person.place()))?;
    }
    let receipt = person.found(founding.clone(), asked.anew)?;
    person.state_since(receipt.revision)
}

/// That the cluster is created, and what a plan then changes.
fn foreseen(person: &Person, state: &State, plan: Option<&Command>) -> Vec<String> {
    let Cluster { dimensions, execution, .. } = &state.cluster;
    let counted: Vec<&str> = dimensions.iter().map(|dimension| dimension.name.as_str()).collect();
    let run = match execution {
        Execution::Reported => "really run, by agents",
        Execution::Simulated => "are simulated",
    };
    let first =
        format!("  Creates cluster {}: it counts {}, and its jobs {run}.", person.context.cluster, counted.join(", "));
    std::iter::once(shown(&first)).chain(plan.into_iter().flat_map(|plan| difference(state, plan))).collect()
}

/// What the plan changes. What is refused is said with the preview.
fn difference(state: &State, command: &Command) -> Vec<String> {
    let Ok(foreseen) = planner::preview(state, command, time::now()) else { return Vec::new() };
    let sentences = explained::sentences(&foreseen.after, &foreseen.events);
    sentences.iter().map(|(text, _)| format!("  {}", shown(text))).collect()
}

/// Programs are told what it comes to alone.
fn lines(lines: &[String], asked: &Apply) -> Result<(), Failure> {
    let are_shown = asked.at.output != Output::Json;
    lines.iter().filter(|_| are_shown).try_for_each(|line| print::line(line))
}

#[cfg(test)]
mod tests {
    use engine::state::cluster::Cluster;
    use engine::unit::amount::Dimension;
    use engine::unit::amount::DimensionKind;

    use super::EXAMPLE;
    use super::form_of_file;
    use crate::shell::document::Document;

    #[test]
    fn the_example_of_the_help_is_a_file_that_is_read() {
        let gpu = Dimension { name: "gpu".to_owned(), kind: DimensionKind::Gpu };
        let read = Document::read(EXAMPLE, &Cluster { dimensions: vec![gpu], ..Cluster::default() }).unwrap();
        assert_eq!((read.quotas.len(), read.workspaces[0].members.len()), (1, 1));
        let help = form_of_file();
        assert!(help.contains("guest: sees") && !help.contains("cluster administrator:"), "{help}");
    }
}
