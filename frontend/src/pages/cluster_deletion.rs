//! Deleting the cluster: its name is typed, then the service says what that costs, and what is confirmed is exactly that.

use std::sync::Arc;

use engine::message::command::Command;
use engine::message::command::UpdateCluster;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::api::browser;
use crate::api::client;
use crate::session::Known;
use crate::session::Session;
use crate::session::notices::Tone;
use crate::widgets::action_button::ActionButton;
use crate::widgets::confirm::Confirm;
use crate::widgets::confirm::Question;
use crate::widgets::field::TextField;
use console_model::deletion;
use console_model::explained::sentence;
use console_model::preview::Preview;

type Asked = RwSignal<Option<Question>>;

/// The card.
#[component]
pub(crate) fn ClusterDeletion() -> impl IntoView {
    let session = Session::here();
    let typed = RwSignal::new(String::new());
    let question: Asked = RwSignal::new(None);
    // Deleting the cluster takes the right to change what it is.
    let denied = Signal::derive(move || session.denied(&Command::UpdateCluster(UpdateCluster::default())));
    let is_idle = Signal::derive(move || typed.with(|typed| typed.trim() != &*session.name()));
    let submit = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        if !is_idle.get_untracked() {
            spawn_local(ask(session, question));
        }
    };
    let backup = deletion::backup(&browser::origin(), &session.name());
    view! {
        <section class="card" aria-labelledby="delete-cluster-title">
            <h2 id="delete-cluster-title">"Delete this cluster"</h2>
            <p class="hint">"A backup is one file with all that is in it, from which it can be loaded again:"</p>
            <pre class="shell" tabindex="0">{backup}</pre>
            <form class="form" aria-labelledby="delete-cluster-title" on:submit=submit>
                <div class="form-row">
                    <TextField id="delete-name" label="The cluster's name" hint="Type it to delete the cluster, with all that is in it." value=typed change=Callback::new(move |text| typed.set(text)) is_short=true />
                    <ActionButton id="delete-cluster" label="Delete cluster" denied=denied is_idle=is_idle is_submit=true ends=true />
                </div>
            </form>
        </section>
        <Confirm question=question />
    }
}

/// Asks what it costs now, and whether that is meant.
async fn ask(session: Session, question: Asked) {
    let name = session.name();
    match client::deletion_cost(&name).await {
        Ok(cost) => {
            let (costs, confirm) = (deletion::of_cluster(&cost), cost.confirm);
            let act = Arc::new(move || spawn_local(delete(session, question, confirm.clone())));
            let (title, button) = (format!("Delete the cluster {name}?"), "Delete for good".to_owned());
            question.set(Some(Question { title, costs, preview: Preview::default(), button, act }));
        }
        Err(failure) => refused(session, &failure.to_string()),
    }
}

/// Deletes it. If it has come to cost something else, that is asked about.
async fn delete(session: Session, question: Asked, confirm: String) {
    match client::delete_cluster(&session.name(), &confirm).await {
        Ok(()) => {
            session.known.set(Known::Loading);
            session.look_again();
        }
        Err(failure) if failure.is_refusal() => ask(session, question).await,
        Err(failure) => refused(session, &failure.to_string()),
    }
}

fn refused(session: Session, reason: &str) {
    session.notices.show(Tone::Refused, sentence(reason), None);
}
