//! Where one arrives without naming a cluster.

use leptos::prelude::*;
use leptos_router::hooks::use_navigate;

use crate::api::storage::Kept;
use crate::pages::address::title;
use crate::widgets::field::TextField;
use console_model::path;

/// Under this name the last cluster is remembered for this tab.
pub(crate) const LAST_CLUSTER: &str = "tidegate.cluster";

/// The page.
#[component]
pub(crate) fn StartPage() -> impl IntoView {
    title(|| "Clusters".to_owned());
    let last = Kept::Tab.get(LAST_CLUSTER).unwrap_or_else(|| "demo".to_owned());
    let name = RwSignal::new(last);
    let navigate = use_navigate();
    let submit = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        let name = name.get_untracked();
        if !name.trim().is_empty() {
            navigate(&path::cluster(name.trim()), leptos_router::NavigateOptions::default());
        }
    };
    view! {
        <main class="state-page">
            <h1>"Tidegate"</h1>
            <p>"Who gets the GPUs, and why."</p>
            <form on:submit=submit>
                <TextField id="cluster" label="Cluster" value=name change=Callback::new(move |text| name.set(text)) />
                <button type="submit" class="primary">"Open"</button>
            </form>
        </main>
    }
}
