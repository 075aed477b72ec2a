//! What is loaded behind the first screen: all other pages, and what takes changes in.
//!
//! It is a module of their own, `pages`, which the bundler cuts out of the linked program; see
//! `docs/decisions/0016-two-parts-of-the-console.md`.

#![expect(clippy::unnecessary_wraps, reason = "what can fail is the fetching, around the function at the split point")]

use std::pin::Pin;

use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos::wasm_split::SplitLoaderError;
use leptos::wasm_split::wasm_split;

use crate::api::browser;
use crate::api::client;
use crate::api::failure::Failure;
use crate::pages::audit::AuditPage;
use crate::pages::bills::BillsPage;
use crate::pages::job::JobPage;
use crate::pages::jobs::JobsPage;
use crate::pages::keys::KeysPage;
use crate::pages::market::MarketPage;
use crate::pages::nodes::NodesPage;
use crate::pages::palette::GoAnywhere;
use crate::pages::planner::PlannerPage;
use crate::pages::quota::QuotaPage;
use crate::pages::rounds::RoundsPage;
use crate::pages::set_up::SetUpPage;
use crate::pages::submit::SubmitPage;
use crate::pages::workspace::WorkspacePage;
use crate::pages::workspaces::WorkspacesPage;
use crate::session::Session;
use crate::session::follow::follow;
use crate::session::link::Follow;

type Page = fn() -> AnyView;

type LoadExample = fn(Session) -> Pin<Box<dyn Future<Output = Result<(), Failure>>>>;

/// The pages, and what works behind all of them.
#[derive(Clone, Copy)]
pub(crate) struct Pages {
    pub(crate) bills: Page,
    pub(crate) job: Page,
    pub(crate) jobs: Page,
    pub(crate) market: Page,
    pub(crate) nodes: Page,
    pub(crate) planner: Page,
    pub(crate) quota: Page,
    pub(crate) rounds: Page,
    pub(crate) set_up: Page,
    pub(crate) submit: Page,
    pub(crate) workspaces: Page,
    pub(crate) workspace: Page,
    pub(crate) keys: Page,
    pub(crate) audit: Page,
    pub(crate) palette: fn(RwSignal<bool>) -> AnyView,
    pub(crate) follow: Follow,
    pub(crate) load_example: LoadExample,
}

/// Why they are not there: the network failed, or the server has newer ones.
#[derive(Clone, Copy)]
pub(crate) struct Missing;

impl From<SplitLoaderError> for Missing {
    fn from(_: SplitLoaderError) -> Self {
        Self
    }
}

#[wasm_split(pages, wasm_split_path = leptos::wasm_split, fallible)]
pub(crate) fn load() -> Result<Pages, Missing> {
    Ok(Pages {
        bills: || view! { <BillsPage /> }.into_any(),
        job: || view! { <JobPage /> }.into_any(),
        jobs: || view! { <JobsPage /> }.into_any(),
        market: || view! { <MarketPage /> }.into_any(),
        nodes: || view! { <NodesPage /> }.into_any(),
        planner: || view! { <PlannerPage /> }.into_any(),
        quota: || view! { <QuotaPage /> }.into_any(),
        rounds: || view! { <RoundsPage /> }.into_any(),
        set_up: || view! { <SetUpPage /> }.into_any(),
        submit: || view! { <SubmitPage /> }.into_any(),
        workspaces: || view! { <WorkspacesPage /> }.into_any(),
        workspace: || view! { <WorkspacePage /> }.into_any(),
        keys: || view! { <KeysPage /> }.into_any(),
        audit: || view! { <AuditPage /> }.into_any(),
        palette: |is_open| view! { <GoAnywhere is_open=is_open /> }.into_any(),
        follow: |session, open| Box::pin(follow(session, open)),
        load_example: |session| Box::pin(async move { client::load_example(&session.name()).await }),
    })
}

/// The palette, as soon as it is there; pages say so when they cannot be loaded.
pub(crate) fn palette(is_open: RwSignal<bool>) -> impl IntoView {
    let pages = RwSignal::new(None);
    spawn_local(async move {
        let loaded = load().await.ok();
        if loaded.is_none() {
            is_open.try_set(false);
        }
        pages.try_set(loaded);
    });
    move || pages.get().map(|pages| (pages.palette)(is_open))
}

/// A page, as soon as it is there.
pub(crate) fn later(choose: fn(&Pages) -> Page) -> AnyView {
    let pages = RwSignal::new(None);
    spawn_local(async move {
        pages.try_set(Some(load().await));
    });
    let shown = move || {
        match pages.get() {
        None => view! { <section class="state-page" aria-busy="true"><h1>"Loading"</h1><p>"Loading the page."</p><div class="skeleton"></div></section> }.into_any(),
        Some(Ok(pages)) => choose(&pages)(),
        Some(Err(Missing)) => view! { <section class="state-page" role="alert"><h1>"The page cannot be loaded"</h1><p>"Either the network failed, or the service has a newer console. Reload to get it."</p><button type="button" class="primary" on:click=|_| browser::reload()>"Reload"</button></section> }.into_any(),
    }
    };
    shown.into_any()
}
