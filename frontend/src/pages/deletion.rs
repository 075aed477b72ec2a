//! Deleting a quota or a workspace: refused in the engine's words, or asked about with what goes with it.

use std::sync::Arc;

use engine::message::command::Command;
use engine::state::world::State;
use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos_router::NavigateOptions;
use leptos_router::hooks::use_navigate;

use crate::api::browser;
use crate::pages::ask_first::Asked;
use crate::pages::ask_first::Proposal;
use crate::pages::ask_first::ask_anyway;
use crate::session::Session;
use crate::session::notices::Tone;
use crate::widgets::action_button::ActionButton;
use crate::widgets::confirm::Confirm;
use console_model::preview;
use console_model::preview::Verdict;

/// What goes with it, in sentences.
pub(crate) type Says = Arc<dyn Fn(&State) -> Vec<String> + Send + Sync>;

/// The card.
#[component]
pub(crate) fn Deletion(
    /// What it is, such as `quota`.
    kind: &'static str,
    /// Its name.
    name: String,
    /// The command.
    command: Command,
    /// What goes with it.
    says: Says,
    /// Where its page leads once it is gone.
    after: String,
) -> impl IntoView {
    let session = Session::here();
    let question = RwSignal::new(None);
    let command = StoredValue::new(command);
    let refused = Memo::new(move |_| {
        let preview = session.ask(|state| preview::of_change(state, &command.get_value(), browser::now()))?;
        preview.reason.filter(|_| preview.verdict == Verdict::Refused)
    });
    let denied =
        Signal::derive(move || command.with_value(|command| session.denied(command)).or_else(|| refused.get()));
    let navigate = use_navigate();
    let (label, title) = (format!("Delete {name}"), format!("Delete {name}?"));
    let done = name + " was deleted.";
    let send = Arc::new(move || {
        let (navigate, after, done) = (navigate.clone(), after.clone(), done.clone());
        spawn_local(async move {
            if session.send(command.get_value()).await.is_ok() {
                session.notices.show(Tone::Done, done, None);
                navigate(&after, NavigateOptions::default());
            }
        });
    });
    let propose = Arc::new(move || {
        let proposal = Proposal { command: command.get_value(), action: "Delete", send: send.clone() };
        Some(Asked { title: title.clone(), says: session.ask_once(|state| says(state))?, proposal })
    });
    let act = Callback::new(move |()| ask_anyway(session, question, propose.clone()));
    view! {
        <section class="card" aria-labelledby="delete-title">
            <h2 id="delete-title">{format!("Delete this {kind}")}</h2>
            <ActionButton id="delete" label=label denied=denied ends=true act=act />
        </section>
        <Confirm question=question />
    }
}
