//! Looks for the smallest change that reaches a goal.

use std::sync::Arc;

use engine::host::plan::goal::Goal;
use engine::host::plan::search::Family;
use engine::message::command::Command;
use leptos::prelude::*;
use workbench::facts::Facts;
use workbench::wish;
use workbench::wish::Wish;

use crate::widgets::choice::Choice;
use crate::widgets::field::TextField;

/// The form, and what came of it.
#[component]
pub(crate) fn PlanSearch(
    /// Where the plan begins.
    facts: Arc<Facts>,
    /// What was found: words, and the change if there is one.
    found: RwSignal<Option<(String, Option<Command>)>>,
    /// Begins to look.
    look: Callback<(Goal, Family)>,
    /// Takes what was found into the plan.
    take: Callback<Command>,
) -> impl IntoView {
    let facts = StoredValue::new(facts);
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
    let named = |names: Vec<String>| names.into_iter().map(|name| (name.clone(), name)).collect::<Vec<_>>();
    let goals = vec![
        ("starts".to_owned(), "A job starts in time".to_owned()),
        ("waits".to_owned(), "Nobody in a quota waits longer".to_owned()),
    ];
    let means = vec![
        ("amount".to_owned(), "move GPUs to a quota".to_owned()),
        ("priority".to_owned(), "raise the job's priority".to_owned()),
    ];
    let quotas = named(facts.with_value(|facts| facts.quotas.iter().map(|known| known.quota.to_string()).collect()));
    let givers = Signal::derive(move || {
        let mut list = vec![(String::new(), "nobody: what the parent has left".to_owned())];
        let siblings = wish.with(|wish| facts.with_value(|facts| wish::givers(facts, &wish.gets)));
        list.extend(siblings.into_iter().map(|name| (name.clone(), name)));
        list
    });
    let jobs = facts.with_value(|facts| facts.jobs.iter().map(|known| known.job.to_string()).collect::<Vec<_>>());
    let jobs = jobs.into_iter().map(|name| view! { <option value=name></option> }).collect_view();
    let read = move |part: fn(&Wish) -> &String| Signal::derive(move || wish.with(|wish| part(wish).clone()));
    let write = move |part: fn(&mut Wish) -> &mut String| {
        Callback::new(move |text: String| wish.update(|wish| *part(wish) = text))
    };
    let starts = move || wish.with(|wish| wish.goal == "starts");
    let names_job = move || wish.with(|wish| wish.goal == "starts" || wish.means == "priority");
    let quota_options = Signal::stored(quotas);
    view! {
        <form class="form" on:submit=submit aria-label="Search">
            <Choice id="wish-goal" label="What should be true" options=Signal::stored(goals) value=read(|wish| &wish.goal) change=write(|wish| &mut wish.goal) />
            <div class="form-row">
                <div class="field" hidden=move || !names_job()>
                    <label for="wish-job">"Job"</label>
                    <input type="text" id="wish-job" list="wish-jobs" autocomplete="off" prop:value=read(|wish| &wish.job) on:input=move |event| wish.update(|wish| wish.job = event_target_value(&event)) />
                    <datalist id="wish-jobs">{jobs}</datalist>
                </div>
                <div hidden=starts><Choice id="wish-quota" label="Nobody in" options=quota_options value=read(|wish| &wish.quota) change=write(|wish| &mut wish.quota) /></div>
                <TextField id="wish-within" label="Within" hint="such as 2h 30m" value=read(|wish| &wish.within) change=write(|wish| &mut wish.within) is_short=true />
            </div>
            <Choice id="wish-means" label="What may be changed" options=Signal::stored(means) value=read(|wish| &wish.means) change=write(|wish| &mut wish.means) />
            <div class="form-row" hidden=move || wish.with(|wish| wish.means != "amount")>
                <Choice id="wish-gets" label="Gets GPUs" options=quota_options value=read(|wish| &wish.gets) change=write(|wish| &mut wish.gets) />
                <Choice id="wish-gives" label="Gives them" options=givers value=read(|wish| &wish.gives) change=write(|wish| &mut wish.gives) />
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
