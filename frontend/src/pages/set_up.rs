//! The guided set-up of a cluster: machines, quotas, policies, people. Each step is also shown as a command and a file, and
//! adds to what is there.

use engine::state::world::State;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::api::browser;
use crate::pages::address::title;
use crate::pages::ask_first::Proposal;
use crate::pages::ask_first::ask_first;
use crate::pages::set_up_people::People;
use crate::pages::set_up_plan::made_of;
use crate::pages::set_up_plan::plan;
use crate::session::Session;
use crate::session::notices::Tone;
use crate::widgets::action_button::ActionButton;
use crate::widgets::choice::Choice;
use crate::widgets::confirm::Confirm;
use crate::widgets::field::TextField;
use crate::widgets::step::Step;
use crate::widgets::step::Ways;
use console_model::path;
use console_model::set_up;
use console_model::set_up::Machines;
use console_model::set_up::Made;
use console_model::set_up::Policies;
use console_model::set_up::Quotas;

const RUNS: &str = "reported";
const PRETENDS: &str = "simulated";

/// The page.
#[component]
pub(crate) fn SetUpPage() -> impl IntoView {
    let session = Session::here();
    title(|| "Set-up".to_owned());
    let done = Memo::new(move |_| session.ask(set_up::done).unwrap_or_default());
    let is_done = move |at: usize| Signal::derive(move || done.with(|done| done.get(at).copied().unwrap_or_default()));
    let n_done = move || done.with(|done| done.iter().filter(|is_done| **is_done).count());
    let name = session.name();
    view! {
        <div class="page-head">
            <h1>{format!("Set up {name}")}</h1>
            <a class="button" href=path::submit(&name)>"Submit a job"</a>
        </div>
        <p class="hint" role="status">{move || format!("{} of 4 steps done. What is there stays; each step adds to it.", n_done())}</p>
        <ol class="steps">
            <Step number=1 title="Machines" is_done=is_done(0) about="A job runs on machines of a group. These are alike; add others in further turns.">{machines(session)}</Step>
            <Step number=2 title="Quotas" is_done=is_done(1) about="One quota has all GPUs, and each team a guaranteed part of it. What a team leaves idle others can borrow, and it comes back at once when the team needs it.">{quotas(session)}</Step>
            <Step number=3 title="Policies" is_done=is_done(2) about="What holds for every team. Each quota's page has all settings, and says what they come to.">{policies(session)}</Step>
            <Step number=4 title="People and keys" is_done=is_done(3) about="A workspace for each team; people have a role in it, and log in with a key."><People /></Step>
        </ol>
    }
}

/// The button of a step: what is wrong stands beside it, and what takes something from a job is asked first.
fn apply(
    session: Session,
    made: Memo<Result<Made, String>>,
    id: &'static str,
    label: &'static str,
    done: &'static str,
) -> impl IntoView {
    let question = RwSignal::new(None);
    let has_nothing =
        Signal::derive(move || made.with(|made| made.as_ref().map_or(true, |made| made.commands.is_empty())));
    let denied = Signal::derive(move || session.denied(made.get().ok()?.commands.first()?));
    let wrong = move || made.with(|made| made.as_ref().err().cloned());
    let is_there = move || made.with(|made| made.as_ref().is_ok_and(|made| made.commands.is_empty()));
    let act = Callback::new(move |()| {
        if let Ok(made) = made.get_untracked() {
            ask_first(session, question, Proposal::of(session, plan(&made), "Apply", done));
        }
    });
    view! {
        <div class="form-row">
            <ActionButton id=id label=label denied=denied is_idle=has_nothing act=act />
            <span class="hint" role="status">{move || is_there().then_some("It is so already.")}</span>
        </div>
        {move || wrong().map(|wrong| view! { <p class=class_of(&wrong)>{wrong.clone()}</p> })}
        <Confirm question=question />
    }
}

/// That an earlier step is missing is nobody's mistake.
fn class_of(wrong: &str) -> &'static str {
    if [set_up::NO_CLUSTER, set_up::NO_QUOTAS].contains(&wrong) { "hint" } else { "fault" }
}

