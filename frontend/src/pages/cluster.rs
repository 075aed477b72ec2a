//! What all pages of a cluster share: the session, the header, and what is shown while there is nothing to show.

use engine::state::world::State;
use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos_router::components::Outlet;
use leptos_router::hooks::use_location;

use crate::api::browser;
use crate::api::client;
use crate::api::failure::Failure;
use crate::api::key;
use crate::api::storage::Kept;
use crate::pages::address::parameter;
use crate::pages::header::Header;
use crate::pages::later;
use crate::pages::later::Missing;
use crate::pages::start::LAST_CLUSTER;
use crate::session::Known;
use crate::session::link;
use crate::session::notices::Tone;
use crate::widgets::empty_cluster::EmptyCluster;
use crate::widgets::empty_cluster::Example;
use crate::widgets::key_form::KeyForm;
use crate::widgets::notice_list::NoticeList;
use console_model::explained::sentence;
use console_model::freshness::Freshness;
use console_model::path;
use console_model::set_up;

/// What the page can show.
#[derive(Clone, PartialEq)]
enum Shown {
    Loading,
    NoKey,
    Failed(String),
    Empty,
    Page,
}

/// The page of the cluster that the address names.
#[component]
pub(crate) fn ClusterPage() -> impl IntoView {
    let cluster = parameter("cluster");
    move || view! { <OpenCluster name=cluster.get() /> }
}

#[component]
fn OpenCluster(name: String) -> impl IntoView {
    // It is only a convenience of the start page.
    Kept::Tab.set(LAST_CLUSTER, &name);
    let session = link::open(&name, || Box::pin(async { later::load().await.ok().map(|pages| pages.follow) }));
    provide_context(session);
    focus_after_navigation();
    let again = move || {
        session.known.set(Known::Loading);
        session.look_again();
    };
    let example = RwSignal::new(Example::Offered);
    let load = Callback::new(move |()| {
        example.set(Example::Loading);
        spawn_local(async move {
            let outcome = match later::load().await {
                Ok(pages) => (pages.load_example)(session).await.map_err(|failure| failure.to_string()),
                Err(Missing) => Err(Failure::Unreachable.to_string()),
            };
            example.try_set(outcome.map_or_else(Example::Refused, |()| Example::Offered));
            session.look_again();
        });
    });
    let refusal = StoredValue::new(None);
    let enter = Callback::new(move |text: String| {
        // What was said of the last try is not true of this one.
        if let Some(no) = refusal.get_value() {
            session.notices.dismiss(no);
        }
        spawn_local(async move {
            let token = match text.trim().split_once(':') {
                Some((id, secret)) => client::open_session(&session.name(), id, secret).await,
                None => Ok(text),
            };
            match token {
                Ok(token) => {
                    key::store(&token);
                    session.me.set(None);
                    again();
                }
                Err(failure) => {
                    let text = if matches!(failure, Failure::NoKey) {
                        "The key or its secret is wrong, or it has ended.".to_owned()
                    } else {
                        sentence(&failure.to_string())
                    };
                    refusal.set_value(Some(session.notices.show(Tone::Refused, text, None)));
                }
            }
        });
    });
    let pathname = use_location().pathname;
    let is_set_up = Memo::new(move |_| pathname.get() == path::set_up(&session.name()));
    // Machines, people and the cluster itself can be there without quotas, and be taken away after them.
    let is_beside_quotas = Memo::new(move |_| {
        let name = session.name();
        pathname.with(|here| [path::nodes(&name), path::workspaces(&name)].iter().any(|page| here.starts_with(page)))
    });
    let has_begun = Signal::derive(move || session.ask(set_up::has_begun).unwrap_or_default());
    let shown = Memo::new(move |_| {
        session.known.with(|known| match known {
            // What is there to show an empty cluster is how it is filled.
            Known::Failed(Failure::Absent(_)) | Known::Here(_) if is_set_up.get() => Shown::Page,
            Known::Loading => Shown::Loading,
            Known::Failed(Failure::NoKey) => Shown::NoKey,
            // A cluster that nobody has declared yet is an empty one.
            Known::Failed(Failure::Absent(_)) => Shown::Empty,
            Known::Failed(failure) => Shown::Failed(sentence(&failure.to_string())),
            Known::Here(replica) if has_nothing(replica.state()) && !is_beside_quotas.get() => Shown::Empty,
            Known::Here(_) => Shown::Page,
        })
    });
    // Minutes, not seconds, so that a screen reader is not told the age again and again.
    let outdated = Memo::new(move |_| match session.freshness() {
        Freshness::Live | Freshness::Aged(_) => None,
        Freshness::Stale(_) => {
            Some("The cluster cannot be reached. What is shown here is old; the console keeps trying.")
        }
        Freshness::Offline(_) => {
            Some("There is no network. What is shown here is as it was when the connection was lost.")
        }
        Freshness::Still(_) => Some(
            "A part of the console cannot be loaded, so changes are shown seconds late. Reload to see them as they happen.",
        ),
    });
    view! {
        <a class="skip" href="#main">"Skip to the content"</a>
        <Header />
        <main id="main" tabindex="-1">
            <div role="status">{move || outdated.get().map(|age| view! { <p class="warning">{age}</p> })}</div>
            {move || match shown.get() {
                Shown::Loading => view! { <section class="state-page" aria-busy="true"><h1>"Loading"</h1><p>"Loading the cluster's state."</p><div class="skeleton"></div><div class="skeleton"></div><div class="skeleton"></div></section> }.into_any(),
                Shown::NoKey => view! { <KeyForm enter=enter /> }.into_any(),
                Shown::Failed(reason) => view! { <section class="state-page" role="alert"><h1>"The cluster cannot be shown"</h1><p>{reason}</p><button type="button" class="primary" on:click=move |_| again()>"Try again"</button></section> }.into_any(),
                Shown::Empty => view! { <EmptyCluster cluster=Signal::stored(session.name().to_string()) has_begun=has_begun example=example load=load /> }.into_any(),
                Shown::Page => view! { <Outlet /> }.into_any(),
            }}
        </main>
        <NoticeList notices=session.notices />
    }
}

/// Whether there is neither a quota nor an offer to submit a job to.
fn has_nothing(state: &State) -> bool {
    state.live_quotas().next().is_none() && state.market.live_offers().next().is_none()
}

/// Whoever reads with a screen reader or moves by keyboard starts at the new page's content.
fn focus_after_navigation() {
    let pathname = use_location().pathname;
    Effect::new(move |before: Option<String>| {
        let path = pathname.get();
        if before.is_some_and(|before| before != path) {
            request_animation_frame(|| {
                browser::focus("main");
            });
        }
        path
    });
}
