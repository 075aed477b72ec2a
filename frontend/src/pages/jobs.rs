//! All jobs.

use std::collections::BTreeSet;
use std::sync::Arc;

use engine::message::command::CancelJob;
use engine::message::command::Command;
use engine::state::world::State;
use engine::unit::id::JobId;
use engine::unit::id::JobNo;
use engine::unit::sort;
use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::use_navigate;

use crate::api::browser;
use crate::pages::address::title;
use crate::session::Session;
use crate::session::url;
use crate::widgets::action_button::ActionButton;
use crate::widgets::choice::Choice;
use crate::widgets::field::TextField;
use crate::widgets::job_table::JobActions;
use crate::widgets::job_table::JobRow;
use crate::widgets::job_table::JobTable;
use console_model::duration::rough;
use console_model::explained;
use console_model::gpus;
use console_model::job_filter::JobFilter;
use console_model::job_filter::JobSort;
use console_model::job_filter::module;
use console_model::job_filter::select;
use console_model::job_state::JobState;
use console_model::path;

/// The page.
#[component]
pub(crate) fn JobsPage() -> impl IntoView {
    let session = Session::here();
    title(|| "Jobs".to_owned());
    let (search, set_search) = url::typed("q");
    let (quota, set_quota) = url::chosen("quota");
    let (state, set_state) = url::chosen("state");
    let (module_name, set_module) = url::chosen("module");
    let (sort, set_sort) = url::chosen("sort");
    let filter = Memo::new(move |_| JobFilter {
        search: search.get(),
        quota: quota.get(),
        state: JobState::parse(&state.get()),
        module: module(&module_name.get()),
        sort: JobSort::parse(&sort.get()),
    });
    let selected = RwSignal::new(BTreeSet::<JobId>::new());
    let is_hovered = RwSignal::new(false);
    let order = held_order(session, filter, is_hovered);
    let navigate = use_navigate();
    let actions = JobActions {
        describe: describe(session),
        href: Callback::new(move |job: String| path::job(&session.name(), &job)),
        open: Callback::new(move |job: String| navigate(&path::job(&session.name(), &job), NavigateOptions::default())),
        hover: Callback::new(move |is_here| is_hovered.set(is_here)),
    };
    // What is not to be seen is not cancelled: another filter begins another selection.
    Effect::new(move |before: Option<()>| {
        filter.with(|_| ());
        if before.is_some() {
            selected.set(BTreeSet::new());
        }
    });
    let chosen = Memo::new(move |_| selected.with(|selected| not_ended(session, selected)));
    let denied =
        Signal::derive(move || chosen.with(|chosen| chosen.iter().find_map(|job| not_to_cancel(session, job))));
    let cancel_label = Signal::derive(move || match chosen.with(BTreeSet::len) {
        0 => "Cancel selected".to_owned(),
        n_jobs => format!("Cancel {n_jobs} selected"),
    });
    let cancel = Callback::new(move |()| {
        session.cancel_soon(chosen.get_untracked().into_iter().collect());
        selected.set(BTreeSet::new());
    });
    let count = move || {
        let all = session.ask(|state| state.jobs.len()).unwrap_or_default();
        order.with(
            |order| if order.len() == all { format!("{all} jobs") } else { format!("{} of {all} jobs", order.len()) },
        )
    };
    view! {
        <div class="page-head">
            <h1>"Jobs"</h1>
            <a class="button" href=move || path::submit(&session.name())>"Submit a job"</a>
        </div>
        <div class="toolbar">
            <TextField id="job-filter" label="Name, workspace or user" value=search change=set_search />
            <Choice id="quota-filter" label="Quota and below" options=quota_options(session, "All quotas") value=quota change=set_quota />
            <Choice id="state-filter" label="State" options=Signal::stored(state_options()) value=state change=set_state />
            <Choice id="module-filter" label="Module" options=Signal::stored(module_options()) value=module_name change=set_module />
            <Choice id="sort" label="Order" options=Signal::stored(sort_options()) value=Signal::derive(move || JobSort::parse(&sort.get()).as_str().to_owned()) change=set_sort />
            <ActionButton id="cancel-selected" label=cancel_label denied=denied is_idle=Signal::derive(move || chosen.with(BTreeSet::is_empty)) ends=true act=cancel />
            <p class="hint" role="status">{count}</p>
        </div>
        {move || order.with(|order| order.is_empty()).then(|| view! { <p class="nothing">"No job matches these filters."</p> })}
        <JobTable jobs=order selected=selected actions=actions />
    }
}

