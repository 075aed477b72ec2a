//! What is typed into a form about something that others may change meanwhile.

use leptos::prelude::*;

/// Takes somebody else's change up, unless the form is being used.
pub(crate) fn take_up<T>(current: Memo<Option<T>>, draft: RwSignal<T>)
where
    T: Clone + PartialEq + Send + Sync + 'static,
{
    Effect::new(move |before: Option<Option<T>>| {
        let now = current.get();
        if let Some(now) = now.as_ref().filter(|_| before.flatten() == Some(draft.get_untracked())) {
            draft.set(now.clone());
        }
        now
    });
}

/// Whether something else is typed than there is.
pub(crate) fn is_changed<T>(current: Memo<Option<T>>, draft: RwSignal<T>) -> Signal<bool>
where
    T: Clone + PartialEq + Send + Sync + 'static,
{
    Signal::derive(move || current.get().is_some_and(|current| draft.with(|draft| *draft != current)))
}
