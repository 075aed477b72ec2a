//! How old the screen is, and of which revision.

use leptos::prelude::*;

use console_model::freshness::Freshness;

/// The mark.
#[component]
pub(crate) fn FreshnessMark(
    /// How old.
    #[prop(into)]
    freshness: Signal<Freshness>,
    /// The revision, once there is one.
    #[prop(into)]
    revision: Signal<Option<u64>>,
) -> impl IntoView {
    view! {
        <p class=move || format!("fresh fresh-{}", freshness.with(Freshness::as_str))>
            <span class="fresh-dot" aria-hidden="true"></span>
            {move || revision.get().map(|revision| view! { <span class="fresh-revision">{format!("revision {revision}, ")}</span> })}
            {move || freshness.with(Freshness::text)}
        </p>
    }
}
