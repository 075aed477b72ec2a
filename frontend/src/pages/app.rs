//! Which address shows which page.

use leptos::prelude::*;
use leptos_router::components::ParentRoute;
use leptos_router::components::Route;
use leptos_router::components::Router;
use leptos_router::components::Routes;
use leptos_router::path;

use crate::pages::bills::BillsPage;
use crate::pages::cluster::ClusterPage;
use crate::pages::job::JobPage;
use crate::pages::jobs::JobsPage;
use crate::pages::market::MarketPage;
use crate::pages::quota::QuotaPage;
use crate::pages::quotas::QuotasPage;
use crate::pages::rounds::RoundsPage;
use crate::pages::start::StartPage;
use crate::pages::submit::SubmitPage;

/// The whole console.
#[component]
pub(crate) fn App() -> impl IntoView {
    let lost = || view! { <main class="state-page"><h1>"There is no such page"</h1><p><a href="/">"To the clusters"</a></p></main> };
    view! {
        <Router>
            <Routes fallback=lost>
                <Route path=path!("/") view=StartPage />
                <ParentRoute path=path!("/clusters/:cluster") view=ClusterPage>
                    <Route path=path!("") view=QuotasPage />
                    <Route path=path!("quotas/:quota") view=QuotaPage />
                    <Route path=path!("jobs") view=JobsPage />
                    <Route path=path!("jobs/:job") view=JobPage />
                    <Route path=path!("submit") view=SubmitPage />
                    <Route path=path!("rounds") view=RoundsPage />
                    <Route path=path!("market") view=MarketPage />
                    <Route path=path!("bills") view=BillsPage />
                </ParentRoute>
            </Routes>
        </Router>
    }
}

/// Names the page in the browser's title.
pub(crate) fn title(text: impl Fn() -> String + 'static) {
    Effect::new(move |_| document().set_title(&format!("{} · Tidegate", text())));
}

/// A parameter of the address.
pub(crate) fn parameter(name: &'static str) -> Memo<String> {
    let parameters = leptos_router::hooks::use_params_map();
    Memo::new(move |_| parameters.with(|parameters| parameters.get(name).unwrap_or_default()))
}
