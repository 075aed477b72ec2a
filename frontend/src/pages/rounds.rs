//! What was decided lately, in sentences.

use leptos::prelude::*;

use crate::api::browser::clock;
use crate::pages::address::title;
use crate::session::Session;
use crate::widgets::timeline::Moment;
use console_model::explained;

/// An entry of the log.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Round {
    revision: u64,
    at: String,
    title: &'static str,
    moments: Vec<Moment>,
}

/// The page.
#[component]
pub(crate) fn RoundsPage() -> impl IntoView {
    let session = Session::here();
    title(|| "Rounds".to_owned());
    let (search, set_search) = crate::session::url::typed("q");
    let rounds = Memo::new(move |_| {
        let search = search.get().trim().to_lowercase();
        let all = session.ask(|state| {
            session.entries.with(|entries| {
                let texts = entries.iter().map(|entry| {
                    let sentences = explained::sentences(state, &entry.events);
                    let moments =
                        sentences.into_iter().map(|(text, is_loss)| Moment { at: String::new(), text, is_loss });
                    Round {
                        revision: entry.revision,
                        at: clock(entry.at),
                        title: explained::title(entry),
                        moments: moments.collect(),
                    }
                });
                texts
                    .filter(|round| {
                        search.is_empty()
                            || round.moments.iter().any(|moment| moment.text.to_lowercase().contains(&search))
                    })
                    .collect::<Vec<_>>()
            })
        });
        all.unwrap_or_default()
    });
    view! {
        <div class="page-head"><h1>"Rounds"</h1></div>
        <p class="hint">"The last commands and rounds, the newest first, with what each of them decided."</p>
        <div class="toolbar">
            <crate::widgets::field::TextField id="round-filter" label="Filter by words" value=search change=set_search />
        </div>
        {move || rounds.with(Vec::is_empty).then(|| view! { <p class="nothing">"Nothing to show."</p> })}
        <ol class="rounds" aria-label="Rounds">
            <For each=move || rounds.get() key=Clone::clone children=round_view />
        </ol>
    }
}

fn round_view(round: Round) -> impl IntoView {
    let Round { revision, at, title, moments } = round;
    let lines = moments.into_iter().map(|moment| view! { <li class:is-loss=moment.is_loss>{moment.text}</li> });
    view! {
        <li class="round">
            <h2>{title}<span class="hint">{format!(" {at}, revision {revision}")}</span></h2>
            <ul class="lines">{lines.collect_view()}</ul>
        </li>
    }
}
