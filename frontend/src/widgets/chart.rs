//! A chart with its sentence. The numbers stand in a table beside it.

use console_model::chart::Chart as Drawing;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::api::charts;

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
    let svg = RwSignal::new(Some(String::new()));
    Effect::new(move |_| {
        let Some(chart) = chart.get() else { return };
        spawn_local(async move {
            let drawn = charts::draw(&chart).await;
            // The page may have been left meanwhile.
            svg.try_set(drawn);
        });
    });
    let legend =
        legend.into_iter().map(|(ink, words)| view! { <li><span class=format!("ink ink-{ink}")></span>{words}</li> });
    view! {
        <figure class="chart">
            <div role="img" aria-label=sentence><div aria-hidden="true" inner_html=move || svg.get().unwrap_or_default()></div></div>
            {move || svg.with(Option::is_none).then(|| view! { <p class="fault">"The chart cannot be drawn now; the table has its numbers."</p> })}
            <figcaption>
                <ul class="legend" aria-label="Lines">{legend.collect_view()}</ul>
                <p>{sentence}</p>
            </figcaption>
        </figure>
    }
}
