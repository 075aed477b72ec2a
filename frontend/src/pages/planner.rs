//! What if: variants of a beginning, side by side, before anybody does anything.
//!
//! The page stands in a cluster, where a plan can begin with its state and be applied, and on its own for plans that
//! somebody shared.

use std::sync::Arc;

use leptos::prelude::*;
use workbench::message::Ended;
use workbench::table;

use crate::pages::app::title;
use crate::pages::plan_apply::PlanApply;
use crate::pages::plan_base::PlanBase;
use crate::pages::plan_variants::PlanVariants;
use crate::session::plan::Plan;
use crate::session::under_way::Progress;
use crate::widgets::fold::Fold;
use crate::widgets::plain_table::Cell;
use crate::widgets::plain_table::PlainTable;
use crate::widgets::plan_compare::Column;
use crate::widgets::plan_compare::PlanCompare;
use crate::widgets::plan_courses::PlanCourses;
use crate::widgets::plan_moment::PlanMoment;
use crate::widgets::plan_search::PlanSearch;
use crate::widgets::plan_timeline::PlanTimeline;

/// The page.
#[component]
pub(crate) fn PlannerPage() -> impl IntoView {
    title(|| "Planner".to_owned());
    let plan = Plan::new();
    let moment = Signal::derive(move || plan.draft().and_then(|draft| draft.moment.get()));
    let columns = Signal::derive(move || {
        let base = Column { name: "Base".to_owned(), ended: plan.base.get() };
        let variants = plan.variants.get();
        let variants = variants.into_iter().map(|draft| Column { name: draft.name.get(), ended: draft.ended.get() });
        std::iter::once(base).chain(variants).collect()
    });
    let failed = move || plan.failed.get().map(|failed| view! { <p class="warning" role="alert">{failed}</p> });
    let search = move || {
        let facts = plan.facts.get()?;
        let look = Callback::new(move |(goal, family)| plan.search(goal, family));
        let take = Callback::new(move |command| {
            let Some(draft) = untrack(|| plan.draft()) else { return };
            let at = plan.facts.with_untracked(|facts| facts.as_ref().map(|facts| facts.from)).unwrap_or_default();
            let item = plan.item(engine::message::plan::Change { at, command, is_off: false });
            draft.items.update(|items| items.push(item));
            plan.found.set(None);
            plan.run(draft);
        });
        Some(view! { <PlanSearch facts=facts found=plan.found look=look take=take /> })
    };
    let is_open = Memo::new(move |_| plan.facts.with(Option::is_some));
    view! {
        <div class="page-head"><h1>"Planner"</h1></div>
        <PlanBase plan=plan />
        {failed}
        <div hidden=move || !is_open.get()>
            <div class="plan-columns">
                <div>
                    <section class="card" aria-labelledby="plan-changes"><h2 id="plan-changes">"Changes"</h2><PlanVariants plan=plan /></section>
                    <section class="card" aria-labelledby="plan-apply"><h2 id="plan-apply">"Apply or share"</h2><PlanApply plan=plan /></section>
                    <section class="card" aria-labelledby="plan-search"><h2 id="plan-search">"Search"</h2>{search}</section>
                </div>
                <div>
                    <section class="card" aria-labelledby="plan-moment"><h2 id="plan-moment">"At once"</h2><PlanMoment moment=moment /></section>
                    <section class="card" aria-labelledby="plan-result">
                        <h2 id="plan-result">"Over time"</h2>
                        <Pace plan=plan />
                        <PlanCompare columns=columns />
                    </section>
                </div>
            </div>
            <Result plan=plan />
        </div>
    }
}

/// How far it has come, or how fast it was.
#[component]
fn Pace(plan: Plan) -> impl IntoView {
    let is_busy = Memo::new(move |_| plan.progress.with(Option::is_some));
    let words = move || match (plan.progress.get(), plan.pace.get()) {
        (Some(Progress { done, events, since, now }), _) => {
            format!("{} %: {}", done / 10, rate(events, (now - since).0))
        }
        (None, Some((events, ms))) => rate(events, ms),
        (None, None) => String::new(),
    };
    let given_up = move || {
        let words = "What was under way has been given up. Any change takes it up again.";
        plan.is_cancelled.get().then(|| view! { <p>{words}</p> })
    };
    view! {
        <div aria-live="polite">{given_up}</div>
        <div class="plan-pace">
            <progress max="1000" aria-label="Progress" class:is-idle=move || !is_busy.get() value=move || plan.progress.get().map_or(1000, |progress| progress.done)></progress>
            <span class="hint">{words}</span>
            <button type="button" class="quiet" disabled=move || !is_busy.get() on:click=move |_| plan.cancel()>"Cancel"</button>
        </div>
    }
}

fn rate(events: u64, ms: i64) -> String {
    if ms < 50 {
        return format!("{events} events");
    }
    let a_second = i128::from(events) * 1000 / i128::from(ms);
    format!("{events} events, {a_second} a second")
}

/// What the chosen variant comes to, next to the base.
#[component]
fn Result(plan: Plan) -> impl IntoView {
    let ended = Signal::derive(move || plan.draft().and_then(|draft| draft.ended.get()));
    let name = move || plan.draft().map(|draft| draft.name.get()).unwrap_or_default();
    let pair = Signal::derive(move || plan.base.get().zip(ended.get()));
    let shows_base = RwSignal::new(false);
    let shown = Signal::derive(move || if shows_base.get() { plan.base.get() } else { ended.get() });
    let compared = move |tell: fn(&Ended, &Ended) -> Vec<Vec<Cell>>| {
        Signal::derive(move || {
            pair.with(|pair| pair.as_ref().map(|(base, ended)| tell(base, ended)).unwrap_or_default())
        })
    };
    let parties = compared(|base, ended| {
        let difference = ended.difference.as_ref();
        let lines = difference.map(|difference| table::parties(&base.outcome, &ended.outcome, difference));
        lines.unwrap_or_default().into_iter().map(|line| line.map(Cell::Text).into()).collect()
    });
    let jobs = compared(|_, ended| {
        let lines = ended.difference.as_ref().map(table::jobs).unwrap_or_default();
        lines.into_iter().map(|line| line.map(Cell::Text).into()).collect()
    });
    let refused =
        move || ended.get().map(|ended: Arc<Ended>| table::refusals(&ended.outcome)).filter(|told| !told.is_empty());
    view! {
        <section class="card" aria-labelledby="plan-parties">
            <h2 id="plan-parties">"Who wins and who loses: "{name}</h2>
            {move || refused().map(|lines| lines.into_iter().map(|line| view! { <p class="warning">{line}</p> }).collect_view())}
            <PlainTable caption="Quotas and offers, base → variant" columns=table::PARTY_COLUMNS.to_vec() rows=parties empty="Nothing to compare yet." />
            <Fold summary="Job by job">
                <PlainTable caption="Jobs that fare the most differently, base → variant" columns=table::JOB_COLUMNS.to_vec() rows=jobs empty="No job fares differently." />
            </Fold>
        </section>
        <section class="card" aria-labelledby="plan-courses"><h2 id="plan-courses">"Use and waiting"</h2><PlanCourses pair=pair /></section>
        <section class="card" aria-labelledby="plan-timeline">
            <h2 id="plan-timeline">"Who runs when"</h2>
            <label class="check"><input type="checkbox" prop:checked=shows_base on:change=move |event| shows_base.set(event_target_checked(&event)) />"Show the base instead"</label>
            <PlanTimeline ended=shown />
        </section>
    }
}
