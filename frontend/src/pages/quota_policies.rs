//! A quota's preemption policies.

use engine::message::command::Command;
use engine::message::command::UpdateQuota;
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
    let (child_text, self_text) = texts(session, no, draft);
    // Jobs come and go all the time; what is found depends on quotas alone.
    let quotas = Memo::new(move |_| session.ask(|state| state.quotas.clone()));
    let findings = Memo::new(move |_| {
        let draft = draft.get();
        if quotas.with(Option::is_none) {
            return Vec::new();
        }
        let of_draft = |state: &State| findings::of_settings(state, no, draft.apply(&state.quotas[no.at()].settings));
        session.ask_once(of_draft).unwrap_or_default()
    });
    let is_changed = is_changed(current, draft);
    let command = move || {
        let update = |state: &State| {
            let quota = &state.quotas[no.at()];
            Command::UpdateQuota(UpdateQuota {
                quota: quota.id.clone(),
                settings: draft.with_untracked(|draft| draft.apply(&quota.settings)),
            })
        };
        session.ask_once(update)
    };
    let question = RwSignal::new(None);
    let apply = Callback::new(move |()| {
        let Some(command) = command() else { return };
        ask_first(session, question, Proposal::of(session, command, "Save", "The policies have been saved."));
    });
    let denied = Signal::derive(move || session.denied(&command()?));
    let curl = Callback::new(move |()| command().map(|command| as_curl(&session.name(), &command)));
    view! {
        <PolicyForm draft=draft child_text=child_text self_text=self_text is_changed=is_changed denied=denied apply=apply curl=curl />
        <Findings findings=findings />
        <Confirm question=question />
    }
    .into_any()
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
