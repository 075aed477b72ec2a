//! Victims: the optimal preemption policy (rules 5.4).
//!
//! A legal set of victims is one after whose release the job fits, quota and nodes together. The cheapest legal set
//! is taken; cost is compared class by class from the most valuable.
//!
//! 1. [`right`]: which amounts a job may count on;
//! 2. [`rule`] and [`field`]: whose jobs it may take, in whose name;
//! 3. [`candidate`] and `eligible`: who may be taken of them, and why the others are safe;
//! 4. [`need`]: what has to be freed, and whether a set frees it;
//! 5. [`mod@shortlist`]: whom to look at, which is rarely everybody;
//! 6. [`search`]: the cheapest set that does, by its [`cost`]; on nodes `by_node`; [`tally`] keeps its books.
//!
//! Amounts alone are covered by the same search ([`cover`]).

mod by_node;
pub mod candidate;
pub mod cost;
pub mod cover;
mod eligible;
pub mod field;
pub mod need;
pub mod preemptor;
pub mod right;
pub mod rule;
pub mod search;
pub mod shortlist;
pub mod tally;

use std::cell::LazyCell;

use crate::job::cause::Cause;
use crate::job::hold::Blocker;
use crate::job::phase::Placed;
use crate::job::phase::PodAt;
use crate::job::phase::Source;
use crate::ledger;
use crate::ledger::QuotaUse;
use crate::quota::policy::Scope;
use crate::schedule::decision::Assignment;
use crate::schedule::decision::Victim;
use crate::schedule::source::find_room;
use crate::schedule::trial::Trial;
use crate::schedule::victims::candidate::Candidate;
use crate::schedule::victims::candidate::Candidates;
use crate::schedule::victims::candidate::as_victims;
use crate::schedule::victims::candidate::items;
use crate::schedule::victims::field::Field;
use crate::schedule::victims::need::Freed;
use crate::schedule::victims::need::Need;
use crate::schedule::victims::preemptor::Preemptor;
use crate::schedule::victims::rule::Rule;
use crate::schedule::victims::search::NotFound;
use crate::schedule::victims::shortlist::shortlist;
use crate::schedule::victims::tally::Tally;
use crate::state::preemption_order::Claim;
use crate::unit::amount::Amount;
use crate::unit::id::JobNo;
use crate::unit::id::QuotaNo;
use crate::unit::slots::Draft;
use crate::unit::sort;

/// Victims, and where the job's pods run once they have gone.
pub type Found = (Vec<Victim>, Box<[PodAt]>);

/// The cheapest assignment under a rule.
pub fn find(trial: &Trial<'_>, preemptor: &Preemptor<'_>, cause: Cause) -> Result<Assignment, Blocker> {
    let domain = trial.state.domains.of_group(preemptor.placed.home);
    let need = Need::of(trial, preemptor);
    if need.is_met_by_nothing(trial) {
        let pods = find_room(trial, domain, &preemptor.job.shape)?;
        return Ok(assign(preemptor, pods, Vec::new(), Vec::new(), cause));
    }
    let promoted = promotable(trial, preemptor);
    let mut promoted_trial = trial.fork();
    for no in &promoted {
        promoted_trial.promote(*no);
    }
    let trial = &promoted_trial;
    let need = if promoted.is_empty() { need } else { Need::of(trial, preemptor) };
    if need.is_met_by_nothing(trial) {
        let pods = find_room(trial, domain, &preemptor.job.shape)?;
        return Ok(assign(preemptor, pods, promoted, Vec::new(), cause));
    }
    // Those who run on idle amounts are often enough.
    let field = LazyCell::new(|| Field::of(trial, preemptor));
    let found = match shortlist(trial, preemptor, &field, &need) {
        Ok(list) => cheapest(trial, &need, &list).ok(),
        // Where room is a matter of counting, all of them together are not enough for sure.
        Err(freed) if need.is_counted() && !need.is_held_against_books() => {
            return Err(why_nobody(trial, preemptor, &field, &need, *freed));
        }
        Err(_) => None,
    };
    let (victims, pods) = found.map_or_else(|| among_all(trial, preemptor, &field, &need), Ok)?;
    Ok(assign(preemptor, pods, promoted, victims, cause))
}

/// The cheapest victims for a job among these, the least valuable first.
pub fn cheapest(trial: &Trial<'_>, need: &Need, list: &[Candidate<'_>]) -> Result<Found, NotFound> {
    let mut tally = Tally { list, freed: Freed::nothing(trial, need) };
    let marks = search::cheapest(&items(list), &mut tally)?;
    let mut freed = tally.freed;
    if list.len() > search::EXACT_ON_NODES_MAX {
        // Many nodes have changed on the way, and each would be looked at for each pod.
        freed = Freed::nothing(trial, need);
        list.iter().zip(&marks).filter(|(_, is_taken)| **is_taken).for_each(|(victim, _)| freed.take(victim));
    }
    let pods = freed.room().map_err(|_| NotFound::TooFew)?;
    Ok((as_victims(list, &marks), pods))
}

/// The cheapest victims when everybody has to be looked at.
fn among_all(trial: &Trial<'_>, preemptor: &Preemptor<'_>, field: &Field<'_>, need: &Need) -> Result<Found, Blocker> {
    let (candidates, all) = Candidates::of(trial, preemptor, field, need);
    let refused = |not_found, freed: Freed<'_>| {
        refine(trial, &candidates, blocker(trial, preemptor, &candidates, &freed, not_found), freed)
    };
    // Where room is a matter of counting, no choice of them does what all together do not.
    if need.is_counted() && !all.is_enough() {
        return Err(refused(NotFound::TooFew, all));
    }
    cheapest(trial, need, &candidates.list)
        .map_err(|not_found| refused(not_found, Freed::all(trial, need, &candidates.list)))
}

