//! Quotas change their amounts, together or not at all (rules 8.1 and 8.2).

use crate::job::cause::Cause;
use crate::job::phase::Charge;
use crate::ledger;
use crate::message::command::ScaleMode;
use crate::message::command::ScaleQuotas;
use crate::message::event::Event;
use crate::message::rejection::Noun;
use crate::message::rejection::Rejection;
use crate::schedule::decision::Victim;
use crate::schedule::trial::Trial;
use crate::schedule::victims::candidate::Candidate;
use crate::schedule::victims::candidate::Candidates;
use crate::schedule::victims::candidate::as_victims;
use crate::schedule::victims::cost::Standing;
use crate::schedule::victims::cost::ValueClass;
use crate::schedule::victims::cover;
use crate::state::world::State;
use crate::transition::names;
use crate::transition::quota::check_tree;
use crate::transition::round::evict;
use crate::transition::stop;
use crate::unit::amount::Amount;
use crate::unit::amount::Guarantee;
use crate::unit::id::QuotaNo;
use crate::unit::limit;
use crate::unit::ordered::Set;
use crate::unit::slots::Slots;
use crate::unit::sort;
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
        evict_excess(state, &targets, now, &mut events);
    }
    events.insert(0, Event::QuotasScaled { targets });
    Ok(events)
}

/// The cheapest set of jobs that covers what all targets use above their new amounts together. What goes for a child
/// goes for its parent as well.
fn evict_excess(state: &State, targets: &[(QuotaNo, Guarantee)], now: Timestamp, events: &mut Vec<Event>) {
    let trial = Trial::new(state, now);
    let mut scaled: Vec<(QuotaNo, Amount)> = targets
        .iter()
        .map(|(no, min)| (*no, excess(&trial, *no, min)))
        .filter(|(_, excess)| !excess.is_zero())
        .collect();
    // The outermost first; whose children they are decides, not the order in which they were written.
    sort::by_key(&mut scaled, |(no, _)| (depth(state, *no), *no));
    let list = candidates(&trial, &scaled);
    let debts_of = |quota: QuotaNo| -> Vec<usize> {
        (0..scaled.len()).filter(|&debt| ledger::is_within(&state.quotas, quota, scaled[debt].0)).collect()
    };
    let counts_for = |candidate: &Candidate<'_>| match candidate.charge {
        Charge::InQuota => debts_of(candidate.quota),
        Charge::Idle | Charge::Spot => Vec::new(),
    };
    let owed = evictable(&list, &scaled, counts_for);
    let marks = cover::cheapest(&list, &owed, counts_for).unwrap_or_default();
    for victim in as_victims(&list, &marks) {
        let (Victim::Job(no) | Victim::Pods(no, _)) = &victim;
        let Some((quota, _)) = debts_of(state.jobs[*no].spec.quota).last().map(|&debt| &scaled[debt]) else { continue };
        let cause = Cause::ScaledDown { quota: state.quotas[quota.at()].id.clone() };
        match victim {
            Victim::Job(job) => {
                evict(state, now, job, Charge::InQuota, None, &cause, events);
            }
            Victim::Pods(job, pods) => {
                events.push(stop::shrunk(state, job, pods, cause, None, now));
            }
        }
    }
}

/// What a quota uses above its new amount. What is above its old one by self-level preemption is there by right.
fn excess(trial: &Trial<'_>, no: QuotaNo, min: &Guarantee) -> Amount {
    let used = trial.quotas.get(no.at()).used;
    let by_right = trial.held_by_right(no).lesser(&used.minus(&trial.state.quotas[no.at()].min.amount)).positive();
    min.masked(&used.minus(&by_right).minus(&min.amount)).positive()
}

fn depth(state: &State, no: QuotaNo) -> usize {
    std::iter::successors(Some(no), |no| state.quotas[no.at()].parent).count()
}

/// Everybody in the scaled quotas, whatever the policies say: pods above a minimum before any whole job.
fn candidates<'a>(trial: &'a Trial<'_>, scaled: &[(QuotaNo, Amount)]) -> Vec<Candidate<'a>> {
    let quotas: Set<QuotaNo> = scaled.iter().flat_map(|(no, _)| trial.state.subtree(*no)).collect();
    let quotas: Vec<QuotaNo> = quotas.into_iter().collect();
    let mut candidates = Candidates::in_quota(trial, &quotas);
    for candidate in candidates.list.iter_mut().filter(|it| it.pod.is_some() && it.charge == Charge::InQuota) {
        candidate.class = ValueClass::of(Standing::Above, trial.state.jobs[candidate.job].spec.priority, false);
    }
    candidates.sorted().list
}

/// What is owed, as far as somebody can go for it: a job that is about to start is no victim.
fn evictable(
    list: &[Candidate<'_>],
    scaled: &[(QuotaNo, Amount)],
    counts_for: impl Fn(&Candidate<'_>) -> Vec<usize>,
) -> Vec<Amount> {
    let mut most = vec![Amount::ZERO; scaled.len()];
    for candidate in list {
        for debt in counts_for(candidate) {
            most[debt] += candidate.amount();
        }
    }
    scaled.iter().zip(most).map(|((_, excess), most)| excess.lesser(&most)).collect()
}