fn machines(session: Session) -> impl IntoView {
    let draft = RwSignal::new(Machines::default());
    let execution = RwSignal::new(None::<String>);
    let known = Memo::new(move |_| session.ask(|state| state.cluster.is_reported()));
    let wanted = Signal::derive(move || {
        let as_it_is = if known.get().is_some_and(|is_reported| !is_reported) { PRETENDS } else { RUNS };
        execution.get().unwrap_or_else(|| as_it_is.to_owned())
    });
    let made = Memo::new(move |_| {
        let really_runs = wanted.get() == RUNS;
        let of = |state: Option<&State>| draft.with(|draft| draft.made(state, really_runs));
        session.ask(|state| of(Some(state))).unwrap_or_else(|| of(None))
    });
    let add = Callback::new(move |()| {
        let Ok(made) = made.get_untracked() else { return };
        let declaration = known.get_untracked().is_none().then(|| set_up::declaration(wanted.get_untracked() == RUNS));
        spawn_local(async move {
            if let Some(declaration) = declaration
                && session.send(declaration).await.is_err()
            {
                return;
            }
            if session.send(plan(&made)).await.is_ok() {
                session.notices.show(Tone::Done, "The machines are there.".to_owned(), None);
            }
            session.look_again();
        });
    });
    let denied = Signal::derive(move || session.denied(made.get().ok()?.commands.first()?));
    let is_idle = Signal::derive(move || made.with(|made| made.as_ref().map_or(true, |made| made.commands.is_empty())));
    let wrong = move || made.with(|made| made.as_ref().err().cloned());
    let field =
        move |id: &'static str, label: &'static str, get: fn(&Machines) -> String, set: fn(&mut Machines, String)| {
            let value = Signal::derive(move || draft.with(get));
            let change = Callback::new(move |text| draft.update(|draft| set(draft, text)));
            view! { <TextField id=id label=label value=value change=change is_short=true /> }
        };
    let options = vec![
        (RUNS.to_owned(), "really run, by an agent on each machine".to_owned()),
        (PRETENDS.to_owned(), "are pretended, to try things out".to_owned()),
    ];
    let agents = move || draft.with(|draft| draft.agents(&browser::origin(), &session.name()));
    let login = Signal::derive(move || set_up::login(&browser::origin(), &session.name()));
    let really_runs = Memo::new(move |_| wanted.get() == RUNS);
    view! {
        <div class="form-row">
            {field("machines-count", "Machines", |draft| draft.count.clone(), |draft, text| draft.count = text)}
            {field("machines-gpus", "GPUs of each", |draft| draft.gpus.clone(), |draft, text| draft.gpus = text)}
            {field("machines-prefix", "Names begin with", |draft| draft.prefix.clone(), |draft, text| draft.prefix = text)}
            {field("machines-group", "Group", |draft| draft.group.clone(), |draft, text| draft.group = text)}
            <Choice id="machines-jobs" label="Jobs" options=Signal::stored(options) value=wanted change=Callback::new(move |text| execution.set(Some(text))) />
        </div>
        <div class="form-row"><ActionButton id="add-machines" label="Add machines" denied=denied is_idle=is_idle act=add /></div>
        {move || wrong().map(|wrong| view! { <p class="fault">{wrong}</p> })}
        <Ways made=made file="machines.toml" first=login />
        {move || really_runs.get().then(|| view! {
            <p>"Then an agent on each machine, which runs its jobs; this is for the first one:"</p>
            <pre class="shell" tabindex="0">{agents}</pre>
        })}
    }
}

fn quotas(session: Session) -> impl IntoView {
    let first = session.ask_once(|state| Quotas::of(Some(state))).unwrap_or_else(|| Quotas::of(None));
    let draft = RwSignal::new(first);
    let is_typed = RwSignal::new(false);
    // The suggestion goes with the machines that there are.
    let suggestion = Memo::new(move |_| session.ask(|state| Quotas::of(Some(state))));
    Effect::new(move |_| {
        if let Some(suggestion) = suggestion.get().filter(|_| !is_typed.get_untracked()) {
            draft.set(suggestion);
        }
    });
    let made = made_of(session, draft, Quotas::made);
    let type_root = Callback::new(move |text| {
        is_typed.set(true);
        draft.update(|draft| draft.root = text);
    });
    let type_teams = Callback::new(move |text| {
        is_typed.set(true);
        draft.update(|draft| draft.teams = text);
    });
    view! {
        <div class="form-row">
            <TextField id="quotas-root" label="Quota of everything" value=Signal::derive(move || draft.with(|draft| draft.root.clone())) change=type_root is_short=true />
            <TextField id="quotas-teams" label="Teams" hint="One a line: its name and its GPUs" value=Signal::derive(move || draft.with(|draft| draft.teams.clone())) change=type_teams lines=4 />
        </div>
        {apply(session, made, "make-quotas", "Make quotas", "The quotas are there.")}
        <Ways made=made file="quotas.toml" />
    }
}

fn policies(session: Session) -> impl IntoView {
    let draft =
        RwSignal::new(session.ask_once(|state| Policies::of(Some(state))).unwrap_or_else(|| Policies::of(None)));
    let made = made_of(session, draft, Policies::made);
    let check = move |label: &'static str, get: fn(&Policies) -> bool, set: fn(&mut Policies, bool)| {
        view! {
            <label class="check">
                <input type="checkbox" prop:checked=move || draft.with(get) on:change=move |event| draft.update(|draft| set(draft, event_target_checked(&event))) />
                <span>{label}</span>
            </label>
        }
    };
    let grace = Signal::derive(move || draft.with(|draft| draft.grace.clone()));
    view! {
        <div class="form-row">
            {check("Others may borrow what a team leaves idle", |draft| draft.lends, |draft, is_on| draft.lends = is_on)}
            {check("Training of priority 1 to 3 makes room for jobs of priority 7 to 9 of the same team", |draft| draft.urgent_first, |draft, is_on| draft.urgent_first = is_on)}
            <TextField id="policies-grace" label="Grace period" hint="How long an evicted job has to stop, such as 30s or 2m" value=grace change=Callback::new(move |text| draft.update(|draft| draft.grace = text)) is_short=true />
        </div>
        {apply(session, made, "save-policies", "Save policies", "The policies are saved.")}
        <Ways made=made file="policies.toml" />
    }
}
