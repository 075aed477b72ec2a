//! One change of a plan: a line that says what it changes, and the controls that change the change.

use std::sync::Arc;

use engine::message::command::Command;
use engine::message::command::UpdateQuota;
use engine::message::plan::Change;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;
use leptos::prelude::*;
use leptos::web_sys::HtmlInputElement;
use workbench::chooser;
use workbench::chooser::List;
use workbench::edit;
use workbench::edit::Subject;
use workbench::facts::Facts;
use workbench::lever;
use workbench::lever::Lever;

use crate::widgets::plan_pick::PlanPick;
use crate::widgets::policy_fields::PolicyFields;
use console_model::duration;
use console_model::explained::PolicyText;
use console_model::explained::sentence;
use console_model::policy_draft::PolicyDraft;

/// Where a change goes in its list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Go {
    Up,
    Down,
    Away,
}

/// The change.
#[component]
pub(crate) fn PlanChange(
    /// By which its controls have names of their own.
    key: u32,
    /// What it is.
    change: RwSignal<Change>,
    /// Where the plan begins.
    facts: Arc<Facts>,
    /// Why it is refused, if it is.
    refused: Signal<Option<String>>,
    /// Called after every change of the change.
    changed: Callback<()>,
    /// Moves it in its list.
    go: Callback<Go>,
) -> impl IntoView {
    let facts = StoredValue::new(facts);
    let line = Memo::new(move |_| change.with(|change| facts.with_value(|facts| edit::line(&change.command, facts))));
    let set = Callback::new(move |command: Command| {
        change.update(|change| change.command = command);
        changed.run(());
    });
    let levers =
        Memo::new(move |_| change.with(|change| facts.with_value(|facts| lever::levers(&change.command, facts))));
    // What there is to control; where it stands is read by each control, so that a lever stays while it is dragged.
    let known_levers = Memo::new(move |_| {
        let at_rest = |lever: &Lever| Lever { value: 0, ..lever.clone() };
        levers.with(|levers| levers.iter().map(at_rest).collect::<Vec<_>>())
    });
    let choosers = Memo::new(move |_| change.with(|change| chooser::choosers(&change.command)));
    let n_choosers = Memo::new(move |_| choosers.with(Vec::len));
    let lever_row = move |(at, known): (usize, Lever)| {
        let value = Memo::new(move |_| levers.with(|levers| levers.get(at).map_or(0, |lever| lever.value)));
        let pull = Callback::new(move |value: i64| {
            let pulled = change
                .with_untracked(|change| facts.with_value(|facts| lever::pulled(&change.command, facts, at, value)));
            set.run(pulled);
        });
        view! { <LeverControl id=format!("lever-{key}-{at}") lever=known value=value pull=pull /> }
    };
    let fault = RwSignal::new(None::<String>);
    let chooser_row = move |at: usize| {
        let label = choosers.with_untracked(|choosers| choosers.get(at).map(|chooser| chooser.label))?;
        let list = Memo::new(move |_| {
            choosers.with(|choosers| choosers.get(at).map_or(List::Typed, |chooser| chooser.list.clone()))
        });
        let value = Memo::new(move |_| {
            choosers.with(|choosers| choosers.get(at).map(|chooser| chooser.chosen.clone()).unwrap_or_default())
        });
        let choose = Callback::new(move |value: String| {
            let chosen = change
                .with_untracked(|change| facts.with_value(|facts| chooser::chosen(&change.command, facts, at, &value)));
            fault.set(chosen.as_ref().err().cloned());
            if let Ok(command) = chosen {
                set.run(command);
            }
        });
        let id = format!("chooser-{key}-{at}");
        Some(view! { <PlanPick id=id label=label list=list facts=facts value=value choose=choose /> })
    };
    let button = move |sign: &'static str, words: &'static str, to: Go| {
        view! {
            <button type="button" class="quiet" aria-label=move || format!("{words}: {}", line.get()) on:click=move |_| go.run(to)>
                <span aria-hidden="true">{sign}</span>
            </button>
        }
    };
    // Another quota has other policies: its form is a new one.
    let policies = Memo::new(move |_| change.with(|change| policies_of(change).map(|update| update.quota)));
    let from = facts.with_value(|facts| facts.from);
    view! {
        <li class="plan-change" class:is-off=move || change.with(|change| change.is_off)>
            <div class="plan-change-head">
                <label class="check">
                    <input
                        type="checkbox"
                        prop:checked=move || change.with(|change| !change.is_off)
                        on:change=move |event| {
                            let is_on = event_target_checked(&event);
                            change.update(|change| change.is_off = !is_on);
                            changed.run(());
                        }
                    />
                    <span class="plan-line">{line}</span>
                </label>
                <span class="plan-buttons">
                    {button("↑", "Move up", Go::Up)}
                    {button("↓", "Move down", Go::Down)}
                    {button("×", "Remove", Go::Away)}
                </span>
            </div>
            {move || refused.get().map(|reason| view! { <p class="fault">{reason}</p> })}
            {move || known_levers.get().into_iter().enumerate().map(lever_row).collect_view()}
            <div class="plan-choices">
                {move || (0..n_choosers.get()).filter_map(chooser_row).collect_view()}
                <When id=format!("when-{key}") change=change from=from changed=changed />
            </div>
            {move || fault.get().map(|fault| view! { <p class="fault" role="alert">{fault}</p> })}
            {move || policies.get().map(|_| view! { <Policies key=key change=change set=set /> })}
        </li>
    }
}

