//! Looks for the smallest change that reaches a goal.

use std::sync::Arc;

use engine::host::plan::goal::Goal;
use engine::host::plan::search::Family;
use engine::message::command::Command;
use engine::unit::id::QuotaId;
use fields::facts::Facts;
use fields::list::List;
use leptos::prelude::*;
use planner::page::wish::Wish;

use crate::widgets::choice::Choice;
use crate::widgets::field::TextField;
use crate::widgets::plan_pick::PlanPick;

/// The form, and what came of it.
#[component]
pub(crate) fn PlanSearch(
    /// Where the plan begins.
    facts: StoredValue<Arc<Facts>>,
    /// What was found: words, and the change if there is one.
    found: RwSignal<Option<(String, Option<Command>)>>,
    /// Begins to look.
    look: Callback<(Goal, Family)>,
    /// Takes what was found into the plan.
    take: Callback<Command>,
) -> impl IntoView {
    let wish = RwSignal::new(facts.with_value(|facts| Wish::of(facts)));
    let fault = RwSignal::new(None::<String>);
    let submit = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        let asked = wish.with_untracked(|wish| facts.with_value(|facts| wish.ask(facts)));
        fault.set(asked.as_ref().err().cloned());
        if let Ok(asked) = asked {
            look.run(asked);
        }
    };
    let goals = vec![
        ("starts".to_owned(), "A job starts in time".to_owned()),
        ("waits".to_owned(), "Nobody in a quota waits longer".to_owned()),
    ];
    let means = vec![
        ("amount".to_owned(), "move GPUs to a quota".to_owned()),
        ("priority".to_owned(), "raise the job's priority".to_owned()),
    ];
    let quotas = Memo::new(|_| List::Quotas);
    let jobs = Memo::new(|_| List::Jobs);
    let givers =
        Memo::new(move |_| wish.with(|wish| QuotaId::new(&wish.gets).map_or(List::Words(&[]), List::Siblings)));
    let read = move |part: fn(&Wish) -> &String| Memo::new(move |_| wish.with(|wish| part(wish).clone()));
    let write = move |part: fn(&mut Wish) -> &mut String| {
        Callback::new(move |text: String| wish.update(|wish| *part(wish) = text))
    };
    let starts = Memo::new(move |_| wish.with(|wish| wish.goal == "starts"));
    let names_job = Memo::new(move |_| wish.with(|wish| wish.goal == "starts" || wish.means == "priority"));
    let moves = Memo::new(move |_| wish.with(|wish| wish.means == "amount"));
    view! {
        <form class="form" on:submit=submit aria-label="Search">
            <Choice id="wish-goal" label="What should be true" options=Signal::stored(goals) value=read(|wish| &wish.goal) change=write(|wish| &mut wish.goal) />
            <div class="form-row">
                <div hidden=move || !names_job.get()><PlanPick id="wish-job" label="Job" list=jobs facts=facts value=read(|wish| &wish.job) choose=write(|wish| &mut wish.job) /></div>
                <div hidden=starts><PlanPick id="wish-quota" label="Nobody in" list=quotas facts=facts value=read(|wish| &wish.quota) choose=write(|wish| &mut wish.quota) /></div>
                <TextField id="wish-within" label="Within" hint="such as 2h 30m" value=read(|wish| &wish.within) change=write(|wish| &mut wish.within) is_short=true />
            </div>
            <Choice id="wish-means" label="What may be changed" options=Signal::stored(means) value=read(|wish| &wish.means) change=write(|wish| &mut wish.means) />
            <div class="form-row" hidden=move || !moves.get()>
                <PlanPick id="wish-gets" label="Gets GPUs" list=quotas facts=facts value=read(|wish| &wish.gets) choose=write(|wish| &mut wish.gets) />
                <PlanPick id="wish-gives" label="Gives them" list=givers facts=facts value=read(|wish| &wish.gives) choose=write(|wish| &mut wish.gives) />
            </div>
            <div class="form-row"><button type="submit">"Find the smallest change"</button></div>
        </form>
        <div aria-live="polite">
            {move || fault.get().map(|fault| view! { <p class="fault">{fault}</p> })}
            {move || found.get().map(|(words, command)| view! {
                <p class="help">{words}</p>
                {command.map(|command| view! { <button type="button" on:click=move |_| take.run(command.clone())>"Add it to the variant"</button> })}
            })}
        </div>
    }
}
