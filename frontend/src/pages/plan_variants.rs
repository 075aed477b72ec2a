//! The variants of a plan, and the changes of the chosen one.

use engine::message::command::Command;
use engine::message::plan::Change;
use fields::change;
use fields::change::ChangeKind;
use leptos::prelude::*;
use planner::page::sheet::VARIANTS_MAX;

use crate::api::browser;
use crate::session::draft::Draft;
use crate::session::draft::Item;
use crate::session::draft::changes;
use crate::session::plan::Plan;
use crate::widgets::choice::Choice;
use crate::widgets::plan_change::Go;
use crate::widgets::plan_change::PlanChange;
use console_model::explained::sentence;

/// The variants.
#[component]
pub(crate) fn PlanVariants(plan: Plan) -> impl IntoView {
    let tab = move |draft: Draft| {
        let is_chosen = move || plan.chosen.get() == draft.id;
        view! {
            <label class="pick">
                <input type="radio" name="variant" prop:checked=is_chosen on:change=move |_| plan.choose(draft.id) />
                <span>{draft.name}</span>
            </label>
        }
    };
    let add = move |_| {
        let names: Vec<String> = plan.variants.get_untracked().iter().map(|draft| draft.name.get_untracked()).collect();
        let letters = ('A'..='Z').map(|letter| format!("Variant {letter}"));
        let name = letters.into_iter().find(|name| !names.contains(name)).unwrap_or_default();
        // A new variant begins where the chosen one is: most differ in little.
        let begun = untrack(|| plan.draft()).map(changes).unwrap_or_default();
        plan.add(&name, begun);
    };
    let is_full = move || plan.variants.with(|variants| variants.len() >= VARIANTS_MAX);
    view! {
        <fieldset class="pick-set">
            <legend class="unseen">"Variant"</legend>
            <div class="picks">
                <For each=move || plan.variants.get() key=|draft| draft.id let:draft>{tab(draft)}</For>
                <button type="button" class="quiet" disabled=is_full on:click=add>"Add a variant"</button>
            </div>
        </fieldset>
        {move || plan.draft().map(|draft| view! { <Changes plan=plan draft=draft /> })}
    }
}

#[component]
fn Changes(plan: Plan, draft: Draft) -> impl IntoView {
    let changed = Callback::new(move |()| plan.run(draft));
    let row = move |item: Item| {
        let go = Callback::new(move |go: Go| {
            draft.items.update(|items| shift(items, item.key, go));
            plan.run(draft);
        });
        let refused = Signal::derive(move || {
            let at = draft.items.with(|items| items.iter().position(|known| known.key == item.key))?;
            let moment = draft.moment.get()?;
            let told = moment.refused.iter().find(|(change, _)| usize::try_from(*change) == Ok(at));
            told.map(|(_, reason)| sentence(reason))
        });
        plan.facts.get_untracked().map(|facts| {
            view! { <PlanChange key=item.key change=item.change facts=facts refused=refused changed=changed go=go /> }
        })
    };
    let is_empty = move || draft.items.with(Vec::is_empty);
    view! {
        {move || is_empty().then(|| view! { <p class="nothing">"Nothing is changed yet. Add a change, and see at once what it does."</p> })}
        <ol class="plan-changes">
            <For each=move || draft.items.get() key=|item| item.key let:item>{row(item)}</For>
        </ol>
        <Add plan=plan draft=draft />
        {move || (plan.variants.with(Vec::len) > 1).then(|| view! {
            <button type="button" class="quiet" on:click=move |_| plan.remove(draft.id)>"Remove this variant"</button>
        })}
    }
}

/// Adds a change of a chosen kind.
#[component]
fn Add(plan: Plan, draft: Draft) -> impl IntoView {
    let kinds =
        move || plan.facts.with(|facts| facts.as_ref().map(|facts| ChangeKind::offered(facts)).unwrap_or_default());
    let options = Signal::derive(move || {
        kinds().into_iter().map(|kind| (kind.words().to_owned(), kind.words().to_owned())).collect::<Vec<_>>()
    });
    let chosen = RwSignal::new(ChangeKind::ALL[0].words().to_owned());
    let add = move |_| {
        let Some(facts) = plan.facts.get_untracked() else { return };
        let kind = ChangeKind::ALL.into_iter().find(|kind| chosen.with_untracked(|chosen| kind.words() == chosen));
        let commands: Vec<Command> = changes(draft).into_iter().map(|change| change.command).collect();
        let Some(command) = kind.and_then(|kind| kind.begin(&facts, &commands)) else { return };
        let first = change::shown(&command, &facts).into_iter().next().map(|field| field.key).unwrap_or_default();
        let item = plan.item(Change { at: facts.from, command, is_off: false });
        draft.items.update(|items| items.push(item));
        plan.run(draft);
        // A change that is added is moved next.
        request_animation_frame(move || {
            browser::focus(&format!("change-{}-{first}", item.key));
        });
    };
    view! {
        <div class="form-row plan-add">
            <Choice id="plan-kind" label="Add a change" options=options value=chosen change=Callback::new(move |kind| chosen.set(kind)) />
            <button type="button" on:click=add>"Add"</button>
        </div>
    }
}

fn shift(items: &mut Vec<Item>, key: u32, go: Go) {
    let Some(at) = items.iter().position(|item| item.key == key) else { return };
    match go {
        Go::Up if at > 0 => items.swap(at, at - 1),
        Go::Down if at + 1 < items.len() => items.swap(at, at + 1),
        Go::Up | Go::Down => {}
        Go::Away => drop(items.remove(at)),
    }
}
