//! What a variant comes to at once: the cluster as a picture, and what happens in it.

use std::sync::Arc;

use leptos::prelude::*;

use crate::session::draft::Moment;

/// The moment.
#[component]
pub(crate) fn PlanMoment(
    /// What happens.
    moment: Signal<Option<Arc<Moment>>>,
) -> impl IntoView {
    let picture = Memo::new(move |_| moment.with(|moment| moment.as_ref().map(|moment| moment.picture.clone())));
    let said = Memo::new(move |_| {
        moment
            .with(|moment| moment.as_ref().map(|moment| (moment.lines.clone(), moment.left_out, moment.refused.len())))
    });
    let lines = move || {
        let Some((lines, left_out, refused)) = said.get() else {
            return view! { <p class="nothing">"Loading the answer."</p> }.into_any();
        };
        if lines.is_empty() {
            let words = if refused > 0 {
                "A change is refused; nothing else happens at once."
            } else {
                "Nothing happens at once."
            };
            return view! { <p>{words}</p> }.into_any();
        }
        let items = lines.into_iter().map(|line| view! { <li class:is-loss=line.is_loss>{line.text}</li> });
        let more = (left_out > 0).then(|| view! { <li>{format!("and {left_out} more")}</li> });
        view! { <ul class="lines">{items.collect_view()}{more}</ul> }.into_any()
    };
    view! {
        <div class="plan-picture" inner_html=move || picture.get().unwrap_or_default()></div>
        <ul class="legend" aria-label="Colours of the bars">
            <li><span class="swatch bar-own"></span>"own GPUs"</li>
            <li><span class="swatch bar-children"></span>"quotas below"</li>
            <li><span class="swatch bar-lent"></span>"idle GPUs of others"</li>
            <li><span class="swatch bar-borrowed"></span>"spot market"</li>
        </ul>
        <div aria-live="polite" class="plan-lines">{lines}</div>
    }
}
