//! Copies a text, and says so.

use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::api::browser;

/// The button.
#[component]
pub(crate) fn CopyButton(
    /// What is copied, such as `Copy as curl`.
    #[prop(into)]
    label: String,
    /// Makes the text; nothing if there is none now.
    text: Callback<(), Option<String>>,
) -> impl IntoView {
    let said = RwSignal::new("");
    let copy = move |_| {
        let Some(text) = text.run(()) else {
            said.set("There is nothing to copy now.");
            return;
        };
        spawn_local(async move {
            let outcome =
                if browser::copy(&text).await { "Copied." } else { "The browser does not allow copying here." };
            said.try_set(outcome);
        });
    };
    view! {
        <span class="copy">
            <button type="button" class="quiet" on:click=copy>{label}</button>
            <span class="hint" role="status">{said}</span>
        </span>
    }
}
