//! A job: its state, why it waits, what has happened to it.

use engine::explain;
use engine::job::story::Episode;
use engine::message::command::CancelJob;
use engine::message::command::Command;
use engine::state::jobs::Job;
use engine::state::world::State;
use engine::unit::id::JobId;
use engine::unit::id::JobNo;
use engine::unit::time::Timestamp;
use leptos::prelude::*;

use crate::api::browser::clock;
use crate::pages::address::parameter;
use crate::pages::address::title;
use crate::pages::job_log::JobLog;
use crate::pages::job_remedy::JobRemedy;
use crate::pages::job_size::JobSize;
use crate::session::Session;
use crate::session::send::as_curl;
use crate::widgets::action_button::ActionButton;
use crate::widgets::copy_button::CopyButton;
use crate::widgets::plain_table::Cell;
use crate::widgets::plain_table::PlainTable;
use crate::widgets::state_mark::StateMark;
use crate::widgets::timeline::Moment;
use crate::widgets::timeline::Timeline;
use crate::widgets::why_panel::WhyPanel;
use console_model::explained;
use console_model::explained::WhyText;
use console_model::job_facts;
use console_model::job_state::JobState;
use console_model::offers::money_and_share;
use console_model::path;
use console_model::size_draft;

/// All that the page shows of the job.
#[derive(Clone, PartialEq)]
struct JobText {
    id: JobId,
    state: JobState,
    position: Option<usize>,
    /// What it runs on, a quota or an offer, with the address of its page.
    source: (&'static str, String, String),
    market: Vec<(&'static str, String)>,
    restarts: Vec<Vec<Cell>>,
    losses: String,
    facts: Vec<(&'static str, String)>,
    why: Option<WhyText>,
    taken: Option<String>,
    moments: Vec<Moment>,
    /// Whether it is a part of a service.
    is_part: bool,
    /// The service, or else the parts, each with what is to be said of it.
    related: Vec<(String, String)>,
}

/// The page.
#[component]
pub(crate) fn JobPage() -> impl IntoView {
    let session = Session::here();
    let name = parameter("job");
    title(move || name.get());
    let minute = session.minute();
    let text = Memo::new(move |_| {
        minute.get();
        let id = JobId::new(&name.get()).ok()?;
        session.ask(|state| state.jobs.find(&id).map(|no| describe(state, no, &state.jobs[no], session))).flatten()
    });
    let told = move || {
        match text.get() {
        Some(text) => job_view(session, text).into_any(),
        None => view! { <section class="state-page"><h1>{move || format!("No job {} is to be seen", name.get())}</h1><p>{move || absent(session)}" "<a href=path::jobs(&session.name())>"To all jobs"</a></p></section> }.into_any(),
    }
    };
    // What is typed there outlives every change of what is told above.
    view! { {told}<JobLog name=name /><JobSize name=name /> }
}

/// Why a job is not to be seen: whoever does not administer the cluster may not know of all that there are.
fn absent(session: Session) -> &'static str {
    if session.me.with(|me| me.as_ref().is_some_and(|me| me.administers)) {
        "Nobody has submitted it, or it has ended long ago and been forgotten."
    } else {
        "It may be in a workspace that you are no member of: ask its owner to add you. Or nobody has submitted it, or it has ended long ago and been forgotten."
    }
}

fn job_view(session: Session, text: JobText) -> impl IntoView {
    let JobText { id, state, position, source, market, restarts, losses, facts, why, taken, moments, .. } = text;
    let is_part = text.is_part;
    let related = text.related.into_iter().map(|(name, pods)| {
        let address = path::job(&session.name(), &name);
        view! { <li><a href=address>{name}</a>{pods}</li> }
    });
    let related: Vec<_> = related.collect();
    let (source, source_name, address) = source;
    let n_market = market.len();
    let market = market.into_iter().map(|(label, value)| view! { <div><dt>{label}</dt><dd>{value}</dd></div> });
    let name = id.as_str().to_owned();
    let asked = id.clone();
    let is_cancelling = Signal::derive(move || session.cancelling.with(|cancelling| cancelling.contains(&asked)));
    let facts = facts.into_iter().map(|(label, value)| view! { <div><dt>{label}</dt><dd>{value}</dd></div> });
    let command = StoredValue::new(Command::CancelJob(CancelJob { job: id.clone() }));
    let curl = Callback::new(move |()| {
        (!state.has_ended()).then(|| command.with_value(|command| as_curl(&session.name(), command)))
    });
    let denied = Signal::derive(move || command.with_value(|command| session.denied(command)));
    let is_idle = Signal::derive(move || state.has_ended() || is_cancelling.get());
    let label = Signal::derive(move || {
        let words = if is_cancelling.get() { "Being cancelled…" } else { "Cancel job" };
        words.to_owned()
    });
    let cancel = Callback::new(move |()| session.cancel_soon(vec![id.clone()]));
    view! {
        <div class="page-head">
            <h1>{name}</h1>
            <StateMark state=state position=position />
            <ActionButton id="cancel-job" label=label denied=denied is_idle=is_idle ends=true act=cancel />
            <CopyButton label="Copy cancel as curl" text=curl />
        </div>
        <div class="columns">
            <div>
                {taken.map(|taken| view! { <section class="card taken" aria-labelledby="taken-title"><h2 id="taken-title">"What was taken from it"</h2><p>{taken}</p></section> })}
                {why.map(|why| { let command = why.command.clone(); view! { <WhyPanel why=why remedy=move || command.map(|command| view! { <JobRemedy command=command /> }) /> } })}
                <section class="card" aria-labelledby="timeline-title">
                    <h2 id="timeline-title">"What has happened"</h2>
                    <Timeline label="Timeline" moments=moments />
                </section>
            </div>
            <div>
            {(n_market > 0).then(|| view! {
                <section class="card" aria-labelledby="market-title">
                    <h2 id="market-title">"Bid and cost"</h2>
                    <dl class="facts">{market.collect_view()}</dl>
                </section>
            })}
            {(!related.is_empty()).then(|| view! {
                <section class="card" aria-labelledby="related-title">
                    <h2 id="related-title">{if is_part { "Part of" } else { "Parts" }}</h2>
                    <ul class="plain">{related}</ul>
                </section>
            })}
            {(!restarts.is_empty()).then(|| view! {
                <section class="card" aria-labelledby="restarts-title">
                    <h2 id="restarts-title">"Restarts"</h2>
                    <p>{losses}</p>
                    <PlainTable caption="Each time it was stopped" columns=vec!["When", "Work lost", "Work kept"] rows=Signal::stored(restarts) empty="" />
                </section>
            })}
            <section class="card" aria-labelledby="facts-title">
                <h2 id="facts-title">"What it asks for"</h2>
                <dl class="facts">
                    <div><dt>{source}</dt><dd><a href=address>{source_name}</a></dd></div>
                    {facts.collect_view()}
                </dl>
            </section>
            </div>
        </div>
    }
}

fn describe(state: &State, no: JobNo, job: &Job, session: Session) -> JobText {
    let spec = &job.spec;
    let shown = JobState::of(job);
    let now = session.now.get_untracked();
    let told = job_facts::moments(job).into_iter().rev();
    let moments = told.map(|(at, text, is_loss)| Moment { at: clock(at), text, is_loss });
    JobText {
        id: spec.id.clone(),
        state: shown,
        position: job.is_queued().then(|| explained::place(state, no, now)).flatten(),
        source: source(state, job, session),
        market: market(state, no, now),
        restarts: restarts(job),
        losses: explain::losses(job),
        facts: job_facts::facts(state, job),
        why: explained::why(state, no, now),
        taken: job_facts::taken(job),
        moments: moments.collect(),
        is_part: !spec.part_of.is_none(),
        related: related(state, no),
    }
}

/// The service that a job is a part of, or its parts with their sizes and states.
fn related(state: &State, no: JobNo) -> Vec<(String, String)> {
    let service = state.service_of(no);
    if service != no {
        return vec![(state.jobs[service].spec.id.to_string(), String::new())];
    }
    let of_part = |(part, pods): (JobNo, u32)| {
        let job = &state.jobs[part];
        let plural = if pods == 1 { "" } else { "s" };
        (job.spec.id.to_string(), format!(": {pods} pod{plural}, {}", explain::status(job).as_str().to_lowercase()))
    };
    size_draft::parts(state, no).into_iter().map(of_part).collect()
}

fn source(state: &State, job: &Job, session: Session) -> (&'static str, String, String) {
    let (cluster, name) = (session.name(), state.drawn_on(&job.spec).to_owned());
    if job.bids() {
        let address = path::offer(&cluster, &name);
        ("Offer", name, address)
    } else {
        let address = path::quota(&cluster, &name);
        ("Quota", name, address)
    }
}

/// What a job with a bid pays and has paid; nothing for others.
fn market(state: &State, no: JobNo, now: Timestamp) -> Vec<(&'static str, String)> {
    let grant = state.market.accounts.get(&no).and_then(|account| account.grant);
    let offer = state.bid_of(no).map(|(offer, ..)| &state.market.offers[offer.at()]);
    let facts = [
        ("Bid", explain::bid(state, no)),
        ("Price now", offer.map(|offer| money_and_share(offer, offer.course.price()))),
        ("Safe until", grant.map(|grant| clock(grant.protected_until))),
        ("Cost", explain::cost(state, no, now)),
    ];
    facts.into_iter().filter_map(|(label, value)| Some((label, value?))).collect()
}

/// Each time it was stopped, the newest first.
fn restarts(job: &Job) -> Vec<Vec<Cell>> {
    let row = |(at, episode): &(Timestamp, Episode)| {
        let Episode::Evicted { lost_gpu_ms, saved_gpu_ms, .. } = episode else { return None };
        let cells = [clock(*at), explain::gpu_hours(*lost_gpu_ms), explain::gpu_hours(*saved_gpu_ms)];
        Some(cells.map(Cell::Number).into())
    };
    job.story.iter().rev().filter_map(row).collect()
}
