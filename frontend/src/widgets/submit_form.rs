//! The form of a new job.

use engine::job::spec::IdlePolicy;
use engine::unit::priority::Module;
use leptos::prelude::*;

use crate::widgets::action_button::ActionButton;
use crate::widgets::choice::Choice;
use crate::widgets::copy_button::CopyButton;
use crate::widgets::field::TextField;
use crate::widgets::script_fields::ScriptFields;
use crate::widgets::spot_fields::OfferChoice;
use crate::widgets::spot_fields::SourceChoice;
use crate::widgets::spot_fields::SpotFields;
use console_model::duration;
use console_model::job_draft::JobDraft;
use console_model::job_field::Field;
use console_model::job_filter::module;

/// The form.
#[component]
pub(crate) fn SubmitForm(
    /// What has been typed.
    draft: RwSignal<JobDraft>,
    /// What is wrong with it.
    faults: Memo<Vec<(Field, String)>>,
    /// What the button says.
    label: Signal<String>,
    /// Why one may not submit it.
    denied: Signal<Option<String>>,
    /// The quotas there are.
    #[prop(into)]
    quotas: Signal<Vec<(String, String)>>,
    /// The offers there are.
    offers: Memo<Vec<OfferChoice>>,
    /// The label of each dimension of a pod.
    units: Vec<String>,
    /// Whether jobs really run here, and so execute something.
    is_reported: bool,
    /// That it ends for good when idle resources are taken back from it.
    for_good: Signal<Option<&'static str>>,
    /// Submits it.
    submit: Callback<()>,
    /// The same for a terminal.
    curl: Callback<(), Option<String>>,
) -> impl IntoView {
    let fault = move |field: Field| {
        Signal::derive(move || {
            faults.with(|faults| faults.iter().find(|(at, _)| *at == field).map(|(_, fault)| fault.clone()))
        })
    };
    let read = move |read: fn(&JobDraft) -> String| Signal::derive(move || draft.with(read));
    let write = move |write: fn(&mut JobDraft, String)| {
        Callback::new(move |text: String| draft.update(|draft| write(draft, text)))
    };
    let period = move |typed: fn(&JobDraft) -> &str, hint: &'static str| {
        let told = move |draft: &JobDraft| duration::with_unit(typed(draft)).map(|period| format!("that is {period}"));
        Signal::derive(move || draft.with(told).unwrap_or_else(|| hint.to_owned()))
    };
    let amounts = units.into_iter().enumerate().map(move |(at, unit)| {
        let value = Signal::derive(move || draft.with(|draft| draft.amounts.get(at).cloned().unwrap_or_default()));
        let change = Callback::new(move |text: String| {
            draft.update(|draft| {
                if let Some(amount) = draft.amounts.get_mut(at) {
                    *amount = text;
                }
            });
        });
        let id: &'static str = ["pod-0", "pod-1", "pod-2", "pod-3", "pod-4", "pod-5", "pod-6", "pod-7"][at % 8];
        view! { <TextField id=id label=format!("{unit} per pod") value=value change=change fault=fault(Field::Amount(at)) is_short=true /> }
    });
    let modules: Vec<(String, String)> = vec![
        ("DLC".to_owned(), "DLC: training".to_owned()),
        ("DSW".to_owned(), "DSW: development instance".to_owned()),
        ("EAS".to_owned(), "EAS: inference service".to_owned()),
    ];
    let idle: Vec<(String, String)> = [
        ("off", "Off: own quota only"),
        ("acceptable", "Acceptable: own quota first, idle otherwise"),
        ("only", "Only idle: never the own quota"),
    ]
    .map(|(value, words)| (value.to_owned(), words.to_owned()))
    .into();
    let priorities: Vec<(String, String)> = (1..=9)
        .map(|priority| {
            (
                priority.to_string(),
                match priority {
                    1 => "1 (lowest)".to_owned(),
                    9 => "9 (highest)".to_owned(),
                    _ => priority.to_string(),
                },
            )
        })
        .collect();
    let on_submit = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        submit.run(());
    };
    view! {
        <form class="form" on:submit=on_submit aria-label="New job">
            <TextField id="job" label="Job name" value=read(|draft| draft.job.clone()) change=write(|draft, text| draft.job = text) fault=fault(Field::Job) />
            <SourceChoice draft=draft offers=offers />
            <div hidden=move || !draft.with(JobDraft::bids)><SpotFields draft=draft offers=offers fault=fault(Field::Price) /></div>
            <div class="form-row">
                <div class="field" hidden=move || draft.with(JobDraft::bids)><Choice id="quota" label="Quota" options=quotas value=read(|draft| draft.quota.clone()) change=write(|draft, text| draft.quota = text) /></div>
                <TextField id="workspace" label="Workspace" value=read(|draft| draft.workspace.clone()) change=write(|draft, text| draft.workspace = text) fault=fault(Field::Workspace) hint="optional" />
            </div>
            <div class="form-row">
                <Choice id="module" label="Module" options=Signal::stored(modules) value=read(|draft| draft.module.as_str().to_owned()) change=write(|draft, text| draft.module = module(&text).unwrap_or(Module::Dlc)) />
                <Choice id="priority" label="Priority" options=Signal::stored(priorities) value=read(|draft| draft.priority.to_string()) change=write(|draft, text| draft.priority = text.parse().unwrap_or(1)) />
            </div>
            <div class="form-row">
                <TextField id="pods" label="Pods" value=read(|draft| draft.pods.clone()) change=write(|draft, text| draft.pods = text) fault=fault(Field::Pods) is_short=true />
                <div class="form-row" hidden=move || draft.with(JobDraft::bids)>{amounts.collect_view()}</div>
                <p class="hint" hidden=move || !draft.with(JobDraft::bids)>"Each pod takes one instance."</p>
            </div>
            <div hidden=move || draft.with(JobDraft::bids)><Choice id="idle" label="Idle resources" options=Signal::stored(idle) value=read(|draft| idle_as_str(draft.idle).to_owned()) change=write(|draft, text| draft.idle = idle_policy(&text)) /></div>
            <Show when=move || is_reported><ScriptFields draft=draft command_fault=fault(Field::Command) environment_fault=fault(Field::Environment) /></Show>
            <div class="form-row">
                <TextField id="duration" label="Duration" value=read(|draft| draft.duration.clone()) change=write(|draft, text| draft.duration = text) fault=fault(Field::Duration) hint=period(|draft| &draft.duration, "optional, such as 2h 30m") is_short=true />
                <TextField id="checkpoint" label="Checkpoint every" value=read(|draft| draft.checkpoint.clone()) change=write(|draft, text| draft.checkpoint = text) fault=fault(Field::Checkpoint) hint=period(|draft| &draft.checkpoint, "optional, such as 30m") is_short=true />
            </div>
            <div class="form-row">
                <label class="check">
                    <input type="checkbox" prop:checked=move || draft.with(|draft| draft.is_tolerant) on:change=move |event| draft.update(|draft| draft.is_tolerant = event_target_checked(&event)) />
                    <span>"Automatic fault tolerance"</span>
                </label>
                <div hidden=move || !draft.with(|draft| draft.is_tolerant)><TextField id="restarts" label="Restarts at most" value=read(|draft| draft.max_restarts.clone()) change=write(|draft, text| draft.max_restarts = text) fault=fault(Field::Restarts) is_short=true /></div>
            </div>
            <div role="status">{move || for_good.get().map(|reason| view! { <p class="warning">{reason}" "<button type="button" on:click=move |_| draft.update(JobDraft::queue_again)>"Queue it again instead"</button></p> })}</div>
            <div class="form-row">
                <ActionButton id="submit-job" label=label denied=denied is_idle=Signal::derive(move || faults.with(|faults| !faults.is_empty())) is_submit=true />
                <CopyButton label="Copy as curl" text=curl />
            </div>
        </form>
    }
}

fn idle_as_str(idle: IdlePolicy) -> &'static str {
    match idle {
        IdlePolicy::Off => "off",
        IdlePolicy::Acceptable => "acceptable",
        IdlePolicy::Only => "only",
    }
}

fn idle_policy(text: &str) -> IdlePolicy {
    [IdlePolicy::Off, IdlePolicy::Acceptable, IdlePolicy::Only]
        .into_iter()
        .find(|idle| idle_as_str(*idle) == text)
        .unwrap_or_default()
}
