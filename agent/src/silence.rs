//! When a run has to end because nobody has heard of the service.

/// How long a run that ends for silence may take: the service counts on a minute more than the silence itself.
pub const SILENCE_GRACE_MS: u64 = 30_000;

/// Until when a run may live, if the service stays silent. It is counted from the *sending* of the last request that
/// was answered, which is before the service received it: so the run is gone before the service gives it up.
///
/// A supervisor asks this by itself: the agent may be dead just then.
#[must_use]
pub fn ends_at(heard: u64, stop_after_ms: Option<u64>) -> Option<u64> {
    stop_after_ms.map(|after| heard.saturating_add(after))
}

/// Whether a run has to end now.
#[must_use]
pub fn is_over(heard: Option<u64>, stop_after_ms: Option<u64>, now: u64) -> bool {
    heard.is_some_and(|heard| ends_at(heard, stop_after_ms).is_some_and(|end| end <= now))
}
