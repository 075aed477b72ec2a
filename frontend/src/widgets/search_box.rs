//! The search field in the header; `/` leads to it.

use leptos::prelude::*;

/// Its id in the document.
pub(crate) const SEARCH_ID: &str = "search";

/// The field.
#[component]
pub(crate) fn SearchBox(
    /// Called with what was searched for.
    search: Callback<String>,
) -> impl IntoView {
    let text = RwSignal::new(String::new());
    let submit = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        search.run(text.get_untracked().trim().to_owned());
    };
    view! {
        <form role="search" class="search" on:submit=submit>
            <label class="unseen" for=SEARCH_ID>"Search jobs and quotas"</label>
            <input
                type="search"
                id=SEARCH_ID
                placeholder="Search jobs and quotas  ( / )"
                autocomplete="off"
                prop:value=text
                on:input=move |event| text.set(event_target_value(&event))
            />
        </form>
    }
}
