//! Light, dark, or as the system has it.

use leptos::prelude::*;

use crate::session::theme::Theme;

/// The choice.
#[component]
pub(crate) fn ThemeChoice() -> impl IntoView {
    let kept = Theme::kept();
    kept.choose();
    let options =
        Theme::ALL.map(|theme| view! { <option value=theme.as_str() selected=theme == kept>{theme.words()}</option> });
    view! {
        <label class="theme">
            <span class="unseen">"Colours"</span>
            <select on:change=move |event| Theme::parse(&event_target_value(&event)).choose()>{options.into_iter().collect_view()}</select>
        </label>
    }
}
