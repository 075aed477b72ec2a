//! A job's state: a mark and words, so that it is never told by colour alone.

use leptos::prelude::*;

use crate::widgets::mark::Mark;
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
    view! { <Mark name=state.as_str() mark=state.mark() words=words /> }
}
