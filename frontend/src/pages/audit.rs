//! Who did what, and when.

use engine::message::envelope::CommandKind;
use engine::message::envelope::Entry;
use leptos::prelude::*;

use crate::api::browser::clock;
use crate::api::client;
use crate::pages::address::title;
use crate::session::Session;
use crate::session::latest::latest;
use crate::session::url;
use crate::widgets::field::TextField;
use crate::widgets::plain_table::Cell;
use crate::widgets::plain_table::PlainTable;
use console_model::explained;
use console_model::explained::sentence;

/// The page.
#[component]
pub(crate) fn AuditPage() -> impl IntoView {
    let session = Session::here();
    title(|| "Audit".to_owned());
    let (search, set_search) = url::typed("q");
    let revision = Memo::new(move |_| session.revision());
    // What has been done since is read as well.
    let read = latest(move || {
        revision.get();
        Some(async move { client::audit(&session.name()).await })
    });
    let rows = Signal::derive(move || {
        let search = search.get().trim().to_lowercase();
        let all =
            read.with(|read| read.as_ref().and_then(|read| read.as_ref().ok()).map(|entries| rows(session, entries)));
        let is_found = |row: &Vec<Cell>| {
            row.iter().any(|cell| matches!(cell, Cell::Text(text) if text.to_lowercase().contains(&search)))
        };
        all.unwrap_or_default().into_iter().filter(|row| search.is_empty() || is_found(row)).collect::<Vec<_>>()
    });
    let failed = move || {
        read.with(|read| {
            read.as_ref().and_then(|read| read.as_ref().err()).map(|failure| sentence(&failure.to_string()))
        })
    };
    view! {
        <div class="page-head"><h1>"Audit"</h1></div>
        <p class="hint">"The last commands with their senders, the newest first: all of them for administrators of the cluster, those that concern their workspaces for members."</p>
        <div class="toolbar"><TextField id="audit-filter" label="Filter by words" value=search change=set_search /></div>
        {move || failed().map(|reason| view! { <p class="warning" role="alert">{reason}</p> })}
        <section class="card" aria-label="Commands">
            <PlainTable caption="Who did what" columns=vec!["When", "Who", "What", "What happened"] rows=rows empty="Nothing to show." />
        </section>
    }
}

fn rows(session: Session, entries: &[Entry<CommandKind>]) -> Vec<Vec<Cell>> {
    let row = |entry: &Entry<CommandKind>| {
        let said = session.ask(|state| explained::sentences(state, &entry.events)).unwrap_or_default();
        let said: Vec<String> = said.into_iter().map(|(text, _)| text).collect();
        vec![
            Cell::Number(clock(entry.at)),
            Cell::Text(entry.envelope.by.as_ref().map(ToString::to_string).unwrap_or_default()),
            Cell::Text(explained::title(entry).to_owned()),
            Cell::Text(said.join(" ")),
        ]
    };
    entries.iter().map(row).collect()
}
