//! The ledger against a recomputation: what is kept incrementally must equal what the ground facts say.

use crate::state::world::State;

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
    (state.timers != fresh.timers).then(|| format!("timers: kept {:?}, recomputed {:?}", state.timers, fresh.timers))
}