/// A number that is dragged, or typed beside.
#[component]
fn LeverControl(id: String, lever: Lever, value: Memo<i64>, pull: Callback<i64>) -> impl IntoView {
    let Lever { ref label, unit, least, most, step, .. } = lever;
    let label = label.clone();
    let lever = StoredValue::new(lever);
    let words = move || lever.with_value(|lever| lever.text(value.get()));
    let typed = move |event| {
        if let Some(value) = lever.with_value(|lever| lever.parse(&event_target_value(&event))) {
            pull.run(value);
        }
        // What cannot be read, or lies beyond the lever, is not left standing.
        event_target::<HtmlInputElement>(&event).set_value(&untrack(words));
    };
    let range = lever.with_value(|lever| format!("{} to {} {unit}", lever.text(least), lever.text(most)));
    let said = if unit.is_empty() || label.ends_with(unit) { label.clone() } else { format!("{label}, {unit}") };
    view! {
        <div class="lever">
            <label for=id.clone()>{label}</label>
            <input
                type="range"
                id=id
                min=least
                max=most
                step=step
                prop:value=move || value.get().to_string()
                aria-valuetext=move || format!("{} {unit}", words())
                on:input=move |event| {
                    if let Ok(value) = event_target_value(&event).parse() {
                        pull.run(value);
                    }
                }
            />
            <input type="text" inputmode="decimal" aria-label=format!("{said}, typed") title=range prop:value=words on:change=typed />
            <span class="unit" aria-hidden="true">{unit}</span>
        </div>
    }
}

/// When the change is made.
#[component]
fn When(id: String, change: RwSignal<Change>, from: Timestamp, changed: Callback<()>) -> impl IntoView {
    let fault = RwSignal::new(None::<String>);
    let words = move || {
        let after = change.with(|change| change.at - from);
        if after.0 <= 0 { String::new() } else { engine::explain::period(after) }
    };
    let typed = move |event| match duration::parse(&event_target_value(&event)) {
        Ok(after) => {
            fault.set(None);
            change.update(|change| change.at = from + after.unwrap_or(Millis::ZERO));
            changed.run(());
        }
        Err(reason) => fault.set(Some(reason)),
    };
    view! {
        <div class="field is-short">
            <label for=id.clone()>"After"</label>
            <input type="text" id=id placeholder="at once" autocomplete="off" prop:value=words on:change=typed />
            {move || fault.get().map(|fault| view! { <span class="fault">{fault}</span> })}
        </div>
    }
}

/// The policies of a quota.
#[component]
fn Policies(key: u32, change: RwSignal<Change>, set: Callback<Command>) -> impl IntoView {
    let settings = move || change.with_untracked(policies_of);
    let draft = RwSignal::new(PolicyDraft::of(&settings().map(|update| update.settings).unwrap_or_default()));
    Effect::new(move |before: Option<PolicyDraft>| {
        let draft = draft.get();
        if let (Some(before), Some(mut update)) = (before, settings())
            && before != draft
        {
            update.settings = draft.apply(&update.settings);
            set.run(Command::UpdateQuota(update));
        }
        draft
    });
    let faults = Memo::new(move |_| draft.with(PolicyDraft::faults));
    view! {
        <details class="plan-policies">
            <summary>"Preemption policies"</summary>
            <PolicyFields number=key draft=draft child_text=Memo::new(move |_| said(faults.get().0)) self_text=Memo::new(move |_| said(faults.get().1)) />
        </details>
    }
}

/// What is wrong with a policy; what it allows is said where there is a state to say it of.
fn said(fault: Option<String>) -> PolicyText {
    PolicyText { is_fault: fault.is_some(), says: fault.map(|fault| sentence(&fault)).into_iter().collect() }
}

fn policies_of(change: &Change) -> Option<UpdateQuota> {
    match Subject::of(&change.command) {
        Subject::Policies(update) => Some(update.clone()),
        Subject::Amounts(_)
        | Subject::Job(_)
        | Subject::Priority(_)
        | Subject::Size(_)
        | Subject::Cancel(_)
        | Subject::Price(_)
        | Subject::Inventory(_)
        | Subject::Pool(_)
        | Subject::Node(_)
        | Subject::Other(_) => None,
    }
}
