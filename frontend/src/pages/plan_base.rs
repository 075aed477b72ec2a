//! Where a plan begins, and how far it looks.

use engine::unit::limit;
use engine::unit::time::Millis;
use js_sys::Array;
use leptos::prelude::*;
use planner::page::message::LookAhead;
use planner::page::message::Source;

use crate::api::bench::remote;
use crate::api::browser;
use crate::api::browser::clock;
use crate::pages::plan_past;
use crate::pages::plan_past::PlanPast;
use crate::session::Session;
use crate::session::link;
use crate::session::plan::Plan;
use crate::session::url;
use crate::widgets::choice::Choice;
use console_model::path;

const EXAMPLES: [(&str, &str); 3] = [
    ("move-gpus", "Example: move GPUs between teams"),
    ("child-level", "Example: child-level preemption"),
    ("idle", "Example: idle resources"),
];

/// How far a plan may look, in hours; nothing: until nothing happens any more.
const LENGTHS: [(&str, &str); 6] =
    [("6", "6 hours"), ("24", "24 hours"), ("72", "3 days"), ("168", "7 days"), ("720", "30 days"), ("", "to the end")];

/// How the address says that there is no such limit.
const TO_THE_END: &str = "end";

/// How far the address asks to look.
fn asked(look: &str) -> LookAhead {
    if look == TO_THE_END {
        return LookAhead::End;
    }
    let hours = look.parse::<i64>().ok().filter(|hours| *hours > 0);
    let length = hours.map(|hours| hours.saturating_mul(Millis::HOUR.0).min(limit::PLAN_MS_MAX));
    length.map_or(LookAhead::Usual, |length| LookAhead::For(Millis(length)))
}

/// How far a plan may look, and how far this one does.
fn lengths(plan: Plan) -> (Memo<Vec<(String, String)>>, Memo<String>) {
    let is = move || plan.length.get().is;
    let value = move |length: Option<Millis>| match length {
        None => String::new(),
        Some(length) if length.0 % Millis::HOUR.0 == 0 => (length.0 / Millis::HOUR.0).to_string(),
        Some(length) => engine::explain::period(length),
    };
    let lengths = Memo::new(move |_| {
        let mut lengths = LENGTHS.map(|(hours, words)| (hours.to_owned(), words.to_owned())).to_vec();
        let own = is().map(|length| (value(Some(length)), engine::explain::period(length)));
        lengths.extend(own.filter(|(own, _)| !lengths.iter().any(|(known, _)| known == own)));
        lengths
    });
    (lengths, Memo::new(move |_| value(is())))
}

/// Where a plan may begin: what has no address of its own is there while it is asked for or open.
fn beginnings(plan: Plan, own: RwSignal<Option<&'static str>>, has_cluster: bool) -> Memo<Vec<(String, String)>> {
    Memo::new(move |_| {
        let of_cluster = [("live", "The cluster as it is"), ("past", "What happened")];
        let unnamed = [("link", "A shared plan"), ("files", "Files of this computer")];
        let is_open = |name: &str| plan.beginning.with(|beginning| beginning.open == name);
        let of_cluster = of_cluster.into_iter().filter(|_| has_cluster);
        let unnamed = unnamed.into_iter().filter(|(name, _)| own.get() == Some(name) || is_open(name));
        let all = of_cluster.chain(EXAMPLES).chain(unnamed);
        all.map(|(name, words)| (name.to_owned(), words.to_owned())).collect()
    })
}

/// Asks for the beginning of this name.
fn open_named(plan: Plan, session: Option<Session>, (name, since): (&str, &str), look: LookAhead) {
    match (name, session) {
        ("link" | "files", _) => {}
        ("live", Some(session)) => open_live(plan, session, look),
        ("past", Some(session)) => {
            plan.open_past(session.name().to_string(), plan_past::read(since), look.length(Some(plan_past::USUAL)));
        }
        (example, _) => {
            let file = remote(&format!("/workbench/plans/{example}.json"));
            plan.open(example, Source::Example, &file, look);
        }
    }
}

