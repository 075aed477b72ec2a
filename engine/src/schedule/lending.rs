//! Loans that nothing covers any more (semantics section 4): a quota was scaled down, or stopped lending.

use crate::job::story::Cause;
use crate::schedule::decision::Decision;
use crate::schedule::trial::Trial;
use crate::schedule::victims::candidate::Candidates;
use crate::schedule::victims::need::Need;
use crate::schedule::victims::search;
use crate::unit::amount::Amount;
use crate::unit::amount::DIMENSIONS_MAX;
use crate::unit::id::DomainNo;
use crate::unit::slots::Slots;

/// Ends the cheapest loans until what is idle covers the rest.
pub fn end_uncovered(trial: &mut Trial<'_>) -> Vec<Decision> {
    let count = trial.state.domains.list.len();
    (0..count).map(DomainNo::from_index).filter_map(|domain| end_in(trial, domain)).collect()
}

fn end_in(trial: &mut Trial<'_>, domain: DomainNo) -> Option<Decision> {
    let book = trial.domains.get(domain.at());
    let unlent = book.unlent();
    let mut excess = Amount::ZERO;
    for at in (0..DIMENSIONS_MAX).filter(|at| book.stated & (1 << at) != 0) {
        excess[at] = unlent[at].min(0).saturating_neg();
    }
    if excess.is_zero() {
        return None;
    }
    let candidates = Candidates::idle(trial, domain);
    let need = Need::of_amounts(domain, Amount::ZERO, excess);
    let victims = search::cheapest_cover(trial, &need, &candidates.list)?;
    for victim in &victims {
        trial.tell_to_stop(victim);
    }
    Some(Decision::Release { victims, cause: Cause::LendingEnded })
}
