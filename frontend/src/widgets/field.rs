//! A labelled text field that says what is wrong with it.

use leptos::prelude::*;

/// The field.
#[component]
pub(crate) fn TextField(
    /// Its id in the document.
    #[prop(into)]
    id: String,
    /// Its label.
    #[prop(into)]
    label: String,
    /// What it holds.
    #[prop(into)]
    value: Signal<String>,
    /// Called with every change.
    change: Callback<String>,
    /// What is wrong with it.
    #[prop(optional, into)]
    fault: Signal<Option<String>>,
    /// What it is for, or in which unit.
    #[prop(optional, into)]
    hint: Signal<String>,
    /// For short values.
    #[prop(optional)]
    is_short: bool,
    /// How many lines are shown of a text that may have several.
    #[prop(optional)]
    lines: u8,
) -> impl IntoView {
    let (hint_id, fault_id) = (format!("{id}-hint"), format!("{id}-fault"));
    // What is said of a field may change, and is there from the beginning or never.
    let has_hint = hint.with_untracked(|hint| !hint.is_empty());
    let described = has_hint.then(|| hint_id.clone());
    let described_by = {
        let fault_id = fault_id.clone();
        move || if fault.get().is_some() { Some(fault_id.clone()) } else { described.clone() }
    };
    let is_invalid = move || fault.get().is_some().then_some("true");
    let typed = move |event| change.run(event_target_value(&event));
    let control = if lines == 0 {
        view! { <input type="text" id=id.clone() autocomplete="off" spellcheck="false" prop:value=value aria-invalid=is_invalid aria-describedby=described_by on:input=typed /> }.into_any()
    } else {
        view! { <textarea id=id.clone() rows=lines autocomplete="off" spellcheck="false" prop:value=value aria-invalid=is_invalid aria-describedby=described_by on:input=typed></textarea> }.into_any()
    };
    view! {
        <div class="field" class:is-short=is_short>
            <label for=id>{label}</label>
            {control}
            {has_hint.then(|| view! { <span class="hint" id=hint_id>{hint}</span> })}
            {move || fault.get().map(|fault| view! { <span class="fault" id=fault_id.clone()>{fault}</span> })}
        </div>
    }
}