/// Why even all of them do not help. On nodes it is known already what they free; of those who free the same in a pool
/// only as many as matter have been counted.
fn why_nobody<'t>(
    trial: &'t Trial<'_>,
    preemptor: &Preemptor<'_>,
    field: &Field<'_>,
    need: &'t Need,
    freed: Freed<'t>,
) -> Blocker {
    let candidates = Candidates::all(trial, preemptor, field);
    let freed = if need.is_on_nodes() { freed } else { Freed::all(trial, need, &candidates.list) };
    refine(trial, &candidates, blocker(trial, preemptor, &candidates, &freed, NotFound::TooFew), freed)
}

/// Why even everybody is not enough, of whom all is freed.
fn blocker(
    trial: &Trial<'_>,
    preemptor: &Preemptor<'_>,
    candidates: &Candidates<'_>,
    freed: &Freed<'_>,
    not_found: NotFound,
) -> Blocker {
    let quota = trial.state.quotas[preemptor.policy_quota.at()].id.clone();
    let considered = candidates.considered;
    if let NotFound::NotInTime { steps } = not_found {
        return Blocker::NotSolved { quota, steps };
    }
    if candidates.list.is_empty() {
        if preemptor.placed.source != Source::Reclaim {
            return Blocker::NoVictim { quota, considered };
        }
        // Idle jobs that are entitled to their quota stand in the way all the same.
        if trial.promoted().next().is_none() {
            return Blocker::NothingLent;
        }
    }
    match freed.first_short() {
        Some((at, missing, could_free)) => {
            let dimension = u8::try_from(at).unwrap_or(u8::MAX);
            Blocker::VictimsTooFew { quota, dimension, missing, could_free, considered }
        }
        None => freed.room().err().unwrap_or(Blocker::NoVictim { quota, considered }),
    }
}

fn assign(
    preemptor: &Preemptor<'_>,
    pods: Box<[PodAt]>,
    promoted: Vec<JobNo>,
    victims: Vec<Victim>,
    cause: Cause,
) -> Assignment {
    let cause = (!victims.is_empty()).then(|| Box::new(cause));
    Assignment { placed: Placed { pods, ..preemptor.placed.clone() }, promoted, victims, cause }
}

/// *Acceptable* jobs that run on idle amounts while their own quota has room: they are entitled to it, so they go in
/// quota before anybody is evicted. The most important first, then the earliest start.
fn promotable(trial: &Trial<'_>, preemptor: &Preemptor<'_>) -> Vec<JobNo> {
    let state = trial.state;
    let domain = state.domains.of_group(preemptor.placed.home);
    let has_room = |quotas: &Draft<'_, QuotaUse>, quota, asked: &Amount| {
        ledger::fits_in_quota(&state.quotas, quotas, quota, asked, ledger::Reach::Own).is_ok()
    };
    // What does not fit now does not fit when others have gone in quota either: most sizes are not looked at.
    let may_fit = state.entitled.iter().filter(|((quota, amount), _)| {
        state.domains.of_quota(*quota) == domain
            && has_room(&trial.quotas, *quota, amount)
            && !is_on_level(trial, preemptor, *quota)
    });
    let mut waiting: Vec<&Claim> = may_fit
        .flat_map(|(_, claims)| claims)
        .filter(|(_, _, _, no)| !trial.is_gone(*no) && !trial.is_promoted(*no))
        .collect();
    if waiting.is_empty() {
        return Vec::new();
    }
    sort::by_key(&mut waiting, |waiting| *waiting);
    let mut after = trial.fork();
    after.book(
        preemptor.job.quota,
        domain,
        preemptor.placed.charge,
        preemptor.job.shape.gang_amount(),
        ledger::Sign::Add,
    );
    let mut promoted = Vec::new();
    for (_, _, _, no) in waiting {
        let spec = &state.jobs[*no].spec;
        if has_room(&after.quotas, spec.quota, &spec.shape.gang_amount()) {
            after.promote(*no);
            promoted.push(*no);
        }
    }
    promoted
}

/// Whether a job of this quota, once in quota, would use what the level leaves idle and the preemptor counts on.
fn is_on_level(trial: &Trial<'_>, preemptor: &Preemptor<'_>, quota: QuotaNo) -> bool {
    let tree = &trial.state.quotas;
    match (preemptor.rule, tree[preemptor.policy_quota.at()].parent) {
        (Rule::SelfLevel(policy), Some(parent)) => {
            policy.scope != Scope::Own && quota != parent && ledger::is_within(tree, quota, parent)
        }
        (Rule::SelfLevel(_), None) | (Rule::Reclaim | Rule::ChildLevel(_), _) => false,
    }
}

/// Whether waiting would serve as well as taking: victims that are protected for now.
fn refine(trial: &Trial<'_>, candidates: &Candidates<'_>, blocker: Blocker, mut freed: Freed<'_>) -> Blocker {
    let mut protected = candidates.protected.clone();
    sort::by_key(&mut protected, |(until, _)| *until);
    for (until, candidate) in protected {
        freed.take(&candidate);
        if freed.is_enough() {
            let quota = trial.state.quotas[candidate.quota.at()].id.clone();
            return Blocker::VictimProtected { quota, until, considered: candidates.considered };
        }
    }
    blocker
}