/// Those of some jobs that there is something to cancel of.
fn not_ended(session: Session, jobs: &BTreeSet<JobId>) -> BTreeSet<JobId> {
    if jobs.is_empty() {
        return BTreeSet::new();
    }
    let is_there = |state: &State, job: &JobId| {
        state.jobs.find(job).and_then(|no| state.jobs.get(no)).is_some_and(|job| !job.is_ended())
    };
    session.ask(|state| jobs.iter().filter(|job| is_there(state, job)).cloned().collect()).unwrap_or_default()
}

/// Why one may not cancel a job, with the job's name: it is one of several.
fn not_to_cancel(session: Session, job: &JobId) -> Option<String> {
    let reason = session.denied(&Command::CancelJob(CancelJob { job: job.clone() }))?;
    Some(format!("{job}: {reason}"))
}

/// The jobs in order; while the pointer is on the table, only a new filter changes it, so that no row jumps away.
fn held_order(session: Session, filter: Memo<JobFilter>, is_hovered: RwSignal<bool>) -> Signal<Arc<Vec<JobNo>>> {
    let order = RwSignal::new(Arc::new(Vec::new()));
    Effect::new(move |before: Option<JobFilter>| {
        let filter = filter.get();
        let is_held = is_hovered.get() && before.as_ref() == Some(&filter);
        let found = session.ask(|state| (!is_held).then(|| select(state, &filter))).flatten();
        if let Some(found) = found.filter(|found| order.with_untracked(|order| **order != *found)) {
            order.set(Arc::new(found));
        }
        filter
    });
    order.into()
}

/// Describes a job as the table shows it.
fn describe(session: Session) -> Callback<JobNo, Option<JobRow>> {
    let positions =
        Memo::new(move |_| Arc::new(session.ask(|state| explained::places(state, browser::now())).unwrap_or_default()));
    let minute = session.minute();
    Callback::new(move |no: JobNo| {
        minute.get();
        let now = session.now.get_untracked();
        let row = session.ask(|state| {
            let job = state.jobs.get(no)?;
            let spec = &job.spec;
            Some(JobRow {
                id: spec.id.clone(),
                state: JobState::of(job),
                position: positions.with(|positions| positions.get(&no).copied()),
                quota: state.drawn_on(spec).to_owned(),
                workspace: spec.workspace.as_ref().map_or_else(|| "–".to_owned(), ToString::to_string),
                module: spec.module.as_str(),
                priority: spec.priority.get(),
                gpus: gpus::bare(state.cluster.gpus(&spec.shape.gang_amount())),
                submitted: rough(now - job.submitted),
                is_cancelling: session.cancelling.with(|cancelling| cancelling.contains(&spec.id)),
            })
        });
        row.flatten()
    })
}

/// The quotas by name, with a first option that chooses none.
pub(crate) fn quota_options(session: Session, none: &'static str) -> Signal<Vec<(String, String)>> {
    let names = Memo::new(move |_| {
        let mut names: Vec<String> = session
            .ask(|state| state.live_quotas().map(|(_, quota)| quota.id.as_str().to_owned()).collect())
            .unwrap_or_default();
        sort::by_cached_key(&mut names, |name| console_model::tree_rows::natural(name));
        names
    });
    Signal::derive(move || {
        let first = std::iter::once((String::new(), none.to_owned()));
        first.chain(names.get().into_iter().map(|name| (name.clone(), name))).collect()
    })
}

fn state_options() -> Vec<(String, String)> {
    let all = JobState::ALL.map(|state| (state.as_str().to_owned(), state.words().to_owned()));
    std::iter::once((String::new(), "Any state".to_owned())).chain(all).collect()
}

fn module_options() -> Vec<(String, String)> {
    let all =
        engine::unit::priority::Module::ALL.map(|module| (module.as_str().to_owned(), module.as_str().to_owned()));
    std::iter::once((String::new(), "Any module".to_owned())).chain(all).collect()
}

fn sort_options() -> Vec<(String, String)> {
    JobSort::ALL.map(|sort| (sort.as_str().to_owned(), sort.words().to_owned())).into()
}
