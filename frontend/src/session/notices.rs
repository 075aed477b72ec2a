//! What people are told in passing: commands that were refused, and what can still be undone.

use leptos::prelude::*;

/// How many notices are shown at once, if not all of them can be undone.
const SHOWN: usize = 4;

/// How a notice is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    /// Something was done.
    Done,
    /// Something will be done unless it is undone.
    Pending,
    /// Something was refused or failed.
    Refused,
}

impl Tone {
    /// For the stylesheet.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Pending => "pending",
            Self::Refused => "refused",
        }
    }
}

/// A notice.
#[derive(Clone, Debug)]
pub(crate) struct Notice {
    /// By which it is found again.
    pub(crate) no: u64,
    /// How it is meant.
    pub(crate) tone: Tone,
    /// What it says.
    pub(crate) text: String,
    /// Its button.
    pub(crate) undo: Option<Callback<()>>,
}

/// All notices of this page.
#[derive(Clone, Copy)]
pub(crate) struct Notices {
    list: RwSignal<Vec<Notice>>,
    next: StoredValue<u64>,
}

impl Notices {
    pub(crate) fn new() -> Self {
        Self { list: RwSignal::new(Vec::new()), next: StoredValue::new(0) }
    }

    /// Shows a notice and returns its number.
    pub(crate) fn show(&self, tone: Tone, text: String, undo: Option<Callback<()>>) -> u64 {
        // What a notice is about may outlast the page: then nobody sees it.
        let no = self.next.try_get_value().unwrap_or_default();
        self.next.set_value(no + 1);
        self.list.update(|list| {
            list.push(Notice { no, tone, text, undo });
            // What can still be undone stays until it cannot.
            let oldest = list.iter().position(|notice| notice.undo.is_none());
            if let Some(oldest) = oldest.filter(|_| list.len() > SHOWN) {
                list.remove(oldest);
            }
        });
        no
    }

    /// Takes a notice away.
    pub(crate) fn dismiss(&self, no: u64) {
        self.list.update(|list| list.retain(|notice| notice.no != no));
    }

    /// The notices, the oldest first.
    pub(crate) fn all(&self) -> Vec<Notice> {
        self.list.get()
    }
}
