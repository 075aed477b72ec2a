//! What is set on a quota beside its amount: its queue, what it lends, its periods, its preemption policies.

use std::collections::BTreeSet;

use engine::message::command::Command;
use engine::message::command::UpdateQuota;
use engine::quota::settings::QuotaSettings;
use engine::state::world::State;
use engine::unit::id::QuotaNo;
use leptos::prelude::*;

use crate::pages::ask_first::Proposal;
use crate::pages::ask_first::ask_first;
use crate::pages::drafts::is_changed;
use crate::pages::drafts::take_up;
use crate::session::Session;
use crate::session::send::as_curl;
use crate::widgets::confirm::Confirm;
use crate::widgets::findings::Findings;
use crate::widgets::policy_form::PolicyForm;
use console_model::explained;
use console_model::explained::PolicyText;
use console_model::findings;
use console_model::policy_draft::PolicyDraft;

/// The forms of a quota.
#[component]
pub(crate) fn QuotaPolicies(no: QuotaNo) -> impl IntoView {
    let session = Session::here();
    let current = Memo::new(move |_| session.ask(|state| PolicyDraft::of(&state.quotas[no.at()].settings)));
    let Some(first) = current.get_untracked() else { return ().into_any() };
    let draft = RwSignal::new(first);
    take_up(current, draft);
    let current_update = Memo::new(move |_| session.ask(|state| beside_policies(state, no)));
    let Some(first) = current_update.get_untracked() else { return ().into_any() };
    let update = RwSignal::new(first);
    take_up(current_update, update);
    let unread = RwSignal::new(BTreeSet::new());
    let (child_text, self_text) = texts(session, no, draft);
    // Jobs come and go all the time; what is found depends on quotas alone.
    let quotas = Memo::new(move |_| session.ask(|state| state.quotas.clone()));
    let findings = Memo::new(move |_| {
        let settings = draft.with(|draft| update.with(|update| draft.apply(&update.settings)));
        if quotas.with(Option::is_none) {
            return Vec::new();
        }
        let of_draft = |state: &State| findings::of_settings(state, no, settings);
        session.ask_once(of_draft).unwrap_or_default()
    });
    let (are_policies_changed, are_others_changed) = (is_changed(current, draft), is_changed(current_update, update));
    let is_changed = Signal::derive(move || are_policies_changed.get() || are_others_changed.get());
    let command = move || {
        let UpdateQuota { quota, settings } = update.get_untracked();
        let settings = draft.with_untracked(|draft| draft.apply(&settings));
        Command::UpdateQuota(UpdateQuota { quota, settings })
    };
    let question = RwSignal::new(None);
    let apply = Callback::new(move |()| {
        ask_first(session, question, Proposal::of(session, command(), "Save", "The policies have been saved."));
    });
    let denied = Signal::derive(move || session.denied(&command()));
    let curl = Callback::new(move |()| Some(as_curl(&session.name(), &command())));
    view! {
        <PolicyForm update=update unread=unread draft=draft child_text=child_text self_text=self_text is_changed=is_changed denied=denied apply=apply curl=curl />
        <Findings findings=findings />
        <Confirm question=question />
    }
    .into_any()
}

/// What is set beside the policies.
fn beside_policies(state: &State, no: QuotaNo) -> UpdateQuota {
    let quota = &state.quotas[no.at()];
    let settings = QuotaSettings { child_level: None, self_level: None, ..quota.settings.clone() };
    UpdateQuota { quota: quota.id.clone(), settings }
}

/// What the engine says of both drafts.
fn texts(session: Session, no: QuotaNo, draft: RwSignal<PolicyDraft>) -> (Memo<PolicyText>, Memo<PolicyText>) {
    let fault = |fault: String| PolicyText { says: vec![fault], is_fault: true };
    let child = Memo::new(move |_| {
        let draft = draft.get();
        match draft.faults().0 {
            Some(text) => fault(text),
            None => {
                session.ask(|state| explained::child_level(state, no, draft.child_level().as_ref())).unwrap_or_default()
            }
        }
    });
    let own = Memo::new(move |_| {
        let draft = draft.get();
        match draft.faults().1 {
            Some(text) => fault(text),
            None => {
                session.ask(|state| explained::self_level(state, no, draft.self_level().as_ref())).unwrap_or_default()
            }
        }
    });
    (child, own)
}
