//! The cluster in a few numbers.

use leptos::prelude::*;

use console_model::books::Book;
use console_model::gpus::bare;

/// What the strip shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    /// All roots together.
    pub(crate) book: Book,
    /// Scheduled rounds that did not take place.
    pub(crate) missed_rounds: i64,
}

/// The strip.
#[component]
pub(crate) fn Overview(
    /// The numbers.
    totals: Memo<Totals>,
) -> impl IntoView {
    let figure = |label: &'static str, value: Signal<String>, note: Signal<String>| {
        view! {
            <div class="figure">
                <dt>{label}</dt>
                <dd><b>{value}</b><span class="hint">{note}</span></dd>
            </div>
        }
    };
    let gpus = move |part: fn(&Book) -> i64| Signal::derive(move || totals.with(|totals| bare(part(&totals.book))));
    let of_guaranteed = move |part: fn(&Book) -> i64| {
        Signal::derive(move || {
            totals.with(|totals| {
                let share = (part(&totals.book) * 100).checked_div(totals.book.guaranteed);
                share.map(|share| format!("{share} %")).unwrap_or_default()
            })
        })
    };
    let still = |text: &'static str| Signal::stored(text.to_owned());
    let n_waiting = Signal::derive(move || totals.with(|totals| totals.book.n_waiting.to_string()));
    let waiting_gpus = Signal::derive(move || {
        totals.with(|totals| {
            if totals.book.n_waiting == 0 {
                "nobody waits".to_owned()
            } else {
                format!("for {} GPUs", bare(totals.book.waiting))
            }
        })
    });
    let missed = Signal::derive(move || totals.with(|totals| totals.missed_rounds.to_string()));
    let lateness = Signal::derive(move || {
        let has_missed = totals.with(|totals| totals.missed_rounds > 0);
        let words = if has_missed {
            "minutes in all when the service did not run; the next round made up for them"
        } else {
            "one each minute"
        };
        words.to_owned()
    });
    let n_running = Signal::derive(move || totals.with(|totals| totals.book.n_running.to_string()));
    view! {
        <section class="overview" aria-label="Overview"><dl>
            {figure("Guaranteed", gpus(|book| book.guaranteed), still("GPUs"))}
            {figure("In quota", gpus(|book| book.own + book.children), of_guaranteed(|book| book.own + book.children))}
            {figure("Lent out", gpus(|book| book.lent), of_guaranteed(|book| book.lent))}
            {figure("Idle", gpus(|book| book.idle), of_guaranteed(|book| book.idle))}
            {figure("Running jobs", n_running, still(""))}
            {figure("Waiting jobs", n_waiting, waiting_gpus)}
            {figure("Missed rounds", missed, lateness)}
        </dl></section>
    }
}
