//! Quotas change their amounts, together or not at all (semantics section 8).

use crate::job::phase::Charge;
use crate::job::story::Cause;
use crate::message::command::ScaleMode;
use crate::message::command::ScaleQuotas;
use crate::message::event::Event;
use crate::message::rejection::Noun;
use crate::message::rejection::Rejection;
use crate::schedule::decision::Victim;
use crate::schedule::trial::Trial;
use crate::schedule::victims::candidate::Candidates;
use crate::schedule::victims::need::Need;
use crate::schedule::victims::search;
use crate::state::world::State;
use crate::transition::names;
use crate::transition::quota::check_tree;
use crate::transition::round::evict;
use crate::unit::amount::Amount;
use crate::unit::id::QuotaNo;
use crate::unit::limit;
use crate::unit::ordered::Set;
use crate::unit::slots::Slots;
use crate::unit::time::Timestamp;

pub(super) fn scale(state: &State, command: &ScaleQuotas, now: Timestamp) -> Result<Vec<Event>, Rejection> {
    names::within_limit("quotas in one command", command.targets.len(), limit::SCALE_TARGETS_MAX)?;
    let mut quotas = state.quotas.clone();
    let mut targets = Vec::new();
    let mut seen = Set::new();
    for target in &command.targets {
        let no = names::quota(state, &target.quota)?;
        if !seen.insert(no) {
            return Err(Rejection::Taken { noun: Noun::Quota, name: target.quota.to_string() });
        }
        let min = names::guarantee(state, target.quota.as_str(), &target.min)?;
        if quotas[no.at()].min != min {
            quotas[no.at()].min = min;
            targets.push((no, min));
        }
    }
    if targets.is_empty() {
        return Ok(Vec::new());
    }
    check_tree(&state.cluster, &state.groups, &state.nodes, &quotas, &seen)?;
    let mut events = Vec::new();
    if command.mode == ScaleMode::Evict {
        for (no, _) in &targets {
            evict_excess(state, &quotas, *no, now, &mut events);
        }
    }
    events.insert(0, Event::QuotasScaled { targets });
    Ok(events)
}

/// The cheapest set of the quota's and its descendants' jobs that covers what they use above its new amount. Only
/// what belongs to the quota itself is counted for a parent whose children are scaled with it.
fn evict_excess(
    state: &State,
    quotas: &[crate::quota::tree::Quota],
    no: QuotaNo,
    now: Timestamp,
    events: &mut Vec<Event>,
) {
    let mut trial = Trial::new(state, now);
    for event in events.iter() {
        if let Event::Evicted { job, .. } = event {
            trial.evict(&Victim::Job(*job));
        }
    }
    let min = &quotas[no.at()].min;
    let excess = min.masked(&trial.quotas.get(no.at()).used.minus(&min.amount)).positive();
    if excess.is_zero() {
        return;
    }
    let candidates = Candidates::in_quota(&trial, &state.subtree(no));
    let need = Need::of_amounts(state.domains.of_quota(no), excess, Amount::ZERO);
    let cause = Cause::ScaledDown { quota: quotas[no.at()].id.clone() };
    for victim in search::cheapest_cover(&trial, &need, &candidates.list).unwrap_or_default() {
        match victim {
            Victim::Job(job) => {
                evict(state, now, job, Charge::InQuota, None, &cause, events);
            }
            Victim::Pods(job, pods) => {
                events.push(Event::Shrunk { job, at: now, pods, cause: Box::new(cause.clone()) });
            }
        }
    }
}
