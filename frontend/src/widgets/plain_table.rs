//! A small table that can be scrolled with the keyboard. Of a long one only the visible rows are in the document.

use leptos::prelude::*;

use crate::widgets::mark::Mark;
use crate::widgets::scroller::Scroller;
use crate::widgets::use_bar::UseBar;
use console_model::window::extent;

/// The height of a row of a long table: its words are not broken. The stylesheet says the same.
const ROW_HEIGHT: f64 = 37.0;
/// More rows than that are a long table.
const ROWS_MAX: usize = 60;

/// A cell.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Cell {
    /// Words.
    Text(String),
    /// A number, or a time: it stands in a column.
    Number(String),
    /// Words that lead somewhere.
    Link(String, String),
    /// A state: what the stylesheet calls it, its mark and its words.
    State(&'static str, &'static str, String),
    /// How much of something is used, and of how much, in thousandths of a GPU.
    Used(i64, i64),
}

/// The table.
#[component]
pub(crate) fn PlainTable(
    /// What it shows.
    #[prop(into)]
    caption: String,
    /// The columns' names.
    columns: Vec<&'static str>,
    /// The rows.
    #[prop(into)]
    rows: Signal<Vec<Vec<Cell>>>,
    /// Said instead of no rows.
    empty: &'static str,
) -> impl IntoView {
    // They are looked at more than once, and most of what happens leaves them as they are.
    let rows = Memo::new(move |_| rows.get());
    let n_rows = Memo::new(move |_| rows.with(Vec::len));
    let is_long = Memo::new(move |_| n_rows.get() > ROWS_MAX);
    let scroller = Scroller::new(ROW_HEIGHT);
    let range = Memo::new(move |_| if is_long.get() { scroller.range(n_rows.get()) } else { 0..n_rows.get() });
    let heads = columns.into_iter().map(|name| view! { <th scope="col">{name}</th> }).collect_view();
    let cell = |cell: Cell| match cell {
        Cell::Text(text) => view! { <td>{text}</td> }.into_any(),
        Cell::Number(text) => view! { <td class="num">{text}</td> }.into_any(),
        Cell::Link(text, address) => view! { <td><a href=address>{text}</a></td> }.into_any(),
        Cell::State(name, mark, words) => view! { <td><Mark name=name mark=mark words=words /></td> }.into_any(),
        Cell::Used(used, all) => view! { <td><UseBar used=used all=all /></td> }.into_any(),
    };
    let lines = move || {
        let range = range.get();
        let shown = rows.with(|rows| rows.get(range.clone()).unwrap_or_default().to_vec());
        let line = move |(at, row): (usize, Vec<Cell>)| {
            let index = is_long.get_untracked().then_some(at + 2);
            view! { <tr aria-rowindex=index>{row.into_iter().map(cell).collect_view()}</tr> }
        };
        range.zip(shown).map(line).collect_view()
    };
    // The rows above and below, as high as they would be.
    let rest = move |count: usize| {
        let height = format!("{}px", extent(count, ROW_HEIGHT));
        (count > 0)
            .then(|| view! { <tbody aria-hidden="true"><tr><td class="rest" style:height=height></td></tr></tbody> })
    };
    let label = caption.clone();
    view! {
        <div class="plain-table" class:is-long=is_long role="region" tabindex="0" aria-label=label node_ref=scroller.element on:scroll=move |_| scroller.measure()>
            <table aria-rowcount=move || is_long.get().then(|| n_rows.get() + 1)>
                <caption>{caption}</caption>
                <thead><tr>{heads}</tr></thead>
                {move || rest(range.get().start)}
                <tbody>{lines}</tbody>
                {move || rest(n_rows.get() - range.get().end.min(n_rows.get()))}
            </table>
            {move || rows.with(Vec::is_empty).then(|| view! { <p class="nothing">{empty}</p> })}
        </div>
    }
}
