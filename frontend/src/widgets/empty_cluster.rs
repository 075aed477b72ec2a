//! A cluster without quotas: what to do first.

use leptos::prelude::*;

use console_model::path;

/// How the example is coming along.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Example {
    /// Nobody asked for it.
    #[default]
    Offered,
    /// Its commands are being sent.
    Loading,
    /// It was refused, and why.
    Refused(String),
}

/// The page.
#[component]
pub(crate) fn EmptyCluster(
    /// The cluster's name.
    #[prop(into)]
    cluster: Signal<String>,
    /// Whether somebody has begun with it: an example would be mixed with what they have made.
    #[prop(into)]
    has_begun: Signal<bool>,
    /// How the example is coming along.
    #[prop(into)]
    example: Signal<Example>,
    /// Loads it.
    load: Callback<()>,
) -> impl IntoView {
    view! {
        <section class="state-page">
            <h1>{move || format!("{} is empty", cluster.get())}</h1>
            <p>"There are no quotas yet. Four steps make it a cluster of yours: machines, quotas, policies, people and their keys. Each is also shown as a command and as a file."</p>
            <p><a class="button primary" href=move || path::set_up(&cluster.get())>"Set up this cluster"</a></p>
            {move || (!has_begun.get()).then(|| view! {
                <h2>"Or look around first"</h2>
                <p>"An example: 128 GPUs shared by three teams, whose jobs are pretended. Team A runs inference in Quota1; team B trains in Quota1.1 (48 GPUs) and team C develops in Quota1.2 (80 GPUs)."</p>
                <button type="button" disabled=move || example.get() == Example::Loading on:click=move |_| load.run(())>
                    "Load the three-team example"
                </button>
            })}
            <p role="status">
                {move || match example.get() {
                    Example::Offered => String::new(),
                    Example::Loading => "Loading the example…".to_owned(),
                    Example::Refused(reason) => format!("The example was refused: {reason}"),
                }}
            </p>
        </section>
    }
}
