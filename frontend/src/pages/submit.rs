//! A new job. While it is typed, the engine in the browser says what would happen.

use engine::market::offer::SpotOffer;
use engine::message::command::Command;
use engine::unit::resource::ResourceType;
use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos_router::NavigateOptions;
use leptos_router::hooks::use_navigate;

use crate::api::browser;
use crate::pages::address::title;
use crate::pages::jobs::quota_options;
use crate::session::Session;
use crate::session::send::as_curl_with;
use crate::session::url;
use crate::widgets::consequences::Consequences;
use crate::widgets::spot_fields::OfferChoice;
use crate::widgets::submit_form::SubmitForm;
use console_model::amount::unit;
use console_model::job_draft::JobDraft;
use console_model::offers;
use console_model::offers::money_and_share;
use console_model::path;
use console_model::preview;
use console_model::preview::Preview;

/// The page.
#[component]
pub(crate) fn SubmitPage() -> impl IntoView {
    let session = Session::here();
    title(|| "Submit a job".to_owned());
    let (quota, set_quota) = url::typed("quota");
    let (offer, set_offer) = url::typed("offer");
    let first = session.ask_once(|state| {
        let mut draft = JobDraft::new(&state.cluster, browser::unique_enough("job"), quota.get_untracked());
        let offer = offers::find(state, &offer.get_untracked()).map(|no| &state.market.offers[no.at()]);
        if let Some(offer) = offer {
            draft.spot.choose(offer.id.as_str().to_owned(), offer.resource_type == ResourceType::Lingjun);
        }
        draft
    });
    let Some(first) = first else { return ().into_any() };
    let draft = RwSignal::new(first);
    Effect::new(move |_| {
        let chosen = draft.with(|draft| draft.quota.clone());
        if chosen != quota.get_untracked() {
            set_quota.run(chosen);
        }
        let chosen = draft.with(|draft| draft.spot.offer.clone());
        if chosen != offer.get_untracked() {
            set_offer.run(chosen);
        }
    });
    let command = Memo::new(move |_| {
        session.ask(|state| draft.with(|draft| draft.command(&state.cluster))).unwrap_or_else(|| Err(Vec::new()))
    });
    let script = Memo::new(move |_| {
        session.ask(|state| draft.with(|draft| draft.script(&state.cluster))).unwrap_or_else(|| Err(Vec::new()))
    });
    let faults = Memo::new(move |_| {
        let mut faults = command.with(|command| command.as_ref().err().cloned().unwrap_or_default());
        faults.extend(script.with(|script| script.as_ref().err().cloned().unwrap_or_default()));
        faults
    });
    let denied = Signal::derive(move || session.denied(&Command::SubmitJob(command.get().ok()?)));
    // What the button beside it does not do is not promised.
    let preview = Memo::new(move |_| match (command.get(), faults.get().into_iter().next(), denied.get()) {
        (Ok(_), None, Some(reason)) => Preview::denied(&reason),
        (Ok(submit), None, None) => {
            session.ask(|state| preview::of_job(state, &submit, browser::now())).unwrap_or_default()
        }
        (_, fault, _) => Preview::unfinished(fault.map(|(_, fault)| fault)),
    });
    let units = session.ask_once(|state| {
        state.cluster.dimensions.iter().map(|dimension| label(&dimension.name, unit(dimension))).collect::<Vec<_>>()
    });
    let is_reported = session.ask_once(|state| state.cluster.is_reported()).unwrap_or_default();
    let offers = Memo::new(move |_| {
        let choice = |offer: &SpotOffer| OfferChoice {
            name: offer.id.as_str().to_owned(),
            is_lingjun: offer.resource_type == ResourceType::Lingjun,
            price: money_and_share(offer, offer.course.price()),
        };
        session.ask(|state| state.market.live_offers().map(|(_, offer)| choice(offer)).collect()).unwrap_or_default()
    });
    let label = Signal::derive(move || preview.with(|preview| preview.cost.button("Submit job")));
    let for_good = Signal::derive(move || preview.with(|preview| preview.for_good));
    let navigate = use_navigate();
    let submit = Callback::new(move |()| {
        let (Ok(submit), Ok(script)) = (command.get_untracked(), script.get_untracked()) else { return };
        let address = path::job(&session.name(), submit.job.as_str());
        let navigate = navigate.clone();
        spawn_local(async move {
            if session.send_with(Command::SubmitJob(submit), script).await.is_ok() {
                navigate(&address, NavigateOptions::default());
            }
        });
    });
    let curl = Callback::new(move |()| {
        let (submit, script) = (command.get_untracked().ok()?, script.get_untracked().ok()?);
        Some(as_curl_with(&session.name(), &Command::SubmitJob(submit), script))
    });
    view! {
        <div class="page-head"><h1>"Submit a job"</h1></div>
        <div class="columns">
            <section class="card" aria-label="Form">
                <SubmitForm draft=draft faults=faults label=label denied=denied offers=offers quotas=quota_options(session, "Choose a quota") units=units.unwrap_or_default() is_reported=is_reported for_good=for_good submit=submit curl=curl />
            </section>
            <div class="card sticky"><Consequences preview=preview href=Callback::new(move |job: String| path::job(&session.name(), &job)) /></div>
        </div>
    }
    .into_any()
}

/// `GPUs`, or `h100 (GPUs)` where there are several types.
fn label(name: &str, unit: &str) -> String {
    if matches!(name, "gpu" | "cpu") { unit.to_owned() } else { format!("{name} ({unit})") }
}
