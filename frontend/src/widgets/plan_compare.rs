//! Variants beside each other: a line for each figure, a column for each variant.

use std::sync::Arc;

use leptos::prelude::*;
use planner::page::message::Ended;
use planner::page::range;
use planner::page::range::Range;
use planner::page::range::Verdict;
use planner::page::table::Change;
use planner::page::table::Figure;

/// A column.
#[derive(Clone, PartialEq)]
pub(crate) struct Column {
    /// What people call it.
    pub(crate) name: String,
    /// What it comes to, once that is known.
    pub(crate) ended: Option<Arc<Ended>>,
    /// How far its figures may go by chance, once that is known.
    pub(crate) ranges: Vec<Range>,
}

/// The table; its first column is what the others are compared with.
#[component]
pub(crate) fn PlanCompare(
    /// The columns.
    columns: Signal<Vec<Column>>,
) -> impl IntoView {
    let known = Memo::new(move |_| {
        let told = columns.get().into_iter().map(|column| {
            let figures = column.ended.as_ref().map(|ended| (ended.figures.clone(), fortunes(ended)));
            // Nothing is told of a run that was given up.
            let ranges = if figures.is_some() { column.ranges } else { Vec::new() };
            (column.name, figures, ranges)
        });
        told.collect::<Vec<_>>()
    });
    let heads = move || known.get().into_iter().map(|(name, ..)| view! { <th scope="col">{name}</th> }).collect_view();
    let lines = move || {
        let known = known.get();
        let Some(Some((base, _))) = known.first().map(|(_, figures, _)| figures.as_ref()) else { return Vec::new() };
        let line = |(at, figure): (usize, &Figure)| {
            let cells = known.iter().map(|(_, figures, ranges)| match ranges.get(at) {
                Some(range) => ranged(range),
                None => cell(figures.as_ref().and_then(|(figures, _)| figures.get(at)), figure),
            });
            view! { <tr><th scope="row">{figure.label.clone()}</th>{cells.collect_view()}</tr> }.into_any()
        };
        let mut lines: Vec<AnyView> = base.iter().enumerate().map(line).collect();
        let fortunes = known.iter().map(|(_, figures, _)| {
            let words = figures.as_ref().map_or_else(|| "…".to_owned(), |(_, fortunes)| fortunes.clone());
            view! { <td class="num">{words}</td> }
        });
        lines.insert(
            0,
            view! { <tr><th scope="row">"Jobs better off / worse off"</th>{fortunes.collect_view()}</tr> }.into_any(),
        );
        lines
    };
    let chance = move || {
        let is_known = known.with(|known| known.iter().any(|(.., ranges)| !ranges.is_empty()));
        is_known.then(|| view! { <p class="hint">{range::words()}</p> })
    };
    view! {
        {chance}
        <div class="plain-table plan-compare" role="region" tabindex="0" aria-label="Variants side by side">
            <table>
                <caption>"Variants side by side"</caption>
                <thead><tr><th scope="col">"Figure"</th>{heads}</tr></thead>
                <tbody>{lines}</tbody>
            </table>
        </div>
    }
}

fn fortunes(ended: &Ended) -> String {
    ended.fortunes.map_or_else(|| "–".to_owned(), |(winners, losers)| format!("{winners} / {losers}"))
}

fn cell(figure: Option<&Figure>, base: &Figure) -> AnyView {
    let Some(figure) = figure else { return view! { <td class="num">"…"</td> }.into_any() };
    told(figure.text.clone(), figure.against(base))
}

/// Of several runs: nothing is said that some of them deny.
fn ranged(range: &Range) -> AnyView {
    let text = range.text();
    match range.verdict {
        Verdict::Same => told(text, Change::Same),
        Verdict::Better => told(text, Change::Better),
        Verdict::Worse => told(text, Change::Worse),
        Verdict::Unclear => view! { <td class="num">{text}" no clear difference"</td> }.into_any(),
    }
}

/// Better and worse have a sign and a word, so that colour is not needed.
fn told(text: String, change: Change) -> AnyView {
    let (class, sign, word) = match change {
        Change::Same => return view! { <td class="num">{text}</td> }.into_any(),
        Change::Better => ("is-better", "▲", "better"),
        Change::Worse => ("is-worse", "▼", "worse"),
    };
    view! { <td class=format!("num {class}")>{text}" "<span aria-hidden="true">{sign}</span><span class="unseen">{word}</span></td> }.into_any()
}
