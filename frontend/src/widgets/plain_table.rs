//! A small table that can be scrolled with the keyboard.

use leptos::prelude::*;

/// A cell.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Cell {
    /// Words.
    Text(String),
    /// A number, or a time: it stands in a column.
    Number(String),
    /// Words that lead somewhere.
    Link(String, String),
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
    // They are looked at twice, and most of what happens leaves them as they are.
    let rows = Memo::new(move |_| rows.get());
    let heads = columns.into_iter().map(|name| view! { <th scope="col">{name}</th> }).collect_view();
    let cell = |cell: Cell| match cell {
        Cell::Text(text) => view! { <td>{text}</td> }.into_any(),
        Cell::Number(text) => view! { <td class="num">{text}</td> }.into_any(),
        Cell::Link(text, address) => view! { <td><a href=address>{text}</a></td> }.into_any(),
    };
    let lines = move || {
        let rows = rows.get();
        let lines = rows.into_iter().map(|row| view! { <tr>{row.into_iter().map(cell).collect_view()}</tr> });
        lines.collect_view()
    };
    let label = caption.clone();
    view! {
        <div class="plain-table" role="region" tabindex="0" aria-label=label>
            <table>
                <caption>{caption}</caption>
                <thead><tr>{heads}</tr></thead>
                <tbody>{lines}</tbody>
            </table>
            {move || rows.with(Vec::is_empty).then(|| view! { <p class="nothing">{empty}</p> })}
        </div>
    }
}
