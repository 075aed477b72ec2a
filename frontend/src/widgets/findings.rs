//! What the policy checker finds.

use console_model::findings::FindingText;
use leptos::prelude::*;

/// The findings, told as they change.
#[component]
pub(crate) fn Findings(
    /// The worst first.
    findings: Memo<Vec<FindingText>>,
) -> impl IntoView {
    let lines = move || {
        let line =
            |FindingText { severity, says }| view! { <p class="warning"><strong>{severity}": "</strong>{says}</p> };
        findings.get().into_iter().map(line).collect_view()
    };
    view! { <div aria-live="polite">{lines}</div> }
}
