//! Asks before something is done that takes something from somebody, and says what.

use std::sync::Arc;

use leptos::html::Dialog;
use leptos::prelude::*;

use crate::widgets::consequences::job_lines;
use console_model::preview;
use console_model::preview::Preview;

/// What is asked.
#[derive(Clone)]
pub(crate) struct Question {
    /// `Evict 2 jobs?`
    pub(crate) title: String,
    /// What it costs.
    pub(crate) costs: Vec<String>,
    /// What would happen to jobs.
    pub(crate) preview: Preview,
    /// The words of the button that does it.
    pub(crate) button: String,
    /// Does it. It is kept here, since the row that asked may be gone by the time it is answered.
    pub(crate) act: Arc<dyn Fn() + Send + Sync>,
}

/// The dialog. It is there while there is a question.
#[component]
pub(crate) fn Confirm(
    /// The question.
    question: RwSignal<Option<Question>>,
) -> impl IntoView {
    move || question.get().map(|asked| view! { <Sheet asked=asked question=question /> })
}

#[component]
fn Sheet(asked: Question, question: RwSignal<Option<Question>>) -> impl IntoView {
    let Question { title, costs, preview, button, act } = asked;
    let element = NodeRef::<Dialog>::new();
    Effect::new(move |_| {
        if let Some(dialog) = element.get() {
            // It fails only if the dialog is open already.
            let _ = dialog.show_modal();
        }
    });
    let is_confirmed = StoredValue::new(false);
    let close = move || {
        if let Some(dialog) = element.get_untracked() {
            dialog.close();
        }
    };
    let confirm = move |_| {
        is_confirmed.set_value(true);
        close();
    };
    // Once it is closed the focus is back at the button that asked; only then may the next question come.
    let closed = move |_| {
        let is_confirmed = is_confirmed.get_value();
        question.set(None);
        if is_confirmed {
            act();
        }
    };
    let Preview { verdict, victims, starters, others, .. } = preview;
    let has_lines = !victims.is_empty() || !starters.is_empty() || !others.is_empty();
    view! {
        <dialog node_ref=element class="confirm" aria-labelledby="confirm-title" on:close=closed>
            <h2 id="confirm-title">{title}</h2>
            {has_lines.then(|| view! { <p><strong>{verdict.words()}</strong></p> })}
            {costs.into_iter().map(|cost| view! { <p>{cost}</p> }).collect_view()}
            {has_lines.then(|| view! {
                <div class="confirm-lines" role="region" tabindex="0" aria-label="Consequences">
                    {job_lines(preview::VICTIMS, victims, None)}
                    {job_lines(preview::STARTERS, starters, None)}
                    {job_lines(preview::OTHERS, others, None)}
                </div>
            })}
            <div class="form-row">
                <button type="button" autofocus on:click=move |_| close()>"Cancel"</button>
                <button type="button" class="costly" on:click=confirm>{button}</button>
            </div>
        </dialog>
    }
}
