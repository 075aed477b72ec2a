//! A quota's amounts, with what changing them would do.

use engine::message::command::AmountByName;
use engine::message::command::Command;
use engine::message::command::ScaleMode;
use engine::message::command::ScaleQuotas;
use engine::message::command::ScaleTarget;
use engine::state::world::State;
use engine::unit::id::QuotaNo;
use leptos::prelude::*;

use crate::api::browser;
use crate::pages::ask_first::Proposal;
use crate::pages::ask_first::ask_first;
use crate::session::Session;
use crate::session::send::as_curl;
use crate::widgets::confirm::Confirm;
use crate::widgets::scale_form::ScaleForm;
use console_model::amount::unit;
use console_model::path;
use console_model::preview;
use console_model::preview::Preview;
use console_model::preview::Verdict;
use console_model::scale_draft::ScaleDraft;
use console_model::scale_draft::given_away;

/// The form of a quota.
#[component]
pub(crate) fn QuotaScale(no: QuotaNo) -> impl IntoView {
    let session = Session::here();
    let current = Memo::new(move |_| session.ask(|state| ScaleDraft::of(state, no)).unwrap_or_default());
    let draft = RwSignal::new(current.get_untracked());
    // Somebody else's change is taken up, unless this form is being used.
    Effect::new(move |before: Option<ScaleDraft>| {
        let now = current.get();
        if before.is_some_and(|before| before.amounts == draft.with_untracked(|draft| draft.amounts.clone())) {
            draft.update(|draft| draft.amounts.clone_from(&now.amounts));
        }
        now
    });
    let is_changed = Signal::derive(move || draft.with(|draft| draft.amounts != current.get().amounts));
    let command = Memo::new(move |_| {
        session.ask(|state| draft.with(|draft| draft.command(state, no))).unwrap_or_else(|| Err(Vec::new()))
    });
    let faults = Memo::new(move |_| command.with(|command| command.as_ref().err().cloned().unwrap_or_default()));
    let preview = Memo::new(move |_| match command.get() {
        Ok(scale) => session.ask(|state| foresee(state, scale)).unwrap_or_default(),
        Err(faults) => Preview::unfinished(faults.into_iter().next().map(|(_, fault)| fault)),
    });
    let question = RwSignal::new(None);
    let apply = Callback::new(move |()| {
        let Ok(scale) = command.get_untracked() else { return };
        let command = Command::ScaleQuotas(scale);
        let proposal = Proposal::of(session, command, "Scale", "The amounts have been changed.");
        ask_first(session, question, proposal);
    });
    let curl = Callback::new(move |()| {
        command.get_untracked().ok().map(|scale| as_curl(&session.name(), &Command::ScaleQuotas(scale)))
    });
    let units = session.ask_once(|state| {
        let dimensions = &state.cluster.dimensions;
        current
            .get_untracked()
            .amounts
            .iter()
            .filter_map(|(at, _)| dimensions.get(*at))
            .map(|dimension| unit(dimension).to_owned())
            .collect::<Vec<_>>()
    });
    let siblings = session.ask_once(|state| match state.quotas[no.at()].parent {
        Some(parent) => state
            .children(parent)
            .filter(|(other, _)| *other != no)
            .map(|(_, quota)| quota.id.as_str().to_owned())
            .collect(),
        None => Vec::new(),
    });
    let denied = Signal::derive(move || {
        let target =
            session.ask(|state| ScaleTarget { quota: state.quotas[no.at()].id.clone(), min: AmountByName::new() })?;
        session.denied(&Command::ScaleQuotas(ScaleQuotas { targets: vec![target], mode: ScaleMode::default() }))
    });
    let href = Callback::new(move |job: String| path::job(&session.name(), &job));
    view! {
        <ScaleForm draft=draft faults=faults units=units.unwrap_or_default() siblings=siblings.unwrap_or_default() preview=preview is_changed=is_changed denied=denied apply=apply curl=curl href=href />
        <Confirm question=question />
    }
}

/// What scaling would do to jobs, and who would be left with nothing.
fn foresee(state: &State, scale: ScaleQuotas) -> Preview {
    let given_away = given_away(state, &scale).join(" ");
    let preview = preview::of_change(state, &Command::ScaleQuotas(scale), browser::now());
    if preview.verdict == Verdict::Refused || given_away.is_empty() {
        return preview;
    }
    Preview { reason: Some(given_away), ..preview }
}
