//! The change that would start a waiting job: what else it would do, and the button that does it.

use engine::message::command::Command;
use leptos::prelude::*;

use crate::api::browser;
use crate::pages::ask_first::Proposal;
use crate::pages::ask_first::ask_first;
use crate::session::Session;
use crate::session::send::as_curl;
use crate::widgets::action_button::ActionButton;
use crate::widgets::confirm::Confirm;
use crate::widgets::consequences::Consequences;
use crate::widgets::copy_button::CopyButton;
use console_model::path;
use console_model::preview;

/// The change.
#[component]
pub(crate) fn JobRemedy(command: Command) -> impl IntoView {
    let session = Session::here();
    let command = StoredValue::new(command);
    let preview = Memo::new(move |_| {
        command
            .with_value(|command| session.ask(|state| preview::of_change(state, command, browser::now())))
            .unwrap_or_default()
    });
    let denied = Signal::derive(move || command.with_value(|command| session.denied(command)));
    let question = RwSignal::new(None);
    let apply = Callback::new(move |()| {
        let proposal = Proposal::of(session, command.get_value(), "Make this change", "The change has been made.");
        ask_first(session, question, proposal);
    });
    let curl = Callback::new(move |()| Some(command.with_value(|command| as_curl(&session.name(), command))));
    let href = Callback::new(move |job: String| path::job(&session.name(), &job));
    view! {
        <details class="remedy">
            <summary>"Look at this change"</summary>
            <Consequences preview=preview href=href />
            <div class="form-row">
                <ActionButton id="make-change" label="Make this change" denied=denied act=apply />
                <CopyButton label="Copy as curl" text=curl />
            </div>
        </details>
        <Confirm question=question />
    }
}
