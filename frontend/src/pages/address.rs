//! The address of a page, and its title.

use leptos::prelude::*;

/// Names the page in the browser's title.
pub(crate) fn title(text: impl Fn() -> String + 'static) {
    Effect::new(move |_| document().set_title(&format!("{} · Tidegate", text())));
}

/// A parameter of the address.
pub(crate) fn parameter(name: &'static str) -> Memo<String> {
    let parameters = leptos_router::hooks::use_params_map();
    Memo::new(move |_| parameters.with(|parameters| parameters.get(name).unwrap_or_default()))
}
