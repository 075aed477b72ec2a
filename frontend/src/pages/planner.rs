//! What if: variants of a beginning, side by side, before anybody does anything.
//!
//! The page stands in a cluster, where a plan can begin with its state and be applied, and on its own for plans that
//! somebody shared.

use leptos::prelude::*;

use crate::pages::address::title;
use crate::pages::plan_apply::PlanApply;
use crate::pages::plan_base::PlanBase;
use crate::pages::plan_result::PlanResult;
use crate::pages::plan_variants::PlanVariants;
use crate::session::plan::Plan;
use crate::session::under_way::Going;
use crate::session::under_way::Progress;
use crate::widgets::plan_compare::Column;
use crate::widgets::plan_compare::PlanCompare;
use crate::widgets::plan_moment::PlanMoment;
use crate::widgets::plan_pick::PlanSuggestions;
use crate::widgets::plan_search::PlanSearch;

/// The page.
#[component]
pub(crate) fn PlannerPage() -> impl IntoView {
    title(|| "Planner".to_owned());
    let plan = Plan::new();
    let moment = Signal::derive(move || plan.draft().and_then(|draft| draft.moment.get()));
    let columns = Signal::derive(move || {
        let base = Column { name: "Base".to_owned(), ended: plan.base.get(), ranges: plan.views().ranges.get() };
        let variants = plan.variants.get();
        let variants = variants.into_iter().map(|draft| Column {
            name: draft.name.get(),
            ended: draft.ended.get(),
            ranges: draft.ranges.get(),
        });
        std::iter::once(base).chain(variants).collect()
    });
    let failed = move || plan.failed.get().map(|failed| view! { <p class="warning" role="alert">{failed}</p> });
    let search = move || {
        let facts = StoredValue::new(plan.facts.get()?);
        let look = Callback::new(move |(goal, family)| plan.search(goal, family));
        let take = Callback::new(move |command| {
            let Some(draft) = untrack(|| plan.draft()) else { return };
            let at = plan.facts.with_untracked(|facts| facts.as_ref().map(|facts| facts.from)).unwrap_or_default();
            let item = plan.item(engine::message::plan::Change { at, command, is_off: false });
            draft.items.update(|items| items.push(item));
            plan.found.set(None);
            plan.run(draft);
        });
        Some(view! { <PlanSuggestions facts=facts /><PlanSearch facts=facts found=plan.found look=look take=take /> })
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
            <PlanResult plan=plan />
        </div>
    }
}

/// How far it has come, or how fast it was.
#[component]
fn Pace(plan: Plan) -> impl IntoView {
    let going = plan.going;
    let is_busy = Memo::new(move |_| going.get().progress().is_some());
    let words = move || match going.get() {
        Going::On(Progress { done, events, since, now }) => {
            format!("{} %: {}", done / 10, rate(events, (now - since).0))
        }
        Going::Over(events, ms) => rate(events, ms),
        Going::NotYet | Going::GivenUp => String::new(),
    };
    let is_given_up = Memo::new(move |_| going.get() == Going::GivenUp);
    let given_up = move || {
        let words = "What was under way has been given up. Any change takes it up again.";
        is_given_up.get().then(|| view! { <p>{words}</p> })
    };
    view! {
        <div aria-live="polite">{given_up}</div>
        <div class="plan-pace">
            <progress max="1000" aria-label="Progress" class:is-idle=move || !is_busy.get() value=move || going.get().progress().map_or(1000, |progress| progress.done)></progress>
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
