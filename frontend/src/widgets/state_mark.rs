//! A job's state: a mark and words, so that it is never told by colour alone.

use leptos::prelude::*;

use console_model::job_state::JobState;

/// The mark.
#[component]
pub(crate) fn StateMark(
    /// The state.
    state: JobState,
    /// Its place in its quota's queue, from 1, if it waits and the place is known.
    #[prop(optional_no_strip)]
    position: Option<usize>,
) -> impl IntoView {
    let words = match (state, position) {
        (JobState::Queued, Some(position)) => format!("Queued {position}"),
        (JobState::Preempted, Some(position)) => format!("Preempted, queued {position}"),
        (state, _) => state.words().to_owned(),
    };
    view! {
        <span class=format!("state state-{}", state.as_str())>
            <span class="state-sign" aria-hidden="true">{state.mark()}</span>
            <span>{words}</span>
        </span>
    }
}
