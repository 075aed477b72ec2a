//! What a job prints, as it does.

use engine::job::run::RunNo;
use engine::state::world::State;
use engine::unit::id::JobId;
use gloo_timers::future::TimeoutFuture;
use leptos::html::Pre;
use leptos::prelude::*;
use leptos::task::spawn_local;
use wasm_bindgen::JsValue;

use crate::api::browser;
use crate::api::client;
use crate::api::failure::Failure;
use crate::session::Session;
use crate::widgets::copy_button::CopyButton;
use crate::widgets::field::TextField;
use console_model::explained::sentence;
use console_model::log_text::LogPart;
use console_model::log_text::LogText;

/// How long we wait for more.
const PAUSE_MS: u32 = 1_000;

/// What is read, by one reader at a time.
#[derive(Clone, Copy)]
struct Reading {
    session: Session,
    log: RwSignal<LogText>,
    /// Why nothing can be shown.
    failed: RwSignal<Option<String>>,
    reader: StoredValue<u32>,
}

impl Reading {
    /// Reads until everything is there that the job's run prints, or the page shows something else.
    fn begin(self, job: JobId) {
        self.reader.update_value(|reader| *reader += 1);
        let reader = self.reader.get_value();
        spawn_local(async move {
            let is_shown = || self.reader.try_get_value() == Some(reader);
            while is_shown() {
                // Nobody sees a page in the background.
                if !browser::is_hidden() {
                    let after = self.log.with_untracked(LogText::next);
                    let read = client::job_log(&self.session.name(), job.as_str(), after).await;
                    if !is_shown() || self.is_over(read) {
                        return;
                    }
                }
                TimeoutFuture::new(PAUSE_MS).await;
            }
        });
    }

    /// Shows what was read; whether that is all.
    fn is_over(self, read: Result<(LogPart, bool), Failure>) -> bool {
        let (failed, is_over) = match read {
            Ok((part, is_over)) => {
                if self.log.with_untracked(|log| log.is_news(&part)) {
                    self.log.update(|log| log.take(&part));
                }
                (None, is_over && self.log.with_untracked(|log| log.next().is_some()))
            }
            // It has printed nothing.
            Err(Failure::Absent(_)) => (None, true),
            Err(failure) => (Some(sentence(&failure.to_string())), false),
        };
        self.failed.set(failed);
        is_over
    }
}

/// The part of the page, where jobs really run.
#[component]
pub(crate) fn JobLog(
    /// The job.
    name: Memo<String>,
) -> impl IntoView {
    let session = Session::here();
    let is_reported = Memo::new(move |_| session.ask(|state| state.cluster.is_reported()).unwrap_or_default());
    view! { {move || (is_reported.get() && !name.get().is_empty()).then(|| log_view(session, name.get()))} }
}

/// What a log depends on: which run the job has, and whether it has ended. None before its first run.
fn course(state: &State, id: &JobId) -> Option<(Option<RunNo>, bool)> {
    let job = &state.jobs[state.jobs.find(id)?];
    let has_begun = job.is_ended() || job.run_no().is_some() || job.progress.evictions > 0;
    (has_begun && !job.is_unconfirmed()).then(|| (job.run_no(), job.is_ended()))
}

fn log_view(session: Session, name: String) -> impl IntoView {
    let reading = Reading {
        session,
        log: RwSignal::new(LogText::default()),
        failed: RwSignal::new(None),
        reader: StoredValue::new(0),
    };
    let id = JobId::new(&name).ok();
    let of_job = id.clone();
    let course = Memo::new(move |_| session.ask(|state| course(state, of_job.as_ref()?)).flatten());
    Effect::new(move |_| {
        if let (Some(_), Some(id)) = (course.get(), &id) {
            reading.begin(id.clone());
        }
    });
    let follows = RwSignal::new(true);
    let words = RwSignal::new(String::new());
    let set_words = Callback::new(move |typed| words.set(typed));
    let shown = Memo::new(move |_| reading.log.with(|log| log.lines_with(&words.get())));
    let pane = NodeRef::<Pre>::new();
    Effect::new(move |_| {
        let is_empty = shown.with(String::is_empty);
        if let Some(pane) = pane.get().filter(|_| follows.get() && !is_empty) {
            pane.set_scroll_top(pane.scroll_height());
        }
    });
    let text = Callback::new(move |()| Some(shown.get_untracked()).filter(|text| !text.is_empty()));
    let save = move |_| {
        let parts = js_sys::Array::of1(&JsValue::from_str(&shown.get_untracked()));
        if let Ok(file) = web_sys::Blob::new_with_str_sequence(&parts) {
            browser::save(&format!("{name}.log"), &file);
        }
    };
    view! {
        <section class="card log" aria-labelledby="log-title">
            <h2 id="log-title">"Log"</h2>
            <div class="toolbar">
                <TextField id="log-words" label="Only lines with" value=words change=set_words />
                <label class="check"><input type="checkbox" prop:checked=follows on:change=move |event| follows.set(event_target_checked(&event)) />"Follow"</label>
                <CopyButton label="Copy" text=text />
                <button type="button" class="quiet" on:click=save>"Download"</button>
            </div>
            {move || reading.failed.get().map(|reason| view! { <p class="hint" role="status">{reason}</p> })}
            <pre node_ref=pane role="group" tabindex="0" aria-labelledby="log-title">{move || shown.get()}</pre>
            {move || shown.with(String::is_empty).then(|| view! { <p class="hint">"Nothing to show yet."</p> })}
        </section>
    }
}
