//! A quota: where its GPUs are, who waits, who holds its loans, and its settings.

use std::sync::Arc;

use engine::explain;
use engine::ledger::is_within;
use engine::ledger::loans::loans;
use engine::message::command::Command;
use engine::message::command::DeleteQuota;
use engine::schedule::order;
use engine::state::world::State;
use engine::unit::id::DomainNo;
use engine::unit::id::QuotaId;
use engine::unit::id::QuotaNo;
use engine::unit::time::Timestamp;
use leptos::prelude::*;

use crate::api::browser;
use crate::pages::address::parameter;
use crate::pages::address::title;
use crate::pages::deletion::Deletion;
use crate::pages::quota_policies::QuotaPolicies;
use crate::pages::quota_scale::QuotaScale;
use crate::session::Session;
use crate::widgets::loan_list::LoanLine;
use crate::widgets::loan_list::LoanList;
use crate::widgets::queue_list::QueueList;
use crate::widgets::queue_list::Waiting;
use crate::widgets::quota_bar::QuotaBar;
use crate::widgets::quota_bar::sentence;
use console_model::books::Book;
use console_model::deletion;
use console_model::explained;
use console_model::gpus;
use console_model::path;

/// How many waiting jobs the page lists.
const QUEUE_SHOWN: usize = 50;

/// The page.
#[component]
pub(crate) fn QuotaPage() -> impl IntoView {
    let session = Session::here();
    let name = parameter("quota");
    title(move || name.get());
    let no = Memo::new(move |_| {
        let id = QuotaId::new(&name.get()).ok()?;
        session.ask(|state| state.quota_no(&id)).flatten()
    });
    move || {
        match no.get() {
        Some(no) => quota_view(session, no, &name.get_untracked()).into_any(),
        None => view! { <section class="state-page"><h1>{move || format!("There is no quota {}", name.get())}</h1><p><a href=path::cluster(&session.name())>"To all quotas"</a></p></section> }.into_any(),
    }
    }
}

fn quota_view(session: Session, no: QuotaNo, name: &str) -> impl IntoView {
    let cluster = session.name();
    let book = Memo::new(move |_| session.books.with(|books| books.get(no)));
    let href = Callback::new(move |job: String| path::job(&session.name(), &job));
    let family = Memo::new(move |_| session.ask(|state| family(state, no)).unwrap_or_default());
    let queue = Memo::new(move |_| session.ask(|state| queue(state, no, browser::now())).unwrap_or_default());
    let loans = Memo::new(move |_| session.ask(|state| loan_lines(state, no)).unwrap_or_default());
    let relation = move |label: &'static str, names: Vec<String>| {
        let links =
            names.into_iter().map(|name| view! { <a href=path::quota(&session.name(), &name)>{name.clone()}</a>" " });
        let links = links.collect::<Vec<_>>();
        (!links.is_empty()).then(|| view! { <span><span class="hint">{label}</span>" "{links}</span> })
    };
    let deletion = QuotaId::new(name).ok().map(|quota| {
        let command = Command::DeleteQuota(DeleteQuota { quota });
        let says = Arc::new(move |state: &State| deletion::of_quota(state, no));
        view! { <Deletion kind="quota" name=name.to_owned() command=command says=says after=path::cluster(&cluster) /> }
    });
    view! {
        <div class="page-head">
            <h1>{name.to_owned()}</h1>
            <a class="button" href=path::jobs_where(&cluster, "quota", name)>{move || format!("{} running, {} waiting", book.get().n_running, book.get().n_waiting)}</a>
            <a class="button" href=path::submit_to(&cluster, name)>"Submit a job here"</a>
        </div>
        <p class="family">{move || { let (parent, children) = family.get(); (relation("Parent", parent), relation("Children", children)) }}</p>
        <section class="card" aria-label="Use">
            {move || { let book = book.get(); view! { <QuotaBar book=book longest=book.extent() /><p>{sentence(&book)}</p>{over(&book)} } }}
        </section>
        <div class="columns">
            <div>
                <section class="card" aria-labelledby="queue-title">
                    <h2 id="queue-title">"Queue"</h2>
                    {move || { let (queue, n_more) = queue.get(); view! { <QueueList queue=queue n_more=n_more href=href /> } }}
                </section>
                <section class="card" aria-labelledby="loans-title">
                    <h2 id="loans-title">"Loans"</h2>
                    {move || { let (lent, borrowed) = loans.get(); view! { <LoanList lent=lent borrowed=borrowed href=href /> } }}
                </section>
                <section class="card" aria-labelledby="scale-title">
                    <h2 id="scale-title">"Scale"</h2>
                    <QuotaScale no=no />
                </section>
            </div>
            <div>
                <section class="card" aria-labelledby="policies-title">
                    <h2 id="policies-title">"Queue, lending and preemption"</h2>
                    <QuotaPolicies no=no />
                </section>
                {deletion}
            </div>
        </div>
    }
}

/// The two marked exceptions: a quota that uses more than it is guaranteed.
fn over(book: &Book) -> Option<impl IntoView + use<>> {
    let excess = book.used() - book.guaranteed;
    (excess > 0).then(|| view! { <p class="warning"><strong>"Above its amount: "</strong>{format!("{} more than guaranteed are in use.", gpus::gpus(excess))}</p> })
}

/// The names of the parent, if any, and of the children.
fn family(state: &State, no: QuotaNo) -> (Vec<String>, Vec<String>) {
    let name = |no: QuotaNo| state.quotas[no.at()].id.as_str().to_owned();
    (
        state.quotas[no.at()].parent.into_iter().map(name).collect(),
        state.children(no).map(|(child, _)| name(child)).collect(),
    )
}

fn queue(state: &State, no: QuotaNo, now: Timestamp) -> (Vec<Waiting>, usize) {
    let queue = order::positions(state, no, now);
    let n_more = queue.len().saturating_sub(QUEUE_SHOWN);
    let shown = queue.into_iter().take(QUEUE_SHOWN).filter_map(|no| {
        let job = state.jobs.get(no)?;
        let asks = format!("{}, priority {}", explain::amount(state, &job.spec.shape.gang_amount()), job.spec.priority);
        Some(Waiting { job: job.spec.id.as_str().to_owned(), asks, reason: explained::binding(state, no, now) })
    });
    (shown.collect(), n_more)
}

/// Loans that cross the border of the quota's subtree: to others, and from others.
fn loan_lines(state: &State, no: QuotaNo) -> (Vec<LoanLine>, Vec<LoanLine>) {
    let mut lines = (Vec::new(), Vec::new());
    let domain: DomainNo = state.domains.of_quota(no);
    for loan in loans(state, domain) {
        let Some(job) = state.jobs.get(loan.job) else { continue };
        let is_ours = is_within(&state.quotas, loan.lender, no);
        let is_theirs = is_within(&state.quotas, job.spec.quota, no);
        let line = |other: QuotaNo| LoanLine {
            amount: explain::amount(state, &loan.amount),
            job: job.spec.id.as_str().to_owned(),
            other: state.quotas[other.at()].id.as_str().to_owned(),
        };
        match (is_ours, is_theirs) {
            (true, false) => lines.0.push(line(job.spec.quota)),
            (false, true) => lines.1.push(line(loan.lender)),
            (true, true) | (false, false) => {}
        }
    }
    lines
}
