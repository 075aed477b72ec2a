//! What the browser keeps: for this tab, or for good. One that keeps nothing, since its reader has blocked that, is no
//! reason to fail: what is kept lasts until the page is left then.

use std::cell::RefCell;
use std::collections::BTreeMap;

thread_local! {
    /// What the browser does not keep.
    static HERE: RefCell<BTreeMap<&'static str, String>> = const { RefCell::new(BTreeMap::new()) };
}

/// For how long.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kept {
    /// Until the tab is closed.
    Tab,
    /// Until somebody clears it.
    ForGood,
}

impl Kept {
    /// What is kept under a name.
    pub(crate) fn get(self, name: &'static str) -> Option<String> {
        let kept = self.storage().and_then(|storage| storage.get_item(name).ok().flatten());
        let text = kept.and_then(|text| serde_json::from_str(&text).ok());
        text.or_else(|| HERE.with_borrow(|here| here.get(name).cloned()))
    }

    /// Keeps a text under a name.
    pub(crate) fn set(self, name: &'static str, text: &str) {
        let as_json = serde_json::to_string(text).unwrap_or_default();
        let is_kept = self.storage().is_some_and(|storage| storage.set_item(name, &as_json).is_ok());
        if !is_kept {
            HERE.with_borrow_mut(|here| here.insert(name, text.to_owned()));
        }
    }

    /// Forgets what is kept under a name.
    pub(crate) fn delete(self, name: &'static str) {
        if let Some(storage) = self.storage() {
            // What cannot be removed could not be kept either.
            let _ = storage.remove_item(name);
        }
        HERE.with_borrow_mut(|here| here.remove(name));
    }

    /// The browser's own; asking for it is an error where it is blocked.
    fn storage(self) -> Option<web_sys::Storage> {
        let window = web_sys::window()?;
        let storage = match self {
            Self::Tab => window.session_storage(),
            Self::ForGood => window.local_storage(),
        };
        storage.ok().flatten()
    }
}
