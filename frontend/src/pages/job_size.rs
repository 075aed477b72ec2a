//! A service's number of pods, with what changing it would do.

use engine::message::command::Command;
use engine::message::command::ResizeJob;
use engine::state::world::State;
use engine::unit::id::JobId;
use leptos::prelude::*;

use crate::api::browser;
use crate::pages::ask_first::Proposal;
use crate::pages::ask_first::ask_first;
use crate::pages::drafts::is_changed;
use crate::pages::drafts::take_up;
use crate::session::Session;
use crate::session::send::as_curl;
use crate::widgets::action_button::ActionButton;
use crate::widgets::confirm::Confirm;
use crate::widgets::consequences::Consequences;
use crate::widgets::copy_button::CopyButton;
use crate::widgets::field::TextField;
use console_model::path;
use console_model::preview;
use console_model::preview::Preview;
use console_model::preview::Verdict;
use console_model::size_draft::Faults;
use console_model::size_draft::SizeDraft;

/// The form; nothing for jobs that are not resized.
#[component]
pub(crate) fn JobSize(name: Memo<String>) -> impl IntoView {
    let session = Session::here();
    let id = Memo::new(move |_| {
        let id = JobId::new(&name.get()).ok()?;
        let is_sized = |state: &State| state.jobs.find(&id).and_then(|no| SizeDraft::of(state, no)).is_some();
        session.ask(is_sized).unwrap_or(false).then_some(id)
    });
    move || id.get().map(|id| view! { <Form session=session id=StoredValue::new(id) /> })
}

#[component]
fn Form(session: Session, id: StoredValue<JobId>) -> impl IntoView {
    let current = Memo::new(move |_| {
        session.ask(|state| id.with_value(|id| SizeDraft::of(state, state.jobs.find(id)?))).flatten()
    });
    let draft = RwSignal::new(current.get_untracked().unwrap_or_default());
    take_up(current, draft);
    let is_changed = is_changed(current, draft);
    let command = Memo::new(move |_| {
        let typed = session.ask(|state| {
            let no = id.with_value(|id| state.jobs.find(id))?;
            Some(draft.with(|draft| draft.command(&state.jobs[no])))
        });
        typed.flatten().unwrap_or_else(|| Err(Faults::default()))
    });
    let faults = Memo::new(move |_| command.with(|command| command.as_ref().err().cloned().unwrap_or_default()));
    let preview = Memo::new(move |_| match command.get() {
        Ok(resize) => session
            .ask(|state| preview::of_change(state, &Command::ResizeJob(resize), browser::now()))
            .unwrap_or_default(),
        Err(faults) => Preview::unfinished(faults.owed.or(faults.most)),
    });
    let question = RwSignal::new(None);
    let apply = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        let Ok(resize) = command.get_untracked() else { return };
        let proposal = Proposal::of(session, Command::ResizeJob(resize), "Resize", "The service has been resized.");
        ask_first(session, question, proposal);
    };
    let curl = Callback::new(move |()| {
        command.get_untracked().ok().map(|resize| as_curl(&session.name(), &Command::ResizeJob(resize)))
    });
    let denied = Signal::derive(move || {
        let job = id.get_value();
        session.denied(&Command::ResizeJob(ResizeJob { job, pods: 1, min_pods: None }))
    });
    let is_refused = Signal::derive(move || {
        let is_good = |preview: &Preview| !matches!(preview.verdict, Verdict::Refused | Verdict::Unfinished);
        !is_changed.get() || !preview.with(is_good)
    });
    let href = Callback::new(move |job: String| path::job(&session.name(), &job));
    let owed = Signal::derive(move || draft.with(|draft| draft.owed.clone()));
    let most = Signal::derive(move || draft.with(|draft| draft.most.clone()));
    let owed_fault = Signal::derive(move || faults.with(|faults| faults.owed.clone()));
    let most_fault = Signal::derive(move || faults.with(|faults| faults.most.clone()));
    let type_owed = Callback::new(move |text| draft.update(|draft| draft.owed = text));
    let type_most = Callback::new(move |text| draft.update(|draft| draft.most = text));
    view! {
        <section class="card" aria-labelledby="size-title">
            <h2 id="size-title">"Size"</h2>
            <form class="form" on:submit=apply>
                <div class="form-row">
                    <TextField id="size-owed" label="Pods" value=owed change=type_owed fault=owed_fault is_short=true />
                    <TextField id="size-most" label="At most, if there is room" value=most change=type_most fault=most_fault is_short=true />
                </div>
                {move || is_changed.get().then(|| view! { <Consequences preview=preview href=href /> })}
                <div class="form-row">
                    <ActionButton id="resize" label="Resize" denied=denied is_idle=is_refused is_submit=true />
                    <CopyButton label="Copy as curl" text=curl />
                </div>
            </form>
            <Confirm question=question />
        </section>
    }
}
