//! What people are told in passing: what was done, commands that were refused, and what can still be undone.

use gloo_timers::future::TimeoutFuture;
use leptos::prelude::*;
use leptos::task::spawn_local;

/// How long it shows that something was done: the page shows it as well.
const DONE_MS: u32 = 8_000;
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
            // Of what was done the last thing counts, and what is refused again is refused once.
            let is_old = |notice: &Notice| {
                notice.undo.is_none() && notice.tone == tone && (tone == Tone::Done || notice.text == text)
            };
            list.retain(|notice| !is_old(notice));
            list.push(Notice { no, tone, text, undo });
            // What can still be undone stays until it cannot.
            let oldest = list.iter().position(|notice| notice.undo.is_none());
            if let Some(oldest) = oldest.filter(|_| list.len() > SHOWN) {
                list.remove(oldest);
            }
        });
        if tone == Tone::Done {
            let notices = *self;
            spawn_local(async move {
                TimeoutFuture::new(DONE_MS).await;
                notices.dismiss(no);
            });
        }
        no
    }

    /// Takes a notice away.
    pub(crate) fn dismiss(&self, no: u64) {
        // The page may be gone by now.
        self.list.try_update(|list| list.retain(|notice| notice.no != no));
    }

    /// The notices, the oldest first.
    pub(crate) fn all(&self) -> Vec<Notice> {
        self.list.get()
    }
}
