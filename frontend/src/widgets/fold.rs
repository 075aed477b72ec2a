//! Something that is opened to be seen, and not made before.

use leptos::prelude::*;

/// The fold.
#[component]
pub(crate) fn Fold(
    /// What is in it.
    summary: &'static str,
    /// Makes it, when it is opened.
    children: ChildrenFn,
) -> impl IntoView {
    let is_open = RwSignal::new(false);
    let toggled = move |event: leptos::ev::Event| {
        use wasm_bindgen::JsCast;
        let element = event.target().and_then(|target| target.dyn_into::<web_sys::Element>().ok());
        is_open.set(element.is_some_and(|element| element.has_attribute("open")));
    };
    view! {
        <details on:toggle=toggled>
            <summary>{summary}</summary>
            {move || is_open.get().then(|| children())}
        </details>
    }
}
