//! A quota's queue, in the order in which it is judged.

use leptos::prelude::*;

/// A waiting job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Waiting {
    /// The job.
    pub(crate) job: String,
    /// What it asks for.
    pub(crate) asks: String,
    /// Its binding reason.
    pub(crate) reason: String,
}

/// The queue.
#[component]
pub(crate) fn QueueList(
    /// Who waits, the first first.
    queue: Vec<Waiting>,
    /// How many more wait behind these.
    n_more: usize,
    /// The address of a job's page.
    href: Callback<String, String>,
) -> impl IntoView {
    if queue.is_empty() {
        return view! { <p class="hint">"Nobody waits here."</p> }.into_any();
    }
    let items = queue.into_iter().map(|waiting| {
        view! { <li><a href=href.run(waiting.job.clone())>{waiting.job.clone()}</a>" "<span class="hint">{waiting.asks}</span><br /><span>{waiting.reason}</span></li> }
    });
    view! {
        <ol class="queue" aria-label="Queue">{items.collect_view()}</ol>
        {(n_more > 0).then(|| view! { <p class="hint">{format!("and {n_more} more")}</p> })}
    }
    .into_any()
}
