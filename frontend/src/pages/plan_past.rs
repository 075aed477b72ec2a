//! Since when the past is a plan's beginning: a time or a revision, as far back as the log is kept.

use engine::unit::time::Millis;
use leptos::prelude::*;
use planner::page::message::Since;

use crate::api::browser;
use crate::session::plan::Plan;

/// How far back one looks first, and from there on.
pub(crate) const USUAL: Millis = Millis(7 * Millis::DAY.0);

/// The moment that an address names: a time, or a revision as in `r1234`; nothing is a week ago.
pub(crate) fn read(since: &str) -> Since {
    let revision = since.strip_prefix('r').and_then(|number| number.parse().ok());
    let time = || browser::read_moment(since).unwrap_or_else(|| browser::now() - USUAL);
    revision.map_or_else(|| Since::Time(time()), Since::Revision)
}

/// The fields, and how far the log has been read.
#[component]
pub(crate) fn PlanPast(
    /// The plan.
    plan: Plan,
    /// The moment in the address.
    since: Signal<String>,
    /// Chooses another moment.
    choose: Callback<String>,
) -> impl IntoView {
    let time = move || match read(&since.get()) {
        Since::Time(time) => browser::local(time),
        Since::Revision(_) => String::new(),
    };
    let revision = move || match read(&since.get()) {
        Since::Time(_) => String::new(),
        Since::Revision(revision) => revision.to_string(),
    };
    let to_time = move |text: String| {
        if let Some(time) = browser::read_moment(&text) {
            choose.run(browser::moment(time));
        }
    };
    let to_revision = move |text: String| {
        if let Ok(revision) = text.trim().parse::<u64>() {
            choose.run(format!("r{revision}"));
        }
    };
    let words = move || {
        plan.reading.get().map(|reading| {
            let at = reading.at.map(|at| format!(", {}", browser::clock(at))).unwrap_or_default();
            format!("Reading the log: {} entries{at}", reading.entries)
        })
    };
    let is_reading = Memo::new(move |_| plan.reading.with(Option::is_some));
    view! {
        <div class="form-row">
            <div class="field">
                <label for="plan-since">"Since"</label>
                <input type="datetime-local" step="1" id="plan-since" prop:value=time on:change=move |event| to_time(event_target_value(&event)) />
            </div>
            <div class="field">
                <label for="plan-revision">"or since revision"</label>
                <input type="number" min="0" step="1" id="plan-revision" prop:value=revision on:change=move |event| to_revision(event_target_value(&event)) />
            </div>
        </div>
        <div class="plan-pace" hidden=move || !is_reading.get()>
            <progress max="1000" aria-label="Reading the log" value=move || plan.reading.get().map_or(0, |reading| reading.done)></progress>
            <span class="hint">{words}</span>
            <button type="button" class="quiet" on:click=move |_| plan.stop_reading()>"Stop reading"</button>
        </div>
    }
}
