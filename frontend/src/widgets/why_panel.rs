//! Why a job waits: the binding reason first, what would start it, then everything else that was tried.

use leptos::prelude::*;

use console_model::explained::WhyText;

/// The panel.
#[component]
pub(crate) fn WhyPanel(
    /// The reasons.
    why: WhyText,
    /// Opens the change that would start the job, to look at it and apply it.
    #[prop(into)]
    remedy: ViewFnOnce,
) -> impl IntoView {
    let WhyText { binding, others, help, command: _, place, estimate } = why;
    let help_class = if help.is_some() { "help" } else { "hint" };
    view! {
        <section class="card why" aria-labelledby="why-title">
            <h2 id="why-title">"Why it waits"</h2>
            <p class="binding">{binding}</p>
            {place.map(|place| view! { <p>{place}</p> })}
            {estimate.map(|estimate| view! { <p>{estimate}</p> })}
            <h3>"What would start it now"</h3>
            <p class=help_class>{help}</p>
            {remedy.run()}
            {(!others.is_empty()).then(|| view! {
                <h3>"Everything else that was tried"</h3>
                <dl class="tried">{others.into_iter().map(|(source, reason)| view! { <div><dt>{source}</dt><dd>{reason}</dd></div> }).collect_view()}</dl>
            })}
        </section>
    }
}
