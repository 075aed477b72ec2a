//! What jobs on the spot market have cost, by day, by job or by workspace.

use engine::market::bill::Charges;
use engine::market::statement::Line;
use engine::market::statement::Statement;
use engine::market::statement::csv;
use engine::unit::quantity::price;
use leptos::prelude::*;

use crate::api::browser::clock;
use crate::api::client;
use crate::api::failure::Failure;
use crate::pages::address::title;
use crate::session::Session;
use crate::session::latest::latest;
use crate::session::url;
use crate::widgets::choice::Choice;
use crate::widgets::plain_table::Cell;
use crate::widgets::plain_table::PlainTable;
use console_model::path;

/// A statement, and what its lines are for.
type Answer = Result<(&'static str, Statement), Failure>;

/// The page.
#[component]
pub(crate) fn BillsPage() -> impl IntoView {
    let session = Session::here();
    title(|| "Bills".to_owned());
    let (chosen, set_by) = url::chosen("by");
    let by = Signal::derive(move || match chosen.get().as_str() {
        "job" => "job",
        "workspace" => "workspace",
        "job_and_day" => "job_and_day",
        _ => "day",
    });
    let options: Vec<(String, String)> =
        [("day", "Day"), ("job", "Job"), ("workspace", "Workspace"), ("job_and_day", "Job and day")]
            .map(|(name, words)| (name.to_owned(), words.to_owned()))
            .into();
    let n_earlier = RwSignal::new(0u32);
    let answer = answer(session, by, n_earlier);
    let statement =
        Memo::new(move |_| answer.with(|answer| answer.as_ref().and_then(|answer| answer.as_ref().ok().cloned())));
    // What has been chosen since counts once its statement is here.
    let shown = Memo::new(move |_| statement.with(|statement| statement.as_ref().map(|(by, _)| *by)));
    let rows = Signal::derive(move || {
        statement.with(|statement| {
            let lines = statement.iter().flat_map(|(by, statement)| statement.lines.iter().map(move |line| (line, by)));
            lines.map(|(line, by)| cells(session, line, by)).collect()
        })
    });
    let total = move || {
        let (_, Statement { total: Charges { minutes, micros }, .. }) = statement.get()?;
        Some(format!("{} in all, for {minutes} minutes.", price(micros)))
    };
    let earlier = move || {
        let at = statement.get()?.1.earlier?.at;
        Some(view! {
            <p class="toolbar">
                <span>{format!("Bills written before {} are not among them.", clock(at))}</span>
                <button type="button" on:click=move |_| n_earlier.update(|count| *count += 1)>"Add earlier bills"</button>
            </p>
        })
    };
    let csv = move || {
        let (by, Statement { lines, .. }) = statement.get()?;
        Some((format!("bills-by-{by}.csv"), format!("data:text/csv;charset=utf-8,{}", path::escape(&csv(&lines)))))
    };
    let failure =
        move || answer.with(|answer| answer.as_ref().and_then(|answer| answer.as_ref().err().map(ToString::to_string)));
    view! {
        <div class="page-head">
            <h1>"Bills"</h1>
            {move || csv().map(|(name, address)| view! { <a class="button" download=name href=address>"Export as CSV"</a> })}
        </div>
        <p class="hint">"Jobs on the spot market pay the market price of each started minute."</p>
        <div class="toolbar">
            <Choice id="by" label="One line for each" options=Signal::stored(options) value=Signal::derive(move || by.get().to_owned()) change=set_by />
            <p role="status">{total}</p>
        </div>
        {earlier}
        {move || failure().map(|failure| view! { <p class="fault" role="alert">{failure}</p> })}
        <section class="card" aria-label="Statement">
            {move || answer.with(Option::is_none).then(|| view! { <p class="nothing">"Loading…"</p> })}
            {move || shown.get().map(|by| view! { <PlainTable caption="Bills" columns=columns(by) rows=rows empty="Nothing has been billed." /> })}
        </section>
    }
}

/// The statement, again whenever something has been billed and with each round; with so many reads of earlier bills.
fn answer(session: Session, by: Signal<&'static str>, n_earlier: RwSignal<u32>) -> RwSignal<Option<Answer>> {
    let news = Memo::new(move |_| {
        session.ask(|state| {
            let accounts = state.market.accounts.values();
            (
                state.last_slot,
                accounts.map(|account| account.billed.micros).fold(0, i64::saturating_add),
                state.market.accounts.len(),
            )
        })
    });
    latest(move || {
        news.get();
        let (by, n_earlier) = (by.get(), n_earlier.get());
        let revision = session.ask_once(|state| state.revision).unwrap_or_default();
        Some(async move { read(&session.name(), by, revision, n_earlier).await })
    })
}

async fn read(cluster: &str, by: &'static str, revision: u64, n_earlier: u32) -> Answer {
    let mut statement = client::bills(cluster, by, revision).await?;
    for _ in 0..n_earlier {
        let Some(earlier) = statement.earlier else { break };
        statement = statement.with(client::earlier_bills(cluster, by, earlier.before).await?);
    }
    Ok((by, statement))
}

/// What tells the lines apart.
fn names(by: &str) -> &'static [&'static str] {
    match by {
        "day" => &["Day"],
        "workspace" => &["Workspace"],
        "job" => &["Workspace", "Job", "Offer"],
        _ => &["Day", "Workspace", "Job", "Offer"],
    }
}

fn columns(by: &str) -> Vec<&'static str> {
    names(by).iter().copied().chain(["Minutes", "Cost", "Not billed yet"]).collect()
}

fn cells(session: Session, line: &Line, by: &str) -> Vec<Cell> {
    let Line { item, charges, open } = line;
    let names = names(by).iter().map(|name| {
        let text = match *name {
            "Day" => item.day.clone(),
            "Workspace" => item.workspace.as_ref().map(ToString::to_string),
            "Job" => item.job.as_ref().map(ToString::to_string),
            _ => item.offer.as_ref().map(ToString::to_string),
        };
        match (text, *name) {
            (Some(job), "Job") => Cell::Link(job.clone(), path::job(&session.name(), &job)),
            (text, _) => Cell::Text(text.unwrap_or_else(|| "–".to_owned())),
        }
    });
    let numbers = [charges.minutes.to_string(), price(charges.micros), price(open.micros)].map(Cell::Number);
    names.chain(numbers).collect()
}
