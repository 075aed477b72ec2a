//! A cluster without quotas: what to do first.

use leptos::prelude::*;

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
    /// How the example is coming along.
    #[prop(into)]
    example: Signal<Example>,
    /// Loads it.
    load: Callback<()>,
) -> impl IntoView {
    view! {
        <section class="state-page">
            <h1>{move || format!("{} is empty", cluster.get())}</h1>
            <p>"There are no quotas yet. Start with an example: 128 GPUs shared by three teams. Team A runs inference in Quota1; team B trains in Quota1.1 (48 GPUs) and team C develops in Quota1.2 (80 GPUs)."</p>
            <button type="button" class="primary" disabled=move || example.get() == Example::Loading on:click=move |_| load.run(())>
                "Load the three-team example"
            </button>
            <p role="status">
                {move || match example.get() {
                    Example::Offered => String::new(),
                    Example::Loading => "Loading the example…".to_owned(),
                    Example::Refused(reason) => format!("The example was refused: {reason}"),
                }}
            </p>
            <p class="hint">"Or send your own commands: "<code>"POST /v1/clusters/"{cluster}"/commands"</code></p>
        </section>
    }
}
