//! The keys of the console; `?` shows them.

use leptos::html::Dialog;
use leptos::prelude::*;

/// What each key does.
const KEYS: [(&str, &str); 12] = [
    ("/", "Search jobs and quotas"),
    ("Ctrl K", "Go to anything by a part of its name"),
    ("?", "Show these keys"),
    ("g q", "Go to the quotas"),
    ("g j", "Go to the jobs"),
    ("g r", "Go to the rounds"),
    ("g p", "Go to the planner"),
    ("n", "Submit a job"),
    ("↑ ↓ Home End", "Move in a table"),
    ("→ ←", "Open and close a quota"),
    ("Enter", "Open the row's page"),
    ("Space", "Select a job"),
];

/// The dialog.
#[component]
pub(crate) fn Shortcuts(
    /// The dialog itself, for whoever opens it.
    element: NodeRef<Dialog>,
) -> impl IntoView {
    let rows = KEYS.map(|(keys, what)| {
        let keys = keys.split(' ').map(|key| view! { <kbd>{key}</kbd>" " }).collect_view();
        view! { <div><dt>{keys}</dt><dd>{what}</dd></div> }
    });
    let close = move |_| {
        if let Some(dialog) = element.get_untracked() {
            dialog.close();
        }
    };
    view! {
        <dialog node_ref=element aria-labelledby="keys-title" class="keys">
            <h2 id="keys-title">"Keys"</h2>
            <dl>{rows.into_iter().collect_view()}</dl>
            <button type="button" on:click=close>"Close"</button>
        </dialog>
    }
}
