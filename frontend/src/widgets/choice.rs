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
    /// Called with every change.
    change: Callback<String>,
) -> impl IntoView {
    let items = move || {
        let chosen = value.get();
        let items = options.get().into_iter().map(|(option, words)| {
            let is_chosen = option == chosen;
            view! { <option value=option selected=is_chosen>{words}</option> }
        });
        items.collect_view()
    };
    view! {
        <div class="field">
            <label for=id.clone()>{label}</label>
            <select id=id prop:value=value on:change=move |event| change.run(event_target_value(&event))>{items}</select>
        </div>
    }
}
