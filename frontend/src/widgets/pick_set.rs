//! A labelled choice of any number among a few, as a row of toggles.

use leptos::prelude::*;

/// The choice.
#[component]
pub(crate) fn PickSet(
    /// What is chosen here.
    #[prop(into)]
    label: String,
    /// What there is to choose.
    options: Vec<String>,
    /// Whether an option, by its place, is chosen.
    is_chosen: Callback<usize, bool>,
    /// Called with the place of an option and whether it is chosen now.
    change: Callback<(usize, bool)>,
) -> impl IntoView {
    let items = options.into_iter().enumerate().map(|(at, words)| {
        view! {
            <label class="pick">
                <input
                    type="checkbox"
                    prop:checked=move || is_chosen.run(at)
                    on:change=move |event| change.run((at, event_target_checked(&event)))
                />
                <span>{words}</span>
            </label>
        }
    });
    view! {
        <fieldset class="pick-set">
            <legend>{label}</legend>
            <div class="picks">{items.collect_view()}</div>
        </fieldset>
    }
}
