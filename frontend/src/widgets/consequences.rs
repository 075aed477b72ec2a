//! What a command would do, before it is sent: the engine's own decision, in its own sentences.

use leptos::prelude::*;

use console_model::preview;
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
    view! {
        <section class="preview" aria-label="Preview">
            <h2>"What would happen"</h2>
            <div aria-live="polite">
                {move || {
                    let foreseen = preview.get();
                    view! {
                        <p class=format!("verdict verdict-{}", foreseen.verdict.as_str())>
                            <span class="verdict-sign" aria-hidden="true">{foreseen.verdict.mark()}</span>
                            <strong>{foreseen.verdict.words()}</strong>
                        </p>
                        {foreseen.reason.map(|reason| view! { <p>{reason}</p> })}
                        {foreseen.past.map(|past| view! { <p>{past}</p> })}
                        {foreseen.estimate.map(|estimate| view! { <p>{estimate}</p> })}
                        {foreseen.help.map(|help| view! { <h3>{preview::HELP}</h3><p class="help">{help}</p> })}
                        {foreseen.cost.lost().map(|lost| view! { <p class="lost">{lost}</p> })}
                        {job_lines(preview::VICTIMS, foreseen.victims, Some(href))}
                        {job_lines(preview::STARTERS, foreseen.starters, Some(href))}
                        {job_lines(preview::OTHERS, foreseen.others, Some(href))}
                    }
                }}
            </div>
        </section>
    }
}

/// Sentences about jobs under a title, if there are any; with `href`, a job's name at the beginning is a link.
pub(crate) fn job_lines(
    title: &'static str,
    lines: Vec<Line>,
    href: Option<Callback<String, String>>,
) -> Option<impl IntoView> {
    let items = lines.into_iter().map(|Line { job, text }| {
        let link = href.zip(job).and_then(|(href, job)| {
            let rest = text.strip_prefix(job.as_str())?.to_owned();
            let address = href.run(job.clone());
            Some((view! { <a href=address>{job}</a> }, rest))
        });
        match link {
            Some((link, rest)) => view! { <li>{link}{rest}</li> }.into_any(),
            None => view! { <li>{text}</li> }.into_any(),
        }
    });
    let items = items.collect::<Vec<_>>();
    (!items.is_empty()).then(|| view! { <h3>{title}</h3><ul class="lines" aria-label=title>{items}</ul> })
}
