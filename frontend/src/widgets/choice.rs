//! A labelled choice of one among several.

use leptos::prelude::*;

/// The choice.
#[component]
pub(crate) fn Choice(
    /// Its id in the document.
    #[prop(into)]
    id: String,
    /// Its label.
    #[prop(into)]
    label: String,
    /// The values with their words.
    #[prop(into)]
    options: Signal<Vec<(String, String)>>,
    /// The value that is chosen.
    #[prop(into)]
    value: Signal<String>,
    /// What it means, in a sentence.
    #[prop(optional)]
    about: &'static str,
    /// Called with every change.
    change: Callback<String>,
) -> impl IntoView {
    // An option stays as long as there is one: what is chosen later is set on the whole, and a new one may be it already.
    let item = move |(option, words): (String, String)| {
        let is_chosen = value.with_untracked(|value| *value == option);
        view! { <option value=option selected=is_chosen>{words}</option> }
    };
    view! {
        <div class="field" title=(!about.is_empty()).then_some(about)>
            <label for=id.clone()>{label}</label>
            <select id=id prop:value=value on:change=move |event| change.run(event_target_value(&event))>
                <For each=move || options.get() key=Clone::clone children=item />
            </select>
        </div>
    }
}