/// The choice.
#[component]
pub(crate) fn PlanBase(plan: Plan) -> impl IntoView {
    let session = use_context::<Session>();
    let (from, set_from) = url::chosen("from");
    let (since, set_since) = url::chosen("since");
    let (look, set_look) = url::chosen("look");
    // What has no address of its own: a link's plan, and files.
    let own = RwSignal::new(None::<&'static str>);
    let usual = if session.is_some() { "live" } else { "move-gpus" };
    let chosen = Signal::derive(move || {
        let named = from.get();
        own.get().map_or(if named.is_empty() { usual.to_owned() } else { named }, str::to_owned)
    });
    let open_link = move || {
        let Some(link) = browser::fragment("plan") else { return };
        own.set(Some("link"));
        plan.open("link", Source::Link(link), &Array::new(), asked(&look.get_untracked()));
    };
    open_link();
    let anew = RwSignal::new(0);
    Effect::new(move |before: Option<(String, String, i32)>| {
        let place = (chosen.get(), since.get(), anew.get());
        // Where the past was refused, what is shown is another beginning.
        let is_another = plan
            .beginning
            .with_untracked(|beginning| beginning.is_refused && !matches!(beginning.open.as_str(), "" | "past"));
        let is_past = place.0 == "past" && !is_another;
        let look = asked(&look.get());
        // The log of the past has been read only as far as was looked.
        if before.as_ref() == Some(&place) && !is_past {
            plan.look(look);
            return place;
        }
        untrack(|| open_named(plan, session, (&place.0, &place.1), look));
        place
    });
    // What cannot be opened is not shown as if it were: it can be chosen again.
    let shown = Memo::new(move |_| {
        let open = plan.beginning.with(|beginning| beginning.is_refused.then(|| beginning.open.clone()));
        open.unwrap_or_else(|| chosen.get())
    });
    let open = Callback::new(move |source: String| {
        own.set(None);
        set_look.run(String::new());
        set_from.run(if source == usual { String::new() } else { source });
        anew.update(|anew| *anew += 1);
    });
    // A link that is pasted over the address does not load the page anew.
    let pasted = window_event_listener(leptos::ev::hashchange, move |_| open_link());
    on_cleanup(move || pasted.remove());
    let options = beginnings(plan, own, session.is_some());
    let (lengths, length) = lengths(plan);
    let is_past = Memo::new(move |_| chosen.with(|chosen| chosen == "past"));
    let look =
        Callback::new(move |hours: String| set_look.run(if hours.is_empty() { TO_THE_END.to_owned() } else { hours }));
    let take = move |files: Option<web_sys::FileList>| {
        let Some(files) = files.filter(|files| files.length() > 0) else { return };
        own.set(Some("files"));
        set_look.run(String::new());
        plan.open("files", Source::Files, &Array::from(&files), LookAhead::Usual);
    };
    let is_over = RwSignal::new(false);
    view! {
        <section
            class="card plan-base"
            class:is-over=is_over
            aria-label="Beginning"
            on:dragover=move |event| {
                event.prevent_default();
                is_over.set(true);
            }
            on:dragleave=move |_| is_over.set(false)
            on:drop=move |event| {
                event.prevent_default();
                is_over.set(false);
                take(event.data_transfer().and_then(|transfer| transfer.files()));
            }
        >
            <div class="form-row">
                <Choice id="plan-from" label="Begin with" options=options value=shown change=open />
                <Choice id="plan-length" label="Look ahead" options=lengths value=length change=look />
                <div class="field">
                    <label for="plan-files">"Or open files (or drop them here)"</label>
                    <input type="file" id="plan-files" multiple on:change=move |event| {
                        let field = event_target::<web_sys::HtmlInputElement>(&event);
                        take(field.files());
                        // The same file can be chosen again once it has been mended.
                        field.set_value("");
                    } />
                </div>
            </div>
            {move || is_past.get().then(|| view! { <PlanPast plan=plan since=since choose=set_since /> })}
            <Facts plan=plan session=session renew=Callback::new(move |()| open.run("live".to_owned())) />
        </section>
    }
}

/// What the plan begins with, and whether the cluster has moved on since.
#[component]
fn Facts(plan: Plan, session: Option<Session>, renew: Callback<()>) -> impl IntoView {
    let words = move || {
        plan.facts.with(|facts| {
            let facts = facts.as_ref()?;
            let place =
                facts.place.as_ref().map(|place| format!(", revision {} at {}", place.revision, clock(facts.from)));
            let ahead = if facts.n_ahead > 0 { format!(", {} more to come", facts.n_ahead) } else { String::new() };
            Some(format!(
                "{}{}: {} quotas, {} jobs{ahead}.",
                facts.title,
                place.unwrap_or_default(),
                facts.quotas.len(),
                facts.n_jobs
            ))
        })
    };
    let moved = Memo::new(move |_| {
        let session = session?;
        let here = plan.facts.with(|facts| facts.as_ref().and_then(|facts| facts.place.clone()))?;
        let is_same = here.cluster == *session.name();
        session.ask(|state| state.revision).filter(|revision| is_same && *revision > here.revision)
    });
    let remarks =
        move || plan.facts.with(|facts| facts.as_ref().map(|facts| facts.remarks.clone())).unwrap_or_default();
    view! {
        <p class="plan-facts">{move || words().unwrap_or_else(|| if plan.failed.with(Option::is_some) { "No plan is open." } else { "Loading the first state of the plan." }.to_owned())}</p>
        {move || remarks().into_iter().map(|remark| view! { <p class="hint">{remark}</p> }).collect_view()}
        {move || moved.get().map(|revision| view! {
            <p class="plan-moved">{format!("The cluster is at revision {revision} by now. ")}<button type="button" class="quiet" on:click=move |_| renew.run(())>"Plan from the newest state"</button></p>
        })}
    }
}

/// The state as it is known here, or newer, with the changes that there are.
pub(crate) fn open_live(plan: Plan, session: Session, look: LookAhead) {
    let name = session.name();
    let revision = link::confirmed(session).unwrap_or_default();
    let url = path::api(&name, &format!("snapshot?min_revision={revision}"));
    plan.open("live", Source::Live { cluster: name.to_string(), at: browser::now() }, &remote(&url), look);
}
