//! What has happened, with times: a job's episodes, or a round's entries.

use leptos::prelude::*;

/// A moment.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Moment {
    /// When, as people read it.
    pub(crate) at: String,
    /// What.
    pub(crate) text: String,
    /// Whether somebody lost something.
    pub(crate) is_loss: bool,
}

/// The list, in the order given.
#[component]
pub(crate) fn Timeline(
    /// Its name.
    label: &'static str,
    /// The moments.
    moments: Vec<Moment>,
) -> impl IntoView {
    let items = moments.into_iter().map(|moment| {
        view! { <li class:is-loss=moment.is_loss><span class="when">{moment.at}</span><span>{moment.text}</span></li> }
    });
    view! { <ol class="timeline" aria-label=label>{items.collect_view()}</ol> }
}
