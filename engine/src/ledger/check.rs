//! The ledger against a recomputation: what is kept incrementally must equal what the ground facts say.

use crate::state::watch::Watch;
use crate::state::world::State;
use crate::unit::id::QuotaNo;

/// The first difference between what is kept and what the ground facts say, if any.
#[must_use]
pub fn difference(state: &State) -> Option<String> {
    let mut fresh = state.clone();
    fresh.rebuild();
    for (at, (kept, right)) in state.ledger.quotas.iter().zip(&fresh.ledger.quotas).enumerate() {
        if kept != right {
            return Some(format!("quota {}: kept {kept:?}, recomputed {right:?}", state.quotas[at].id));
        }
    }
    for (kept, right) in state.ledger.domains.iter().zip(&fresh.ledger.domains) {
        if kept != right {
            return Some(format!("domain: kept {kept:?}, recomputed {right:?}"));
        }
    }
    if (&state.lendable, &state.domains) != (&fresh.lendable, &fresh.domains) {
        return Some("structure: what is kept differs from what is recomputed".to_owned());
    }
    if state.floor != fresh.floor {
        return Some("placement: what is kept differs from what is recomputed".to_owned());
    }
    if let Some(difference) = difference_of_watch(state) {
        return Some(difference);
    }
    (state.timers != fresh.timers).then(|| format!("timers: kept {:?}, recomputed {:?}", state.timers, fresh.timers))
}

/// Where somebody may start after a release: what has not been noted as changed must still be so.
fn difference_of_watch(state: &State) -> Option<String> {
    let (mut kept, mut right) = (state.queue.watch.clone(), Watch::default());
    for at in 0..state.quotas.len() {
        right.note(QuotaNo::from_index(at));
    }
    kept.settle(|no| state.openings(no));
    right.settle(|no| state.openings(no));
    (!kept.agrees(&right)).then(|| format!("watch: kept {kept:?}, recomputed {right:?}"))
}
