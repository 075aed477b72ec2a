//! What a job executes, where jobs really run.

use leptos::prelude::*;

use crate::widgets::choice::Choice;
use crate::widgets::field::TextField;
use console_model::job_draft::JobDraft;
use console_model::script_draft::SIGNALS;

/// The fields of a new job's command.
#[component]
pub(crate) fn ScriptFields(
    /// What has been typed.
    draft: RwSignal<JobDraft>,
    /// What is wrong with the command.
    command_fault: Signal<Option<String>>,
    /// What is wrong with the variables.
    environment_fault: Signal<Option<String>>,
) -> impl IntoView {
    let read = move |read: fn(&JobDraft) -> String| Signal::derive(move || draft.with(read));
    let write = move |write: fn(&mut JobDraft, String)| {
        Callback::new(move |text: String| draft.update(|draft| write(draft, text)))
    };
    let signals = [("", "No signal before SIGTERM")].into_iter().chain(SIGNALS.map(|(name, _)| (name, name)));
    let signals: Vec<(String, String)> = signals.map(|(value, words)| (value.to_owned(), words.to_owned())).collect();
    view! {
        <TextField id="command" label="Command" value=read(|draft| draft.script.command.clone()) change=write(|draft, text| draft.script.command = text) fault=command_fault hint="run by a shell on each pod's node" lines=3 />
        <div class="form-row">
            <TextField id="directory" label="Working directory" value=read(|draft| draft.script.directory.clone()) change=write(|draft, text| draft.script.directory = text) hint="optional; otherwise a new folder" />
            <Choice id="signal" label="Checkpoint signal" options=Signal::stored(signals) value=read(|draft| draft.script.signal().to_owned()) change=write(|draft, text| draft.script.choose_signal(&text)) />
        </div>
        <TextField id="environment" label="Environment" value=read(|draft| draft.script.environment.clone()) change=write(|draft, text| draft.script.environment = text) fault=environment_fault hint="optional: a line NAME=VALUE for each variable; no secrets, they are stored with the job" lines=2 />
    }
}
