//! The bearer token: a session's, or the key that arrives in the URL's fragment, which no server sees. It is kept for this
//! tab only.

use crate::api::storage::Kept;

const NAME: &str = "tidegate.key";

/// Takes the key out of the visible address, if it is there.
pub(crate) fn take_from_address() {
    let Some(window) = web_sys::window() else { return };
    let hash = window.location().hash().unwrap_or_default();
    let Some(key) = hash.strip_prefix("#key=") else { return };
    store(key);
    let location = window.location();
    let path = format!("{}{}", location.pathname().unwrap_or_default(), location.search().unwrap_or_default());
    if let Ok(history) = window.history() {
        // A browser that refuses this keeps the key in its address bar: a pity, but no failure.
        let _ = history.replace_state_with_url(&wasm_bindgen::JsValue::NULL, "", Some(&path));
    }
}

/// Keeps a key for this tab.
pub(crate) fn store(key: &str) {
    Kept::Tab.set(NAME, key.trim());
}

/// Forgets the key.
pub(crate) fn forget() {
    Kept::Tab.delete(NAME);
}

/// The key, if there is one.
pub(crate) fn get() -> Option<String> {
    Kept::Tab.get(NAME)
}
