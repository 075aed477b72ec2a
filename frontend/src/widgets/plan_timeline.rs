//! Who runs where and when, as a picture with a table.

use std::sync::Arc;

use leptos::prelude::*;
use workbench::message::Ended;
use workbench::table;

use crate::widgets::fold::Fold;
use crate::widgets::plain_table::Cell;
use crate::widgets::plain_table::PlainTable;

/// The timeline.
#[component]
pub(crate) fn PlanTimeline(
    /// What it shows.
    ended: Signal<Option<Arc<Ended>>>,
) -> impl IntoView {
    let picture = Memo::new(move |_| ended.with(|ended| ended.as_ref().map(|ended| ended.picture.clone())));
    let sentence =
        Memo::new(move |_| ended.with(|ended| ended.as_ref().map(|ended| table::of_timeline(&ended.timeline))));
    let rows = Signal::derive(move || {
        let rows = ended.with(|ended| ended.as_ref().map(|ended| table::spans(&ended.timeline, ended.outcome.from)));
        let cells = |row: [String; 6]| row.into_iter().map(Cell::Text).collect();
        rows.unwrap_or_default().into_iter().map(cells).collect::<Vec<Vec<Cell>>>()
    });
    view! {
        <figure class="gantt">
            <div role="img" aria-label=move || sentence.get().unwrap_or_default()>
                <div aria-hidden="true" inner_html=move || picture.get().unwrap_or_default()></div>
            </div>
            <figcaption>
                <ul class="legend" aria-label="Colours of the timeline">
                    <li><span class="swatch bar-own"></span>"own GPUs"</li>
                    <li><span class="swatch bar-lent"></span>"idle GPUs of others"</li>
                    <li><span class="swatch bar-borrowed"></span>"spot market"</li>
                    <li><span aria-hidden="true">"✕"</span>"evicted"</li>
                </ul>
                <p>{move || sentence.get()}</p>
            </figcaption>
        </figure>
        <Fold summary="The same as a table">
            <PlainTable caption="Stretches of running" columns=table::SPAN_COLUMNS.to_vec() rows=rows empty="Nobody runs." />
        </Fold>
    }
}
