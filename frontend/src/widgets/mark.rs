//! A state: a mark and words, so that it is never told by colour alone.

use leptos::prelude::*;

/// The mark.
#[component]
pub(crate) fn Mark(
    /// What the stylesheet calls it.
    name: &'static str,
    /// The mark beside the words.
    mark: &'static str,
    /// The words.
    words: String,
) -> impl IntoView {
    view! {
        <span class=format!("state state-{name}")>
            <span class="state-sign" aria-hidden="true">{mark}</span>
            <span>{words}</span>
        </span>
    }
}
