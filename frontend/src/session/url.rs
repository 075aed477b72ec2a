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
    let (address, write) = query_signal_with_options::<String>(name, options);
    // The address follows a frame later; until then what was chosen counts, so that the next key finds it.
    let shown = RwSignal::new(address.get_untracked().unwrap_or_default());
    let on_its_way = StoredValue::new(None::<String>);
    Effect::new(move |_| {
        let arrived = address.get().unwrap_or_default();
        match on_its_way.get_value() {
            None => shown.set(arrived),
            Some(chosen) if chosen == arrived => on_its_way.set_value(None),
            Some(_) => {}
        }
    });
    let write = Callback::new(move |text: String| {
        if text != shown.get_untracked() {
            on_its_way.set_value(Some(text.clone()));
            shown.set(text.clone());
            write.set((!text.is_empty()).then_some(text));
        }
    });
    (shown.into(), write)
}
