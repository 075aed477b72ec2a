//! Questions that are asked again as things change, and their answers in the same order.

use leptos::prelude::*;
use leptos::task::spawn_local;

/// What a question comes to, asked again whenever a signal that `ask` reads changes; while it gives none, nothing is
/// asked. Answers may overtake each other: one that comes after the answer to a newer question is dropped.
pub(crate) fn latest<T, Q>(ask: impl Fn() -> Option<Q> + 'static) -> RwSignal<Option<T>>
where
    T: Send + Sync + 'static,
    Q: Future<Output = T> + 'static,
{
    let answer = RwSignal::new(None);
    let (asked, answered) = (StoredValue::new(0_u64), StoredValue::new(0_u64));
    Effect::new(move |_| {
        let Some(question) = ask() else { return };
        asked.update_value(|asked| *asked += 1);
        let turn = asked.get_value();
        spawn_local(async move {
            let found = question.await;
            // The page may have been left meanwhile.
            if answered.try_get_value().is_some_and(|answered| answered < turn) {
                answered.set_value(turn);
                answer.set(Some(found));
            }
        });
    });
    answer
}
