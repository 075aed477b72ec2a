//! Goes anywhere by a part of its name: a field, and a list of what is found under it.

use console_model::destination::Destination;
use leptos::html::Dialog;
use leptos::prelude::*;

const LIST_ID: &str = "palette-list";

/// The dialog. It is there while it is open.
#[component]
pub(crate) fn Palette(
    /// What was typed.
    text: RwSignal<String>,
    /// What is found under it.
    found: Signal<Vec<Destination>>,
    /// Goes to an address.
    go: Callback<String>,
    /// Called when it has been closed.
    close: Callback<()>,
) -> impl IntoView {
    let element = NodeRef::<Dialog>::new();
    let active = RwSignal::new(0);
    Effect::new(move |_| {
        if let Some(dialog) = element.get() {
            // It fails only if the dialog is open already.
            let _ = dialog.show_modal();
        }
    });
    let choose = move |at: usize| {
        if let Some(destination) = found.with_untracked(|found| found.get(at).cloned()) {
            close.run(());
            go.run(destination.address);
        }
    };
    let typed = move |event: leptos::ev::Event| {
        text.set(event_target_value(&event));
        active.set(0);
    };
    let pressed = move |event: leptos::ev::KeyboardEvent| {
        let count = found.with_untracked(Vec::len);
        match event.key().as_str() {
            "ArrowDown" => active.update(|at| *at = (*at + 1).min(count.saturating_sub(1))),
            "ArrowUp" => active.update(|at| *at = at.saturating_sub(1)),
            "Enter" => choose(active.get_untracked()),
            _ => return,
        }
        event.prevent_default();
    };
    let option = move |(at, destination): (usize, Destination)| {
        let Destination { kind, name, .. } = destination;
        view! {
            <li
                id=option_id(at)
                role="option"
                aria-selected=move || (active.get() == at).to_string()
                on:click=move |_| choose(at)
            >
                <span>{name}</span>
                <span class="hint">{kind}</span>
            </li>
        }
    };
    let count = move || match found.with(Vec::len) {
        0 => "No results.".to_owned(),
        1 => "1 destination".to_owned(),
        count => format!("{count} destinations"),
    };
    view! {
        <dialog node_ref=element aria-label="Go to" class="palette" on:close=move |_| close.run(())>
            <input
                type="text"
                role="combobox"
                aria-label="A page, a quota, an offer, a workspace or a job"
                aria-expanded="true"
                aria-autocomplete="list"
                aria-controls=LIST_ID
                aria-activedescendant=move || (!found.with(Vec::is_empty)).then(|| option_id(active.get()))
                placeholder="Go to a page, a quota, an offer, a workspace or a job"
                autocomplete="off"
                prop:value=text
                on:input=typed
                on:keydown=pressed
            />
            <ul id=LIST_ID role="listbox" aria-label="Destinations">
                {move || found.get().into_iter().enumerate().map(option).collect_view()}
            </ul>
            <p class="hint" role="status">{count}</p>
        </dialog>
    }
}

fn option_id(at: usize) -> String {
    format!("destination-{at}")
}
