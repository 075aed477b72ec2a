//! Who runs where and when: a picture of a part of a run's time that is zoomed and moved, with a table.

use std::sync::Arc;

use console_model::section::Section;
use engine::unit::time::Millis;
use leptos::html::Div;
use leptos::prelude::*;
use planner::page::timeline;
use planner::page::timeline::View;

use crate::widgets::fold::Fold;
use crate::widgets::gesture::Gesture;
use crate::widgets::plain_table::Cell;
use crate::widgets::plain_table::PlainTable;

/// What a step of a zoom comes to, in thousandths.
const IN: i64 = 500;
const OUT: i64 = 2000;
/// What a step to a side comes to.
const STEP: i64 = 250;
/// What a key moves by.
const KEY: i64 = 100;

/// The timeline.
#[component]
pub(crate) fn PlanTimeline(
    /// What is seen.
    view: Signal<Option<Arc<View>>>,
    /// Which part of the run that is, and how long the run is.
    section: Memo<Option<(Section, Millis)>>,
    /// Looks at another part.
    go: Callback<Section>,
    /// How wide the picture is, in CSS pixels.
    width: RwSignal<i64>,
) -> impl IntoView {
    let element = NodeRef::<Div>::new();
    let measure = move || {
        let wide = element.get().map_or(0, |element| i64::from(element.client_width()));
        if wide > 0 && wide != width.get_untracked() {
            width.set(wide);
        }
    };
    // It has no width while nothing is open.
    Effect::new(move |_| {
        if section.with(Option::is_some) {
            measure();
        }
    });
    let resized = window_event_listener(leptos::ev::resize, move |_| measure());
    on_cleanup(move || resized.remove());
    let step = move |step: fn(Section, Millis) -> Section| {
        if let Some((section, length)) = section.get_untracked() {
            go.run(step(section, length));
        }
    };
    let keydown = move |event: leptos::ev::KeyboardEvent| {
        if event.ctrl_key() || event.meta_key() || event.alt_key() {
            return;
        }
        match event.key().as_str() {
            "ArrowLeft" => step(|section, length| section.moved(-KEY, length)),
            "ArrowRight" => step(|section, length| section.moved(KEY, length)),
            "PageUp" => step(|section, length| section.moved(-1000, length)),
            "PageDown" => step(|section, length| section.moved(1000, length)),
            "Home" => step(|section, length| section.moved(i64::MIN, length)),
            "End" => step(|section, length| section.moved(i64::MAX, length)),
            "+" | "=" => step(|section, length| section.zoomed(IN, 500, length)),
            "-" => step(|section, length| section.zoomed(OUT, 500, length)),
            "0" => step(|_, length| Section::whole(length)),
            _ => return,
        }
        event.prevent_default();
    };
    let gesture = Gesture::new(element, section, go);
    let picture = Memo::new(move |_| view.with(|view| view.as_ref().map(|view| view.picture.clone())));
    let sentence = Memo::new(move |_| view.with(|view| view.as_ref().map(|view| view.sentence.clone())));
    let rows = Memo::new(move |_| {
        let rows = view.with(|view| view.as_ref().map(|view| view.rows.clone()));
        rows.unwrap_or_default().into_iter().map(|row| row.map(Cell::Text).into()).collect::<Vec<Vec<Cell>>>()
    });
    let button = move |words: &'static str, to: fn(Section, Millis) -> Section| {
        view! { <button type="button" on:click=move |_| step(to)>{words}</button> }
    };
    view! {
        <figure class="gantt">
            <div class="gantt-buttons" role="group" aria-label="Part of the run that is shown">
                {button("Earlier", |section, length| section.moved(-STEP, length))}
                {button("Later", |section, length| section.moved(STEP, length))}
                {button("Zoom in", |section, length| section.zoomed(IN, 500, length))}
                {button("Zoom out", |section, length| section.zoomed(OUT, 500, length))}
                {button("Whole run", |_, length| Section::whole(length))}
            </div>
            <div
                class="gantt-picture"
                class:is-held=gesture.is_held
                role="group"
                tabindex="0"
                aria-label="Timeline"
                aria-describedby="plan-timeline-keys"
                node_ref=element
                on:keydown=keydown
                on:pointerdown=move |event| gesture.down(&event)
                on:pointermove=move |event| gesture.moves(&event)
                on:pointerup=move |event| gesture.up(&event)
                on:pointercancel=move |event| gesture.up(&event)
                on:dblclick=move |event| gesture.double(&event)
                on:wheel=move |event| gesture.wheel(&event)
            >
                <div role="img" aria-label=move || sentence.get().unwrap_or_default()>
                    <div aria-hidden="true" inner_html=move || picture.get().unwrap_or_default()></div>
                </div>
            </div>
            <figcaption>
                <ul class="legend" aria-label="Colours of the timeline">
                    <li><span class="swatch bar-own"></span>"own GPUs"</li>
                    <li><span class="swatch bar-lent"></span>"idle GPUs of others"</li>
                    <li><span class="swatch bar-borrowed"></span>"spot market"</li>
                    <li><span aria-hidden="true">"✕"</span>"evicted"</li>
                </ul>
                <p aria-live="polite">{move || sentence.get()}</p>
                <p class="hint" id="plan-timeline-keys">"Drag it to move in time; turn the wheel with Ctrl, pinch or click twice to zoom. Keys: arrows and Page Up and Down move, + and − zoom, Home and End go to the ends, 0 shows the whole run."</p>
            </figcaption>
        </figure>
        <Fold summary="The same as a table">
            <PlainTable caption="Stretches of running in this part, the first hundred" columns=timeline::SPAN_COLUMNS.to_vec() rows=rows empty="Nobody runs." />
        </Fold>
    }
}
