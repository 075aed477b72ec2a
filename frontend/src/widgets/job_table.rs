//! The table of jobs: as many as there are, of which only the visible ones are in the document.

use std::collections::BTreeSet;
use std::sync::Arc;

use engine::unit::id::JobId;
use engine::unit::id::JobNo;
use leptos::prelude::*;

use crate::widgets::scroller::Scroller;
use crate::widgets::scroller::is_on_control;
use crate::widgets::state_mark::StateMark;
use console_model::job_state::JobState;
use console_model::window::extent;

const ROW_HEIGHT: f64 = 40.0;

/// A row.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct JobRow {
    /// The job.
    pub(crate) id: JobId,
    /// Its state.
    pub(crate) state: JobState,
    /// Its place in the queue, if it waits.
    pub(crate) position: Option<usize>,
    /// Its quota.
    pub(crate) quota: String,
    /// Its workspace.
    pub(crate) workspace: String,
    /// Its module.
    pub(crate) module: &'static str,
    /// Its priority.
    pub(crate) priority: u8,
    /// What it asks for.
    pub(crate) gpus: String,
    /// How long ago it was submitted, roughly.
    pub(crate) submitted: String,
    /// Whether it will be cancelled in a moment.
    pub(crate) is_cancelling: bool,
}

/// What the table asks its page to do.
#[derive(Clone, Copy)]
pub(crate) struct JobActions {
    /// Describe a job; nothing if it is gone.
    pub(crate) describe: Callback<JobNo, Option<JobRow>>,
    /// The address of a job's page.
    pub(crate) href: Callback<String, String>,
    /// Open a job's page.
    pub(crate) open: Callback<String>,
    /// Whether the pointer is on the table: rows must not move under it.
    pub(crate) hover: Callback<bool>,
}

/// The table.
#[component]
pub(crate) fn JobTable(
    /// The jobs, top to bottom.
    jobs: Signal<Arc<Vec<JobNo>>>,
    /// The selected jobs.
    selected: RwSignal<BTreeSet<JobId>>,
    /// What it can ask for.
    actions: JobActions,
) -> impl IntoView {
    let scroller = Scroller::new(ROW_HEIGHT);
    let active = RwSignal::new(0usize);
    let n_rows = move || jobs.with(|jobs| jobs.len());
    let range = Memo::new(move |_| scroller.range(n_rows()));
    let shown = move || {
        jobs.with(|jobs| {
            range.get().filter_map(|at| actions.describe.run(*jobs.get(at)?).map(|row| (at, row))).collect::<Vec<_>>()
        })
    };
    let active_row = move || jobs.with_untracked(|jobs| actions.describe.run(*jobs.get(active.get_untracked())?));
    let keydown = move |event: leptos::ev::KeyboardEvent| {
        if is_on_control(&event) || event.ctrl_key() || event.meta_key() || event.alt_key() {
            return;
        }
        let (at, last) = (active.get_untracked(), n_rows().saturating_sub(1));
        let to = match event.key().as_str() {
            "ArrowDown" => (at + 1).min(last),
            "ArrowUp" => at.saturating_sub(1),
            "PageDown" => (at + scroller.page()).min(last),
            "PageUp" => at.saturating_sub(scroller.page()),
            "Home" => 0,
            "End" => last,
            "Enter" => {
                if let Some(row) = active_row() {
                    actions.open.run(row.id.as_str().to_owned());
                }
                at
            }
            " " => {
                if let Some(row) = active_row() {
                    toggle(selected, row.id);
                }
                at
            }
            _ => return,
        };
        event.prevent_default();
        active.set(to);
        scroller.reveal(to);
    };
    view! {
        <div
            class="grid job-grid"
            role="grid"
            tabindex="0"
            aria-label="Jobs"
            aria-multiselectable="true"
            aria-rowcount=move || n_rows() + 1
            aria-activedescendant=move || (n_rows() > 0).then(|| format!("job-row-{}", active.get().min(n_rows() - 1)))
            node_ref=scroller.element
            on:scroll=move |_| scroller.measure()
            on:keydown=keydown
            on:pointerenter=move |_| actions.hover.run(true)
            on:pointerleave=move |_| actions.hover.run(false)
        >
            <div class="grid-head" role="rowgroup">
                <div class="grid-row" role="row" aria-rowindex="1">
                    <div class="cell" role="columnheader"><span class="unseen">"Selected"</span></div>
                    {["Job", "State", "Quota", "Workspace", "Module"].map(|title| view! { <div class="cell" role="columnheader">{title}</div> }).into_iter().collect_view()}
                    {["Priority", "GPUs", "Submitted"].map(|title| view! { <div class="cell num" role="columnheader">{title}</div> }).into_iter().collect_view()}
                </div>
            </div>
            <div role="rowgroup">
                <div role="presentation" style:height=move || format!("{}px", extent(range.get().start, ROW_HEIGHT))></div>
                <For each=shown key=Clone::clone children=move |(at, row)| job_row(at, row, active, selected, actions) />
                <div role="presentation" style:height=move || format!("{}px", extent(n_rows() - range.get().end.min(n_rows()), ROW_HEIGHT))></div>
            </div>
        </div>
    }
}

fn toggle(selected: RwSignal<BTreeSet<JobId>>, job: JobId) {
    selected.update(|selected| {
        if !selected.remove(&job) {
            selected.insert(job);
        }
    });
}

fn job_row(
    at: usize,
    row: JobRow,
    active: RwSignal<usize>,
    selected: RwSignal<BTreeSet<JobId>>,
    actions: JobActions,
) -> impl IntoView {
    let name = row.id.as_str().to_owned();
    let picked = row.id.clone();
    let is_selected = Signal::derive(move || selected.with(|selected| selected.contains(&picked)));
    let id = row.id.clone();
    view! {
        <div
            class="grid-row"
            class:is-active=move || active.get() == at
            class:is-cancelling=row.is_cancelling
            id=format!("job-row-{at}")
            role="row"
            aria-rowindex=at + 2
            aria-selected=move || is_selected.get().to_string()
            on:click=move |_| active.set(at)
        >
            <div class="cell cell-check" role="gridcell">
                <input
                    type="checkbox"
                    tabindex="-1"
                    aria-label=format!("Select {name}")
                    prop:checked=is_selected
                    disabled=row.state.has_ended()
                    on:change=move |_| toggle(selected, id.clone())
                />
            </div>
            <div class="cell cell-name" role="rowheader"><a href=actions.href.run(name.clone()) tabindex="-1">{name.clone()}</a></div>
            <div class="cell" role="gridcell">
                {if row.is_cancelling { view! { <span class="state state-stopping">"Being cancelled"</span> }.into_any() } else { view! { <StateMark state=row.state position=row.position /> }.into_any() }}
            </div>
            <div class="cell" role="gridcell">{row.quota}</div>
            <div class="cell" role="gridcell">{row.workspace}</div>
            <div class="cell" role="gridcell">{row.module}</div>
            <div class="cell num" role="gridcell">{row.priority}</div>
            <div class="cell num" role="gridcell">{row.gpus}</div>
            <div class="cell num" role="gridcell">{row.submitted}</div>
        </div>
    }
}
