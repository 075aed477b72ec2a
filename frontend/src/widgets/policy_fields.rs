//! The fields of both preemption policies of a quota, each with a sentence that says what it allows.

use engine::quota::policy::Scope;
use engine::unit::priority::Module;
use leptos::prelude::*;

use crate::widgets::choice::Choice;
use crate::widgets::pick_set::PickSet;
use console_model::explained::PolicyText;
use console_model::policy_draft::PolicyDraft;
use console_model::policy_draft::scope;
use console_model::policy_draft::scope_as_str;

/// The fields.
#[component]
pub(crate) fn PolicyFields(
    /// Which of them it is, where a page has several.
    #[prop(optional)]
    number: u32,
    /// What has been chosen.
    draft: RwSignal<PolicyDraft>,
    /// What the child-level policy allows.
    child_text: Memo<PolicyText>,
    /// What the self-level policy allows.
    self_text: Memo<PolicyText>,
) -> impl IntoView {
    let scopes = [
        (Scope::SameLevel, "this quota, then its siblings"),
        (Scope::Own, "this quota only"),
        (Scope::SiblingsIdle, "what siblings leave idle; nobody is evicted"),
    ];
    let scopes: Vec<(String, String)> =
        scopes.map(|(scope, words)| (scope_as_str(scope).to_owned(), words.to_owned())).into();
    let [child, own, whose] = ["child-level", "self-level", "scope"].map(|name| format!("{name}-{number}"));
    view! {
        <section class="policy" aria-labelledby=child>
            <h3 id=child.clone()>"Child-level preemption"</h3>
            {switch(draft, "Jobs submitted here may take from descendants", |draft| draft.is_child_on, |draft, is_on| draft.is_child_on = is_on)}
            <div class="policy-body" hidden=move || !draft.with(|draft| draft.is_child_on)>
                {priorities(draft, "Priorities that may be preempted", |draft| &draft.preemptible, |draft| &mut draft.preemptible)}
                {modules(draft, "Modules that may be preempted", |draft| &draft.child_modules, |draft| &mut draft.child_modules)}
            </div>
            {said(child_text)}
        </section>
        <section class="policy" aria-labelledby=own>
            <h3 id=own.clone()>"Self-level preemption"</h3>
            {switch(draft, "High-priority jobs may take from low-priority ones", |draft| draft.is_self_on, |draft, is_on| draft.is_self_on = is_on)}
            <div class="policy-body" hidden=move || !draft.with(|draft| draft.is_self_on)>
                {priorities(draft, "High: may preempt", |draft| &draft.high, |draft| &mut draft.high)}
                {priorities(draft, "Low: may be preempted", |draft| &draft.low, |draft| &mut draft.low)}
                {modules(draft, "Modules that may be preempted", |draft| &draft.self_modules, |draft| &mut draft.self_modules)}
                <Choice id=whose label="Whose jobs" options=Signal::stored(scopes) value=Signal::derive(move || draft.with(|draft| scope_as_str(draft.scope).to_owned())) change=Callback::new(move |text: String| draft.update(|draft| draft.scope = scope(&text))) />
            </div>
            {said(self_text)}
        </section>
    }
}

fn switch(
    draft: RwSignal<PolicyDraft>,
    words: &'static str,
    read: fn(&PolicyDraft) -> bool,
    write: fn(&mut PolicyDraft, bool),
) -> impl IntoView {
    view! {
        <label class="check">
            <input type="checkbox" role="switch" prop:checked=move || draft.with(read) on:change=move |event| draft.update(|draft| write(draft, event_target_checked(&event))) />
            <span>{words}</span>
        </label>
    }
}

type Set<T> = std::collections::BTreeSet<T>;

fn priorities(
    draft: RwSignal<PolicyDraft>,
    label: &'static str,
    read: fn(&PolicyDraft) -> &Set<u8>,
    write: fn(&mut PolicyDraft) -> &mut Set<u8>,
) -> impl IntoView {
    members(draft, label, (1..=9).map(|priority| (priority, priority.to_string())).collect(), read, write)
}

fn modules(
    draft: RwSignal<PolicyDraft>,
    label: &'static str,
    read: fn(&PolicyDraft) -> &Set<Module>,
    write: fn(&mut PolicyDraft) -> &mut Set<Module>,
) -> impl IntoView {
    members(draft, label, Module::ALL.map(|module| (module, module.as_str().to_owned())).into(), read, write)
}

fn members<T: Copy + Ord + Send + Sync + 'static>(
    draft: RwSignal<PolicyDraft>,
    label: &'static str,
    options: Vec<(T, String)>,
    read: fn(&PolicyDraft) -> &Set<T>,
    write: fn(&mut PolicyDraft) -> &mut Set<T>,
) -> impl IntoView {
    let (values, words): (Vec<T>, Vec<String>) = options.into_iter().unzip();
    let changed = values.clone();
    let is_chosen = Callback::new(move |at: usize| {
        draft.with(|draft| values.get(at).is_some_and(|value| read(draft).contains(value)))
    });
    let change = Callback::new(move |(at, is_member): (usize, bool)| {
        let Some(value) = changed.get(at) else { return };
        draft.update(|draft| {
            if is_member {
                write(draft).insert(*value)
            } else {
                write(draft).remove(value)
            };
        });
    });
    view! { <PickSet label=label options=words is_chosen=is_chosen change=change /> }
}

fn said(text: Memo<PolicyText>) -> impl IntoView {
    let lines = move || {
        let PolicyText { says, is_fault } = text.get();
        let class = if is_fault { "fault" } else { "says" };
        says.into_iter().map(|line| view! { <p class=class>{line}</p> }).collect_view()
    };
    view! { <div aria-live="polite">{lines}</div> }
}
