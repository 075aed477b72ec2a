//! What a step of the set-up comes to, and the plan by which it is made.

use console_model::set_up;
use console_model::set_up::Made;
use engine::message::command::ApplyPlan;
use engine::message::command::Command;
use engine::state::world::State;
use leptos::prelude::*;

use crate::session::Session;

/// What has been typed comes to this. Until the cluster is there, nothing does that needs it.
pub(crate) fn made_of<T: PartialEq + Clone + Send + Sync + 'static>(
    session: Session,
    draft: RwSignal<T>,
    made: fn(&T, &State) -> Result<Made, String>,
) -> Memo<Result<Made, String>> {
    Memo::new(move |_| {
        let of = |state: &State| draft.with(|draft| made(draft, state));
        session.ask(of).unwrap_or_else(|| Err(set_up::NO_CLUSTER.to_owned()))
    })
}

/// The plan of what is made.
pub(crate) fn plan(made: &Made) -> Command {
    Command::ApplyPlan(ApplyPlan { commands: made.commands.clone() })
}
