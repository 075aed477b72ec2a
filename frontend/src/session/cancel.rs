//! Cancelling with a moment to think better of it: nothing is sent until the moment has passed.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering;

use engine::message::command::CancelJob;
use engine::message::command::Command;
use engine::unit::id::JobId;
use gloo_timers::future::TimeoutFuture;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::api::browser;
use crate::session::Session;
use crate::session::notices::Tone;
use console_model::preview::of_cancelling;

/// How long the moment is.
const MOMENT_MS: u32 = 8_000;

impl Session {
    /// Asks whoever closes the page while something is about to be cancelled: it would not be.
    pub(crate) fn keep_moments(self) {
        let leaving = window_event_listener(leptos::ev::beforeunload, move |event| {
            if !self.cancelling.with_untracked(BTreeSet::is_empty) {
                event.prevent_default();
            }
        });
        on_cleanup(move || leaving.remove());
    }

    /// Cancels jobs in a moment; until then it can be undone.
    pub(crate) fn cancel_soon(self, jobs: Vec<JobId>) {
        let Some(first) = jobs.first() else { return };
        let whom = if jobs.len() == 1 { first.to_string() } else { format!("{} jobs", jobs.len()) };
        let costs = self.ask_once(|state| of_cancelling(state, &jobs, browser::now())).unwrap_or_default();
        let text = format!("{whom} will be cancelled in {} s. {costs}", MOMENT_MS / 1000);
        self.cancelling.update(|cancelling| cancelling.extend(jobs.iter().cloned()));
        // What is cancelled again after that has a moment of its own.
        let is_undone = Arc::new(AtomicBool::new(false));
        let (undone, undoing) = (jobs.clone(), is_undone.clone());
        let undo = Callback::new(move |()| {
            undoing.store(true, Ordering::Relaxed);
            self.cancelling.update(|cancelling| cancelling.retain(|job| !undone.contains(job)));
        });
        let notice = self.notices.show(Tone::Pending, text.trim_end().to_owned(), Some(undo));
        spawn_local(async move {
            TimeoutFuture::new(MOMENT_MS).await;
            self.notices.dismiss(notice);
            if is_undone.load(Ordering::Relaxed) {
                return;
            }
            for job in jobs {
                let is_due = self.cancelling.try_update(|cancelling| cancelling.remove(&job)).unwrap_or(false);
                if is_due {
                    // A refusal is shown by `send` itself.
                    let _ = self.send(Command::CancelJob(CancelJob { job })).await;
                }
            }
        });
    }
}
