//! The spot market: offers, and how the price and the inventory of one of them went.

use engine::market::history::History;
use engine::unit::quantity::price;
use engine::unit::time::Timestamp;
use leptos::prelude::*;

use crate::api::browser::clock;
use crate::api::client;
use crate::api::failure::Failure;
use crate::pages::address::title;
use crate::session::Session;
use crate::session::latest::latest;
use crate::session::url;
use crate::widgets::chart::Chart;
use crate::widgets::plain_table::Cell;
use crate::widgets::plain_table::PlainTable;
use console_model::offers;
use console_model::offers::OfferRow;
use console_model::path;

/// The page.
#[component]
pub(crate) fn MarketPage() -> impl IntoView {
    let session = Session::here();
    title(|| "Market".to_owned());
    let (chosen, _) = url::chosen("offer");
    let now = minutes(session);
    let rows = Memo::new(move |_| session.ask(|state| offers::rows(state, now.get())).unwrap_or_default());
    let name = Memo::new(move |_| {
        let chosen = chosen.get();
        rows.with(|rows| rows.iter().find(|row| row.name == chosen).or(rows.first()).map(|row| row.name.clone()))
    });
    let cells = Signal::derive(move || rows.with(|rows| rows.iter().map(|row| offer_cells(session, row)).collect()));
    view! {
        <div class="page-head">
            <h1>"Market"</h1>
            <a class="button" href=path::bills(&session.name())>"Bills"</a>
        </div>
        <div class="card">
            <PlainTable caption="Offers" columns=vec!["Offer", "Machines", "Price of an instance-minute", "Average", "Free", "Instances", "Bids waiting", "Jobs running"] rows=cells empty="There is no offer yet. An administrator adds one with the command create_offer." />
        </div>
        {move || name.get().map(|name| view! { <OfferView name=name rows=rows now=now /> })}
    }
}

/// The time, as far as the page follows it: charts need not move with each second.
fn minutes(session: Session) -> Memo<Timestamp> {
    let minute = session.minute();
    let known = Memo::new(move |_| session.ask(|state| state.revision));
    Memo::new(move |_| {
        minute.get();
        known.get();
        session.now.get_untracked()
    })
}

fn offer_cells(session: Session, row: &OfferRow) -> Vec<Cell> {
    let number = |value: String| Cell::Number(value);
    vec![
        Cell::Link(row.name.clone(), path::offer(&session.name(), &row.name)),
        Cell::Text(row.machines.clone()),
        number(row.price.clone()),
        number(row.average.clone()),
        number(row.free.to_string()),
        number(row.inventory.to_string()),
        number(row.n_waiting.to_string()),
        number(row.n_running.to_string()),
    ]
}

