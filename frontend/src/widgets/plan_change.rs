//! One change of a plan: a line that says what it changes, and the controls that change the change.

use std::sync::Arc;

use engine::message::command::Command;
use engine::message::command::UpdateQuota;
use engine::message::plan::Change;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;
use fields::change;
use fields::facts::Facts;
use fields::field::Input;
use fields::field::Shown;
use fields::field::Value;
use fields::list::List;
use fields::number::Number;
use leptos::prelude::*;
use leptos::web_sys::HtmlInputElement;

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
    let line = Memo::new(move |_| change.with(|change| facts.with_value(|facts| change::line(&change.command, facts))));
    let set = Callback::new(move |command: Command| {
        change.update(|change| change.command = command);
        changed.run(());
    });
    let shown =
        Memo::new(move |_| change.with(|change| facts.with_value(|facts| change::shown(&change.command, facts))));
    // What there is to set; what it holds is read by each control, so that one stays while it is dragged or typed in.
    let numbers = Memo::new(move |_| {
        shown.with(|fields| fields.iter().filter_map(number_of).collect::<Vec<(String, String, Number)>>())
    });
    let texts = Memo::new(move |_| {
        let is_text = |field: &&Shown| matches!(field.input, Input::Text(_));
        shown.with(|fields| fields.iter().filter(is_text).map(|field| field.key.clone()).collect::<Vec<_>>())
    });
    let fault = RwSignal::new(None::<String>);
    let write = move |field: &str, value: &Value| {
        let command = change.with_untracked(|change| change.command.clone());
        let written = facts.with_value(|facts| change::with(&command, facts, field, value));
        fault.set(written.as_ref().err().cloned());
        if let Ok(command) = written {
            set.run(command);
        }
    };
    let number_row = move |(field, label, number): (String, String, Number)| {
        let id = format!("change-{key}-{field}");
        let read = field.clone();
        let value = Memo::new(move |_| shown.with(|fields| number_in(fields, &read)));
        let pull = Callback::new(move |value: i64| write(&field, &Value::Number(value)));
        view! { <NumberControl id=id label=label number=number value=value pull=pull /> }
    };
    let text_row = move |field: String| {
        let known = shown.with_untracked(|fields| fields.iter().find(|known| known.key == field).cloned())?;
        let (of_list, of_value) = (field.clone(), field.clone());
        let list = Memo::new(move |_| shown.with(|fields| list_in(fields, &of_list)));
        let value = Memo::new(move |_| shown.with(|fields| text_in(fields, &of_value)));
        let id = format!("change-{key}-{field}");
        let choose = Callback::new(move |value: String| write(&field, &Value::Text(value)));
        Some(
            view! { <PlanPick id=id label=known.label about=known.about list=list facts=facts value=value choose=choose /> },
        )
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
            {move || numbers.get().into_iter().map(number_row).collect_view()}
            <div class="plan-choices">
                {move || texts.get().into_iter().filter_map(text_row).collect_view()}
                <When id=format!("when-{key}") change=change from=from changed=changed />
            </div>
            {move || fault.get().map(|fault| view! { <p class="fault" role="alert">{fault}</p> })}
            {move || policies.get().map(|_| view! { <Policies key=key change=change set=set /> })}
        </li>
    }
}

fn number_of(field: &Shown) -> Option<(String, String, Number)> {
    match &field.input {
        Input::Number(number) => Some((field.key.clone(), field.label.clone(), number.clone())),
        Input::Text(_) => None,
    }
}

fn number_in(fields: &[Shown], key: &str) -> i64 {
    match fields.iter().find(|field| field.key == key).map(|field| &field.value) {
        Some(Value::Number(value)) => *value,
        Some(Value::Text(_)) | None => 0,
    }
}

fn text_in(fields: &[Shown], key: &str) -> String {
    match fields.iter().find(|field| field.key == key).map(|field| &field.value) {
        Some(Value::Text(text)) => text.clone(),
        Some(Value::Number(_)) | None => String::new(),
    }
}

fn list_in(fields: &[Shown], key: &str) -> List {
    match fields.iter().find(|field| field.key == key).map(|field| &field.input) {
        Some(Input::Text(list)) => list.clone(),
        Some(Input::Number(_)) | None => List::Typed,
    }
}

/// A number that is dragged, or typed beside.
#[component]
fn NumberControl(id: String, label: String, number: Number, value: Memo<i64>, pull: Callback<i64>) -> impl IntoView {
    let Number { unit, least, most, step, .. } = number;
    let number = StoredValue::new(number);
    let words = move || number.with_value(|number| number.text(value.get()));
    let typed = move |event| {
        if let Some(value) = number.with_value(|number| number.parse(&event_target_value(&event))) {
            pull.run(value);
        }
        // What cannot be read, or lies outside the range, is not left standing.
        event_target::<HtmlInputElement>(&event).set_value(&untrack(words));
    };
    let range = number.with_value(|number| format!("{} to {} {unit}", number.text(least), number.text(most)));
    let said = if unit.is_empty() || label.ends_with(unit) { label.clone() } else { format!("{label}, {unit}") };
    view! {
        <div class="slider">
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
    if let Command::UpdateQuota(update) = &change.command { Some(update.clone()) } else { None }
}
