//! `tidegate node`: what an administrator does to a machine, after it was said what that means.

use clap::Args;
use console_model::node_action::NodeAction;
use console_model::preview;
use engine::message::command::Command;
use engine::state::world::State;
use engine::unit::id::NodeNo;
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

/// What `tidegate node` is asked for.
#[derive(Debug, Args)]
pub struct OneNode {
    /// What becomes of it: cordon (no new pods), uncordon, drain (its jobs are cancelled as well), declare-dead (the machine
    /// is gone, and what ran there is lost) or delete (nothing is held there, and it is counted on no more).
    #[arg(value_parser = action)]
    pub action: NodeAction,
    /// The node.
    pub node: String,
    #[command(flatten)]
    pub agree: Agree,
    #[command(flatten)]
    pub at: At,
}

fn action(text: &str) -> Result<NodeAction, String> {
    named::one_of(NodeAction::ALL, NodeAction::as_str, text)
}

/// Does it.
pub fn node(asked: &OneNode) -> Result<(), Failure> {
    let mut person = Person::of(asked.at.context.as_deref())?;
    let state = person.state()?;
    let no = named::node(&state, &asked.node, &person.place())?;
    let command = asked.action.command(&state, no);
    let foresee = |state: &State, now: Timestamp| preview::of_change(state, &command, now);
    let seen = foresee(&state, time::now());
    if seen.verdict != preview::Verdict::Refused && !asked.agree.dry_run {
        told(asked.action, &state, no);
        // What takes something from jobs is asked for where that is said.
        if is_for_good(asked.action) && seen.cost.is_nothing() && !asked.agree.yes {
            prompt::agree(&asked.action.question(&asked.node))?;
        }
    }
    let wanted = Wanted { command: Command::clone(&command), script: None, base: None, foresee: &foresee };
    agree::send(&mut person, &state, &wanted, asked.agree, &asked.at)
}

fn told(action: NodeAction, state: &State, no: NodeNo) {
    for sentence in action.says(state, no, None) {
        prompt::say(&format!("{}\n", shown(&sentence)));
    }
}

/// Whether it is more than a word to take back.
fn is_for_good(action: NodeAction) -> bool {
    match action {
        NodeAction::Cordon | NodeAction::Uncordon | NodeAction::Drain => false,
        NodeAction::DeclareDead | NodeAction::Delete => true,
    }
}