#[component]
fn OfferView(name: String, rows: Memo<Vec<OfferRow>>, now: Memo<Timestamp>) -> impl IntoView {
    let session = Session::here();
    let history = history(session, name.clone(), now);
    let asked = StoredValue::new(name.clone());
    let offer = move || asked.with_value(|name| session.ask(|state| offers::find(state, name)).flatten());
    let known = move || history.with(|history| history.as_ref().and_then(|history| history.as_ref().ok().cloned()));
    let prices = Memo::new(move |_| {
        let (no, history) = (offer()?, known()?);
        session.ask(|state| offers::price_chart(state, no, &history, now.get()))
    });
    let inventory = Memo::new(move |_| known().map(|history| offers::inventory_chart(&history, now.get())));
    let row = Memo::new(move |_| {
        asked.with_value(|name| rows.with(|rows| rows.iter().find(|row| row.name == *name).cloned()))
    });
    let price_sentence = Signal::derive(move || {
        row.with(|row| {
            row.as_ref().map(|row| {
                format!("An instance-minute of {} costs {}; on average {}.", row.name, row.price, row.average)
            })
        })
        .unwrap_or_default()
    });
    let inventory_sentence = Signal::derive(move || {
        row.with(|row| {
            row.as_ref().map(|row| format!("{} has {} instances, {} of them free.", row.name, row.inventory, row.free))
        })
        .unwrap_or_default()
    });
    let price_rows = Signal::derive(move || known().map(|history| price_cells(&history)).unwrap_or_default());
    let inventory_rows = Signal::derive(move || known().map(|history| inventory_cells(&history)).unwrap_or_default());
    let bid_rows = Signal::derive(move || bid_cells(session, offer()));
    let failure = move || {
        history.with(|history| history.as_ref().and_then(|history| history.as_ref().err().map(ToString::to_string)))
    };
    view! {
        <h2 class="offer-name">{name}</h2>
        {move || failure().map(|failure| view! { <p class="fault" role="alert">{failure}</p> })}
        <section class="card chart-row" aria-label="Price">
            <Chart chart=prices sentence=price_sentence legend=vec![("price", "Price, in percent of the original price"), ("average", "Average"), ("bid", "Bids")] />
            <PlainTable caption="Prices, the newest first" columns=vec!["From", "Price", "Average"] rows=price_rows empty="Loading…" />
        </section>
        <section class="card chart-row" aria-label="Inventory">
            <Chart chart=inventory sentence=inventory_sentence legend=vec![("inventory", "Instances"), ("held", "Held by jobs")] />
            <PlainTable caption="Inventory, the newest first" columns=vec!["From", "Instances", "Held by jobs"] rows=inventory_rows empty="Loading…" />
        </section>
        <div class="card">
            <PlainTable caption="Bids" columns=vec!["Job", "Bid for an instance-minute", "Instances", "State", "Safe until"] rows=bid_rows empty="Nobody bids." />
        </div>
    }
}

/// The offer's history, again whenever its price or its inventory changes.
fn history(session: Session, name: String, now: Memo<Timestamp>) -> RwSignal<Option<Result<History, Failure>>> {
    let asked = name.clone();
    let news = Memo::new(move |_| {
        let facts = session.ask(|state| {
            let offer = &state.market.offers[offers::find(state, &asked)?.at()];
            Some((offer.course.since(), offer.course.price(), offer.inventory))
        });
        (facts, now.get().0 / 60_000)
    });
    latest(move || {
        news.get();
        let name = name.clone();
        let revision = session.ask_once(|state| state.revision).unwrap_or_default();
        Some(async move { client::offer_history(&session.name(), &name, revision).await })
    })
}

fn price_cells(history: &History) -> Vec<Vec<Cell>> {
    // The last point is now; it has the price of the one before.
    let changes = history.prices.iter().rev().skip(1);
    let recent = changes.map(|point| [clock(point.at), price(point.price), price(point.average)]);
    let first = history.prices.first().map_or(i64::MAX, |point| point.at.0);
    let hours = history.hours.iter().rev().filter(|hour| (hour.hour + 1).saturating_mul(3_600_000) <= first);
    let hours = hours.map(|hour| {
        let range = format!("{} to {}", price(hour.low), price(hour.high));
        [clock(Timestamp(hour.hour.saturating_mul(3_600_000))), range, price(hour.average())]
    });
    recent.chain(hours).map(|row| row.map(Cell::Number).into()).collect()
}

fn inventory_cells(history: &History) -> Vec<Vec<Cell>> {
    let number = |count: Option<i64>| Cell::Number(count.map_or_else(|| "–".to_owned(), |count| count.to_string()));
    let rows = offers::inventory_rows(history).into_iter();
    rows.map(|(at, count, held)| vec![Cell::Number(clock(at)), number(count), number(held)]).collect()
}

fn bid_cells(session: Session, offer: Option<engine::unit::id::OfferNo>) -> Vec<Vec<Cell>> {
    let bids = offer.and_then(|no| session.ask(|state| offers::bids(state, no))).unwrap_or_default();
    let cells = bids.into_iter().map(|bid| {
        vec![
            Cell::Link(bid.job.clone(), path::job(&session.name(), &bid.job)),
            Cell::Number(bid.bid),
            Cell::Number(bid.instances.to_string()),
            Cell::Text(bid.state.to_owned()),
            Cell::Number(bid.protected_until.map(clock).unwrap_or_default()),
        ]
    });
    cells.collect()
}
