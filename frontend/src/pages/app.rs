//! Which address shows which page.

use leptos::prelude::*;
use leptos_router::components::ParentRoute;
use leptos_router::components::Route;
use leptos_router::components::Router;
use leptos_router::components::Routes;
use leptos_router::path;

use crate::pages::cluster::ClusterPage;
use crate::pages::later::later;
use crate::pages::quotas::QuotasPage;
use crate::pages::start::StartPage;

/// The whole console.
#[component]
pub(crate) fn App() -> impl IntoView {
    let lost = || view! { <main class="state-page"><h1>"There is no such page"</h1><p><a href="/">"To the clusters"</a></p></main> };
    view! {
        <Router>
            <Routes fallback=lost>
                <Route path=path!("/") view=StartPage />
                <Route path=path!("/planner") view=OpenPlanner />
                <ParentRoute path=path!("/clusters/:cluster") view=ClusterPage>
                    <Route path=path!("") view=QuotasPage />
                    <Route path=path!("quotas/:quota") view=|| later(|pages| pages.quota) />
                    <Route path=path!("jobs") view=|| later(|pages| pages.jobs) />
                    <Route path=path!("jobs/:job") view=|| later(|pages| pages.job) />
                    <Route path=path!("submit") view=|| later(|pages| pages.submit) />
                    <Route path=path!("set-up") view=|| later(|pages| pages.set_up) />
                    <Route path=path!("rounds") view=|| later(|pages| pages.rounds) />
                    <Route path=path!("nodes") view=|| later(|pages| pages.nodes) />
                    <Route path=path!("market") view=|| later(|pages| pages.market) />
                    <Route path=path!("planner") view=|| later(|pages| pages.planner) />
                    <Route path=path!("workspaces") view=|| later(|pages| pages.workspaces) />
                    <Route path=path!("workspaces/:workspace") view=|| later(|pages| pages.workspace) />
                    <Route path=path!("keys") view=|| later(|pages| pages.keys) />
                    <Route path=path!("audit") view=|| later(|pages| pages.audit) />
                    <Route path=path!("bills") view=|| later(|pages| pages.bills) />
                </ParentRoute>
            </Routes>
        </Router>
    }
}

/// A plan that somebody shared, without a cluster: whoever has the link needs no key.
#[component]
fn OpenPlanner() -> impl IntoView {
    view! { <main id="main" tabindex="-1">{later(|pages| pages.planner)}</main> }
}
