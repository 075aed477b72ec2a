//! Page state in the URL's query: read as a signal, written without a jump.

use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::query_signal_with_options;

/// A value of the query that is replaced as it is typed: it leaves no trail in the history.
pub(crate) fn typed(name: &'static str) -> (Signal<String>, Callback<String>) {
    value(name, true)
}

/// A value of the query whose changes can be gone back from.
pub(crate) fn chosen(name: &'static str) -> (Signal<String>, Callback<String>) {
    value(name, false)
}

fn value(name: &'static str, replace: bool) -> (Signal<String>, Callback<String>) {
    let options = NavigateOptions { replace, scroll: false, resolve: true, ..NavigateOptions::default() };
    let (read, write) = query_signal_with_options::<String>(name, options);
    let read = Signal::derive(move || read.get().unwrap_or_default());
    let write = Callback::new(move |text: String| write.set((!text.is_empty()).then_some(text)));
    (read, write)
}
