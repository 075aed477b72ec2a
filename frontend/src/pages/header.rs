//! The header of a cluster's pages, and the keys that work everywhere.

use engine::unit::id::JobId;
use engine::unit::id::QuotaId;
use leptos::html::Dialog;
use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::use_location;
use leptos_router::hooks::use_navigate;

use crate::api::browser;
use crate::pages::later;
use crate::session::Session;
use crate::widgets::freshness_mark::FreshnessMark;
use crate::widgets::search_box::SEARCH_ID;
use crate::widgets::search_box::SearchBox;
use crate::widgets::shortcuts::Shortcuts;
use crate::widgets::theme_choice::ThemeChoice;
use console_model::path;

/// The book's page on how jobs come to run.
const BOOK: &str = "/docs/own-machines.html";
const SIMULATED: &str = "Jobs are pretended here: nothing runs. Connect your machines.";

/// The header.
#[component]
pub(crate) fn Header() -> impl IntoView {
    let session = Session::here();
    let name = session.name();
    let keys = NodeRef::<Dialog>::new();
    let navigate = use_navigate();
    let pathname = use_location().pathname;
    let go = Callback::new(move |address: String| navigate(&address, NavigateOptions::default()));
    let search = Callback::new(move |text: String| go.run(found(session, &text)));
    let is_palette_open = RwSignal::new(false);
    listen(session, go, keys, is_palette_open);
    let link = {
        let root = path::cluster(&name);
        move |address: String, words: &'static str| {
            let target = address.clone();
            let root = root.clone();
            let is_here = move || {
                let here = pathname.get();
                if target == root {
                    here == root || here.starts_with(&format!("{root}/quotas"))
                } else {
                    here.starts_with(&target)
                }
            };
            view! { <a href=address aria-current=move || is_here().then_some("page")>{words}</a> }
        }
    };
    let revision = Signal::derive(move || session.ask(|state| state.revision));
    let is_simulated = Memo::new(move |_| session.ask(|state| !state.cluster.is_reported()).unwrap_or_default());
    let show_keys = move |_| show(keys);
    view! {
        <header class="top">
            <a class="brand" href="/">"Tidegate"</a>
            <span class="cluster-name" title=name.to_string()>{name.to_string()}</span>
            {move || is_simulated.get().then(|| view! { <a class="simulated" rel="external" href=BOOK title=SIMULATED>"simulated"</a> })}
            <nav aria-label="Pages">
                {link(path::cluster(&name), "Quotas")}
                {link(path::jobs(&name), "Jobs")}
                {link(path::nodes(&name), "Nodes")}
                {link(path::rounds(&name), "Rounds")}
                {link(path::planner(&name), "Planner")}
                {link(path::market(&name), "Market")}
                {link(path::bills(&name), "Bills")}
                {link(path::workspaces(&name), "Workspaces")}
                {link(path::submit(&name), "Submit a job")}
            </nav>
            <SearchBox search=search />
            <FreshnessMark freshness=Signal::derive(move || session.freshness()) revision=revision />
            <ThemeChoice />
            <button type="button" class="quiet" aria-label="Show the keys" on:click=show_keys>"?"</button>
        </header>
        <Shortcuts element=keys />
        {move || is_palette_open.get().then(|| later::palette(is_palette_open))}
    }
}

/// Where a search leads: to the job or quota of exactly this name, or to the jobs that match.
fn found(session: Session, text: &str) -> String {
    let name = session.name();
    let exact = session.ask_once(|state| {
        let job = JobId::new(text).ok().and_then(|id| state.jobs.find(&id));
        let quota = QuotaId::new(text).ok().and_then(|id| state.quota_no(&id));
        job.map(|_| path::job(&name, text)).or_else(|| quota.map(|_| path::quota(&name, text)))
    });
    exact.flatten().unwrap_or_else(|| path::jobs_where(&name, "q", text))
}

fn show(keys: NodeRef<Dialog>) {
    if let Some(dialog) = keys.get_untracked() {
        // It fails only if the dialog is open already.
        let _ = dialog.show_modal();
    }
}

/// The keys that work everywhere, all but one only where people do not type.
fn listen(session: Session, go: Callback<String>, keys: NodeRef<Dialog>, is_palette_open: RwSignal<bool>) {
    let is_after_g = StoredValue::new(false);
    let listener = window_event_listener(leptos::ev::keydown, move |event| {
        if (event.ctrl_key() || event.meta_key()) && event.key() == "k" {
            // One that is open keeps what was typed.
            if !is_palette_open.get_untracked() {
                is_palette_open.set(true);
            }
            event.prevent_default();
            return;
        }
        if event.ctrl_key() || event.meta_key() || event.alt_key() || is_typing(&event) {
            return;
        }
        let name = session.name();
        let was_after_g = is_after_g.get_value();
        is_after_g.set_value(event.key() == "g");
        match (was_after_g, event.key().as_str()) {
            (true, "q") => go.run(path::cluster(&name)),
            (true, "j") => go.run(path::jobs(&name)),
            (true, "r") => go.run(path::rounds(&name)),
            (true, "p") => go.run(path::planner(&name)),
            (false, "n") => go.run(path::submit(&name)),
            (false, "?") => show(keys),
            (false, "/") => {
                browser::focus(SEARCH_ID);
            }
            _ => return,
        }
        event.prevent_default();
    });
    on_cleanup(move || listener.remove());
}

fn is_typing(event: &leptos::ev::KeyboardEvent) -> bool {
    use wasm_bindgen::JsCast;
    let target = event.target().and_then(|target| target.dyn_into::<web_sys::Element>().ok());
    target.is_some_and(|element| matches!(element.tag_name().as_str(), "INPUT" | "SELECT" | "TEXTAREA"))
}
