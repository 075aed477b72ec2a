//! Loans that nothing covers any more (rules 4.2): a quota was scaled down, or stopped lending.
//!
//! *Acceptable* jobs whose own quota has room go in quota first, and only then is anybody evicted.

use crate::job::cause::Cause;
use crate::ledger;
use crate::ledger::Reach;
use crate::schedule::decision::Decision;
use crate::schedule::trial::Trial;
use crate::schedule::victims::candidate::Candidates;
use crate::schedule::victims::candidate::as_victims;
use crate::schedule::victims::cover;
use crate::state::preemption_order::Claim;
use crate::unit::amount::Amount;
use crate::unit::amount::DIMENSIONS_MAX;
use crate::unit::id::DomainNo;
use crate::unit::id::JobNo;
use crate::unit::slots::Slots;
use crate::unit::sort;

/// Ends the cheapest loans until what is idle covers the rest.
pub fn end_uncovered(trial: &mut Trial<'_>) -> Vec<Decision> {
    let count = trial.state.domains.list.len();
    (0..count).map(DomainNo::from_index).filter_map(|domain| end_in(trial, domain)).collect()
}

fn end_in(trial: &mut Trial<'_>, domain: DomainNo) -> Option<Decision> {
    if excess(trial, domain).is_zero() {
        return None;
    }
    let promoted = promote(trial, domain);
    let excess = excess(trial, domain);
    let mut victims = Vec::new();
    if !excess.is_zero() {
        let candidates = Candidates::idle(trial, domain);
        let marks = cover::cheapest(&candidates.list, &[excess], |_| vec![0]);
        victims = marks.map(|marks| as_victims(&candidates.list, &marks)).unwrap_or_default();
    }
    for victim in &victims {
        trial.tell_to_stop(victim);
    }
    Some(Decision::Release { promoted, victims, cause: Cause::LendingEnded })
}

/// What is lent in a domain and not idle.
fn excess(trial: &Trial<'_>, domain: DomainNo) -> Amount {
    let book = trial.domains.get(domain.at());
    let unlent = book.unlent();
    let mut excess = Amount::ZERO;
    for at in (0..DIMENSIONS_MAX).filter(|at| book.stated & (1 << at) != 0) {
        excess[at] = unlent[at].min(0).saturating_neg();
    }
    excess
}

/// Takes idle jobs into their quotas as far as that leaves less uncovered: the most important first, then the earliest
/// start.
fn promote(trial: &mut Trial<'_>, domain: DomainNo) -> Vec<JobNo> {
    let state = trial.state;
    let here = state.entitled.iter().filter(|((quota, _), _)| state.domains.of_quota(*quota) == domain);
    let mut waiting: Vec<&Claim> = here.flat_map(|(_, claims)| claims).collect();
    sort::by_key(&mut waiting, |waiting| *waiting);
    let mut promoted = Vec::new();
    for (_, _, _, no) in waiting {
        let before = excess(trial, domain);
        if before.is_zero() {
            break;
        }
        let spec = &state.jobs[*no].spec;
        let asked = spec.shape.gang_amount();
        if ledger::fits_in_quota(&state.quotas, &trial.quotas, spec.quota, &asked, Reach::Own).is_err() {
            continue;
        }
        trial.promote(*no);
        if excess(trial, domain) == before {
            trial.demote(*no);
        } else {
            promoted.push(*no);
        }
    }
    promoted
}
