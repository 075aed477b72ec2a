//! `tidegate quota delete` and `tidegate workspace delete`: what is empty goes, after it was said what goes with it.

use clap::Args;
use clap::Subcommand;
use console_model::deletion;
use console_model::preview;
use engine::message::command::Command;
use engine::message::command::DeleteQuota;
use engine::message::command::people::DeleteWorkspace;
use engine::state::world::State;
use engine::unit::time::Timestamp;

use crate::service::time;
use crate::shell::agree;
use crate::shell::agree::Agree;
use crate::shell::agree::Wanted;
use crate::shell::at::At;
use crate::shell::failure::Failure;
use crate::shell::named;
use crate::shell::person::Person;
use crate::shell::prompt;
use crate::shell::table::shown;

/// What is done with a quota beside scaling it.
#[derive(Debug, Subcommand)]
pub enum QuotaTask {
    /// Deletes a quota without jobs and children, after it was said who has its amount then.
    Delete(Removal),
}

/// What is done with a workspace.
#[derive(Debug, Subcommand)]
pub enum WorkspaceTask {
    /// Deletes a workspace without jobs, after it was said whose roles go with it.
    Delete(Removal),
}

/// What is to go.
#[derive(Debug, Args)]
pub struct Removal {
    /// Its name.
    pub name: String,
    #[command(flatten)]
    pub agree: Agree,
    #[command(flatten)]
    pub at: At,
}

/// Deletes a quota.
pub fn quota(QuotaTask::Delete(asked): &QuotaTask) -> Result<(), Failure> {
    let mut person = Person::of(asked.at.context.as_deref())?;
    let state = person.state()?;
    let no = named::quota(&state, &asked.name, &person.place())?;
    let command = Command::DeleteQuota(DeleteQuota { quota: state.quotas[no.at()].id.clone() });
    remove(&mut person, &state, &command, &deletion::of_quota(&state, no), asked)
}

/// Deletes a workspace.
pub fn workspace(WorkspaceTask::Delete(asked): &WorkspaceTask) -> Result<(), Failure> {
    let mut person = Person::of(asked.at.context.as_deref())?;
    let state = person.state()?;
    let id = named::workspace(&state, &asked.name, &person.place())?;
    let says = deletion::of_workspace(&state, &id);
    remove(&mut person, &state, &Command::DeleteWorkspace(DeleteWorkspace { workspace: id }), &says, asked)
}

/// Says what goes, asks, and sends it. What may not go yet is refused before that.
fn remove(
    person: &mut Person,
    state: &State,
    command: &Command,
    says: &[String],
    asked: &Removal,
) -> Result<(), Failure> {
    let foresee = |state: &State, now: Timestamp| preview::of_change(state, command, now);
    let seen = foresee(state, time::now());
    if seen.verdict != preview::Verdict::Refused {
        for sentence in says {
            prompt::say(&format!("{}\n", shown(sentence)));
        }
        if !asked.agree.yes && !asked.agree.dry_run {
            prompt::agree(&format!("Delete {}?", asked.name))?;
        }
    }
    let wanted = Wanted { command: command.clone(), script: None, base: None, foresee: &foresee };
    agree::send(person, state, &wanted, asked.agree, &asked.at)
}
