//! From a plan to the cluster, or to somebody else.

use std::sync::Arc;

use engine::message::command::ApplyPlan;
use engine::message::command::Command;
use engine::message::envelope::Envelope;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::api::browser;
use crate::pages::ask_first::Proposal;
use crate::pages::ask_first::ask_first;
use crate::pages::plan_base::open_live;
use crate::session::Session;
use crate::session::link;
use crate::session::plan::Plan;
use crate::widgets::action_button::ActionButton;
use crate::widgets::confirm::Confirm;
use crate::widgets::copy_button::CopyButton;
use console_model::explained::sentence;
use console_model::freshness::has_only_ticked;
use console_model::path;

/// What became of applying a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Applied {
    Done(String),
    Refused(String),
}

/// The buttons.
#[component]
pub(crate) fn PlanApply(plan: Plan) -> impl IntoView {
    let session = use_context::<Session>();
    view! {
        {session.map(|session| view! { <Apply plan=plan session=session /> })}
        <Share plan=plan />
    }
}

#[component]
fn Apply(plan: Plan, session: Session) -> impl IntoView {
    let applied = RwSignal::new(None::<Applied>);
    let question = RwSignal::new(None);
    let place = move || plan.facts.with(|facts| facts.as_ref().and_then(|facts| facts.place.clone()));
    let is_here = Memo::new(move |_| place().is_some_and(|place| place.cluster == *session.name()));
    let commands = move || {
        let items = plan.draft()?.items.get();
        let on = items.into_iter().map(|item| item.change.get()).filter(|change| !change.is_off);
        Some(on.map(|change| change.command).collect::<Vec<_>>())
    };
    let denied = Signal::derive(move || {
        if !is_here.get() {
            return Some("Only a plan that begins with this cluster can be applied to it.".to_owned());
        }
        session.denied(&Command::ApplyPlan(ApplyPlan { commands: commands().unwrap_or_default() }))
    });
    let is_idle = Signal::derive(move || commands().is_none_or(|commands| commands.is_empty()));
    let act = Callback::new(move |()| {
        applied.set(None);
        if let Some(draft) = untrack(|| plan.draft()) {
            plan.apply(draft);
        }
    });
    Effect::new(move |_| {
        let Some((envelope, later)) = plan.application.get() else { return };
        plan.application.set(None);
        if matches!(&envelope.command, Command::ApplyPlan(plan) if plan.commands.is_empty()) {
            applied.set(Some(Applied::Refused("Nothing has been applied: all changes are for later.".to_owned())));
            return;
        }
        let command = envelope.command.clone();
        let send = Arc::new(move || send(session, envelope.clone(), later, applied));
        ask_first(session, question, Proposal { command, action: "Apply", send });
    });
    let name = move || plan.draft().map(|draft| draft.name.get()).unwrap_or_default();
    view! {
        <div class="form-row"><ActionButton id="plan-apply-button" label="Apply to the cluster" denied=denied is_idle=is_idle act=act /><span class="hint">{name}</span></div>
        <div aria-live="polite">
            {move || applied.get().map(|applied| match applied {
                Applied::Done(words) => view! { <p class="help">{words}</p> }.into_any(),
                Applied::Refused(words) => view! {
                    <p class="warning">{words}</p>
                    <button type="button" on:click=move |_| open_live(plan, session, plan.as_far())>"Plan from the newest state"</button>
                }.into_any(),
            })}
        </div>
        <Confirm question=question />
    }
}

/// Sends a plan, and says what became of it and how many of its changes are for later.
fn send(session: Session, envelope: Envelope, later: u64, applied: RwSignal<Option<Applied>>) {
    spawn_local(async move {
        let outcome = session.send_envelope(rebased(session, envelope)).await;
        applied.try_set(Some(match outcome {
            Ok(_) if later > 0 => {
                let left = if later == 1 { "1 change".to_owned() } else { format!("{later} changes") };
                Applied::Done(format!("The plan has been applied. For later, and still here: {left}."))
            }
            Ok(_) => Applied::Done("The plan has been applied.".to_owned()),
            Err(failure) => Applied::Refused(sentence(&failure.to_string())),
        }));
    });
}

/// Rounds in which nothing happened move the revision, but not the world.
fn rebased(session: Session, envelope: Envelope) -> Envelope {
    let newest = link::confirmed(session);
    let has_only_ticked = |base: u64, newest: u64| {
        session.entries.with_untracked(|entries| has_only_ticked(entries.iter().map(AsRef::as_ref), base, newest))
    };
    match (envelope.base, newest) {
        (Some(base), Some(newest)) if has_only_ticked(base, newest) => Envelope { base: Some(newest), ..envelope },
        _ => envelope,
    }
}

#[component]
fn Share(plan: Plan) -> impl IntoView {
    let address = move || {
        plan.shared.with(|shared| {
            let link = shared.as_ref()?.link.as_ref()?;
            Some(format!("{}{}", browser::origin(), path::shared_plan(link)))
        })
    };
    let copy = Callback::new(move |()| address());
    let shown = move || {
        plan.shared.with(Option::is_some).then(|| {
            let link = match address() {
                Some(address) => view! {
                    <div class="field"><label for="plan-link">"Link"</label><input type="text" id="plan-link" readonly prop:value=address /></div>
                    <CopyButton label="Copy the link" text=copy />
                }
                .into_any(),
                None => view! { <p>"The plan is too large for a link; save it as a file, which this page opens."</p> }.into_any(),
            };
            view! {
                <p class="hint">"It holds the quotas and jobs of the plan's beginning: anybody who has it sees them, with or without a key."</p>
                {link}
                <button type="button" class="quiet" on:click=move |_| plan.save()>"Save as a file"</button>
            }
        })
    };
    view! {
        <div class="form-row"><button type="button" on:click=move |_| plan.share()>"Share"</button></div>
        <div aria-live="polite">{shown}</div>
    }
}
