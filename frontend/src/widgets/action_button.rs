//! A button for something that one may not be allowed to do: then it is disabled, and says why.

use leptos::prelude::*;

/// The button.
#[component]
pub(crate) fn ActionButton(
    /// Its id in the document, also of the reason's beginning.
    #[prop(into)]
    id: String,
    /// What it does.
    #[prop(into)]
    label: Signal<String>,
    /// What it does to what, where the label alone does not say so.
    #[prop(optional, into)]
    name: Option<String>,
    /// Why one may not.
    #[prop(into)]
    denied: Signal<Option<String>>,
    /// Whether it cannot be done now for another reason, which shows elsewhere.
    #[prop(optional, into)]
    is_idle: Signal<bool>,
    /// Whether it sends the form that it stands in.
    #[prop(optional)]
    is_submit: bool,
    /// Whether it ends something that does not come back.
    #[prop(optional)]
    ends: bool,
    /// Does it.
    #[prop(optional, into)]
    act: Option<Callback<()>>,
) -> impl IntoView {
    let reason_id = format!("{id}-reason");
    let described = reason_id.clone();
    let run = move |_| {
        if let Some(act) = act {
            act.run(());
        }
    };
    view! {
        <span class="action">
            <button
                id=id
                type=if is_submit { "submit" } else { "button" }
                class:primary=is_submit && !ends
                class:ends=ends
                aria-label=name
                disabled=move || denied.get().is_some() || is_idle.get()
                aria-describedby=move || denied.get().map(|_| described.clone())
                on:click=run
            >
                {move || label.get()}
            </button>
            {move || denied.get().map(|reason| view! { <span class="hint" id=reason_id.clone()>{reason}</span> })}
        </span>
    }
}
