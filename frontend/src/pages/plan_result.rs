//! What the chosen variant comes to, next to the base.

use std::time::Duration;

use console_model::section::Section;
use leptos::leptos_dom::helpers::TimeoutHandle;
use leptos::prelude::*;
use planner::page::message::Ended;
use planner::page::table;
use planner::page::timeline::Frame;
use planner::page::whose::Whose;

use crate::session::plan::Plan;
use crate::session::url;
use crate::widgets::fold::Fold;
use crate::widgets::plain_table::Cell;
use crate::widgets::plain_table::PlainTable;
use crate::widgets::plan_courses::PlanCourses;
use crate::widgets::plan_timeline::PlanTimeline;

/// How long a part of the timeline is looked at until the address has it: going back does not go through all of a drag.
const SETTLED: Duration = Duration::from_millis(400);

/// The result.
#[component]
pub(crate) fn PlanResult(plan: Plan) -> impl IntoView {
    let ended = Signal::derive(move || plan.draft().and_then(|draft| draft.ended.get()));
    let name = move || plan.draft().map(|draft| draft.name.get()).unwrap_or_default();
    let told = move |tell: fn(&Ended) -> Vec<Vec<Cell>>| {
        Memo::new(move |_| ended.with(|ended| ended.as_ref().map(|ended| tell(ended)).unwrap_or_default()))
    };
    let parties = told(|ended| ended.parties.iter().map(|line| line.clone().map(Cell::Text).into()).collect());
    let jobs = told(|ended| ended.jobs.iter().map(|line| line.clone().map(Cell::Text).into()).collect());
    let refused =
        Memo::new(move |_| ended.with(|ended| ended.as_ref().map(|ended| ended.refusals.clone()).unwrap_or_default()));
    let (whose, choose) = url::chosen("whose");
    let known =
        Memo::new(move |_| ended.with(|ended| ended.as_ref().map(|ended| ended.whose.clone()).unwrap_or_default()));
    // Somebody without jobs in these runs is everybody.
    let party = Memo::new(move |_| known.with(|known| known.iter().find(|one| one.key() == whose.get()).cloned()));
    Effect::new(move |_| {
        let party = party.get();
        let is_there = plan.base.with(Option::is_some) && ended.with(Option::is_some);
        if let Some(draft) = plan.draft().filter(|_| is_there) {
            plan.look_at_courses(draft.id, party);
        }
    });
    let courses = Signal::derive(move || plan.views().courses.get().filter(|_| ended.with(Option::is_some)));
    view! {
        <section class="card" aria-labelledby="plan-parties">
            <h2 id="plan-parties">"Who wins and who loses: "{name}</h2>
            {move || refused.get().into_iter().map(|line| view! { <p class="warning">{line}</p> }).collect_view()}
            <PlainTable caption="Quotas and offers, base → variant" columns=table::PARTY_COLUMNS.to_vec() rows=parties empty="Nothing to compare yet." />
            <Fold summary="Job by job">
                <PlainTable caption="Jobs that fare the most differently, base → variant" columns=table::JOB_COLUMNS.to_vec() rows=jobs empty="No job fares differently." />
            </Fold>
        </section>
        <section class="card" aria-labelledby="plan-courses">
            <h2 id="plan-courses">"Use and waiting"</h2>
            <PlanCourses courses=courses known=known whose=whose choose=choose />
        </section>
        <section class="card" aria-labelledby="plan-timeline"><h2 id="plan-timeline">"Who runs when"</h2><Runs plan=plan party=party /></section>
    }
}

/// The timeline of the variant, or of the base.
#[component]
fn Runs(plan: Plan, party: Memo<Option<Whose>>) -> impl IntoView {
    let (run, set_run) = url::chosen("run");
    let (address, write) = url::chosen("window");
    let is_base = Memo::new(move |_| run.with(|run| run == "base"));
    let variant = move || plan.draft().filter(|_| !is_base.get());
    let ended = Signal::derive(move || match variant() {
        Some(draft) => draft.ended.get(),
        None => plan.base.get(),
    });
    let length = Memo::new(move |_| ended.with(|ended| ended.as_ref().map(|ended| ended.until - ended.from)));
    // What is looked at until the address has it.
    let moving = RwSignal::new(None::<Section>);
    let section = Memo::new(move |_| {
        let length = length.get()?;
        Some((moving.get().unwrap_or_else(|| Section::read(&address.get(), length)), length))
    });
    let settled = move || {
        if let (Some(section), Some(length)) = (moving.get_untracked(), length.get_untracked()) {
            write.run(section.text(length));
        }
        // Nothing to write either where the run has gone meanwhile.
        moving.set(None);
    };
    let timer = StoredValue::new(None::<TimeoutHandle>);
    let stop = move || {
        if let Some(Some(timer)) = timer.try_update_value(Option::take) {
            timer.clear();
        }
    };
    on_cleanup(stop);
    let go = Callback::new(move |section: Section| {
        moving.set(Some(section));
        stop();
        timer.set_value(set_timeout_with_handle(settled, SETTLED).ok());
    });
    let width = RwSignal::new(1000);
    Effect::new(move |_| {
        let (whose, width) = (party.get(), width.get());
        let variant = variant().map(|draft| draft.id);
        let (Some(from), Some((section, _))) =
            (ended.with(|ended| ended.as_ref().map(|ended| ended.from)), section.get())
        else {
            return;
        };
        let frame = Frame { whose, from: from + section.from, until: from + section.until, width };
        plan.look_at_timeline(variant, frame);
    });
    let view = Signal::derive(move || plan.views().timeline.get().filter(|_| ended.with(Option::is_some)));
    let choose = move |event| set_run.run(if event_target_checked(&event) { "base".to_owned() } else { String::new() });
    view! {
        <label class="check"><input type="checkbox" prop:checked=is_base on:change=choose />"Show the base instead"</label>
        <PlanTimeline view=view section=section go=go width=width />
    }
}
