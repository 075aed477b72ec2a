//! What a command would do, before it is sent: the engine's own decision, in its own sentences.

use leptos::prelude::*;

use console_model::preview::Line;
use console_model::preview::Preview;

/// The panel.
#[component]
pub(crate) fn Consequences(
    /// What would happen.
    preview: Memo<Preview>,
    /// The address of a job's page.
    href: Callback<String, String>,
) -> impl IntoView {
    let list = move |title: &'static str, lines: Vec<Line>| {
        let items = lines.into_iter().map(|line| {
            // The sentence begins with the job's name, which is the link.
            let Line { job, text } = line;
            let rest = job
                .as_ref()
                .and_then(|job| text.strip_prefix(job.as_str()))
                .map_or_else(|| text.clone(), str::to_owned);
            let link =
                job.filter(|_| rest != text).map(|job| view! { <a href=href.run(job.clone())>{job.clone()}</a> });
            view! { <li>{link}{rest}</li> }
        });
        let items = items.collect::<Vec<_>>();
        (!items.is_empty()).then(|| view! { <h3>{title}</h3><ul class="lines" aria-label=title>{items}</ul> })
    };
    view! {
        <section class="preview" aria-label="Preview">
            <h2>"What would happen"</h2>
            <div aria-live="polite">
                {move || {
                    let preview = preview.get();
                    view! {
                        <p class=format!("verdict verdict-{}", preview.verdict.as_str())>
                            <span class="verdict-sign" aria-hidden="true">{preview.verdict.mark()}</span>
                            <strong>{preview.verdict.words()}</strong>
                        </p>
                        {preview.reason.map(|reason| view! { <p>{reason}</p> })}
                        {preview.past.map(|past| view! { <p>{past}</p> })}
                        {preview.estimate.map(|estimate| view! { <p>{estimate}</p> })}
                        {preview.help.map(|help| view! { <h3>"What would start it now"</h3><p class="help">{help}</p> })}
                        {preview.lost.map(|lost| view! { <p class="lost">{lost}</p> })}
                        {list("Would be evicted", preview.victims)}
                        {list("Other consequences", preview.others)}
                    }
                }}
            </div>
        </section>
    }
}
