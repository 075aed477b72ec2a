//! A chart with its sentence. The numbers stand in a table beside it.

use console_model::chart::Chart as Drawing;
use leptos::prelude::*;

use crate::api::charts;
use crate::session::latest::latest;

/// The chart.
#[component]
pub(crate) fn Chart(
    /// What is drawn.
    chart: Memo<Option<Drawing>>,
    /// What it says, for who does not see it.
    #[prop(into)]
    sentence: Signal<String>,
    /// What its lines stand for: the class of each and its words.
    legend: Vec<(&'static str, &'static str)>,
) -> impl IntoView {
    let svg = latest(move || chart.get().map(|chart| async move { charts::draw(&chart).await }));
    let legend =
        legend.into_iter().map(|(ink, words)| view! { <li><span class=format!("ink ink-{ink}")></span>{words}</li> });
    view! {
        <figure class="chart">
            <div role="img" aria-label=sentence><div aria-hidden="true" inner_html=move || svg.get().flatten().unwrap_or_default()></div></div>
            {move || svg.with(|svg| matches!(svg, Some(None))).then(|| view! { <p class="fault">"The chart cannot be drawn now; the table has its numbers."</p> })}
            <figcaption>
                <ul class="legend" aria-label="Lines">{legend.collect_view()}</ul>
                <p>{sentence}</p>
            </figcaption>
        </figure>
    }
}
