//! Judging one waiting job: the first source that serves wins, and every one that does not says why.

use std::sync::Arc;

use crate::job::hold::Attempt;
use crate::job::hold::Blocker;
use crate::job::hold::Hold;
use crate::job::phase::Phase;
use crate::job::phase::Source;
use crate::job::spec::IdlePolicy;
use crate::job::spec::JobSpec;
use crate::placement::NodeUse;
use crate::placement::gang::NoRoom;
use crate::placement::gang::Room;
use crate::quota::policy::Scope;
use crate::schedule::backfill::Reservations;
use crate::schedule::decision::Offer;
use crate::schedule::order::Head;
use crate::schedule::source;
use crate::schedule::source::SOURCES;
use crate::schedule::trial::Trial;
use crate::state::world::State;
use crate::unit::amount::Amount;
use crate::unit::id::JobNo;
use crate::unit::id::QuotaNo;
use crate::unit::slots::Draft;
use crate::unit::sort;
use crate::unit::sparse::Sparse;
use crate::unit::time::Timestamp;

/// What families, by number, were refused since anybody was served in this round: the same question to the same books.
pub type Refusals = Sparse<Arc<Hold>>;

/// What a waiting job gets now, or why it waits.
pub fn judge(
    trial: &mut Trial<'_>,
    reservations: &mut Reservations,
    refusals: &mut Refusals,
    head: Head,
) -> Result<Offer, Arc<Hold>> {
    let family = trial.state.queue.classes[head.class.at()].family;
    if let Some(hold) = refusals.get(family.at()) {
        return Err(Arc::clone(hold));
    }
    let job = &trial.state.jobs[head.job].spec;
    let reserved = |source: Source, blocker: Blocker| Arc::new(Hold::of(vec![Attempt { source, blocker }]));
    let offer = match ask(trial, job) {
        Ok(offer) => offer,
        Err(hold) => {
            let hold = Arc::new(hold);
            *refusals.slot(family.at()) = Some(Arc::clone(&hold));
            return Err(hold);
        }
    };
    if let Some(blocker) = reservations.blocker(trial, head.job, &offer) {
        return Err(reserved(offer.placed.source, blocker));
    }
    let Some((nodes, blocker)) = reservations.forbidden(trial, head.job, &offer) else { return Ok(offer) };
    // Some of its nodes are somebody else's; others may do.
    trial.forbidden = nodes;
    let elsewhere = try_sources(trial, job);
    trial.forbidden.clear();
    elsewhere.map_err(|_| reserved(offer.placed.source, blocker))
}

/// What the sources offer, and whether it is hopeless to ask them.
fn ask(trial: &Trial<'_>, job: &JobSpec) -> Result<Offer, Hold> {
    if let Some(blocker) = larger_than_quota(trial.state, job) {
        return Err(Hold::of(vec![Attempt { source: Source::Own, blocker }]));
    }
    try_sources(trial, job).map_err(|mut hold| {
        if let Some(blocker) = larger_than_nodes(trial.state, job) {
            hold.attempts.insert(0, Attempt { source: Source::Own, blocker });
        }
        hold
    })
}

/// Tries the sources in their order.
pub fn try_sources(trial: &Trial<'_>, job: &JobSpec) -> Result<Offer, Hold> {
    let mut attempts = Vec::with_capacity(SOURCES.len());
    for source in SOURCES {
        match source::offer(source, trial, job) {
            Ok(offer) => return Ok(offer),
            Err(blocker) => attempts.push(Attempt { source, blocker }),
        }
        let is_short = source == Source::Own && matches!(attempts[0].blocker, Blocker::NoRoom { .. });
        // Others may be leaving already; if that is enough, nobody else has to go.
        if let Some(blocker) = is_short.then(|| released_soon(trial, job)).flatten() {
            return Err(Hold::of(vec![Attempt { source, blocker }]));
        }
    }
    Err(Hold::of(attempts))
}

/// A job that its quota will never allow. One that may run on idle amounts, or on its siblings', is not bound by it.
fn larger_than_quota(state: &State, job: &JobSpec) -> Option<Blocker> {
    if job.idle != IdlePolicy::Off {
        return None;
    }
    let asked = job.shape.gang_amount();
    let settings = &state.quotas[job.quota.at()].settings;
    let reaches_level = settings
        .self_level
        .as_ref()
        .is_some_and(|policy| policy.scope != Scope::Own && policy.high.contains(job.priority));
    let mut next: Option<QuotaNo> = Some(job.quota);
    if reaches_level {
        next = state.quotas[job.quota.at()].parent.or(next);
    }
    while let Some(at) = next {
        let quota = &state.quotas[at.at()];
        if let Some(dimension) = quota.min.first_exceeded(&Amount::ZERO, &asked) {
            return Some(Blocker::LargerThanQuota {
                quota: quota.id.clone(),
                dimension: u8::try_from(dimension).unwrap_or(u8::MAX),
                asked: asked[dimension],
                min: quota.min.amount[dimension],
            });
        }
        next = quota.parent;
    }
    None
}

/// A job that does not fit even when the machines that are ready are empty.
fn larger_than_nodes(state: &State, job: &JobSpec) -> Option<Blocker> {
    let domain_no = state.domains.of_quota(job.quota);
    let domain = &state.domains.list[domain_no.at()];
    let asked = job.shape.gang_amount();
    let pods = job.shape.gang_pods();
    if domain.is_pool {
        let at = asked.first_over(&domain.amount)?;
        let dimension = u8::try_from(at).unwrap_or(u8::MAX);
        return Some(Blocker::LargerThanNodes {
            pods,
            fit: 0,
            dimension,
            asked: asked[at],
            largest: domain.amount[at],
        });
    }
    let no_room = match job.shape.roles() {
        [_] => {
            let role = job.shape.gang().next()?;
            let slots = |amount| NodeUse::empty(&state.cluster, amount).slots(&role.amount);
            let fit: i64 =
                domain.ready.iter().map(|(amount, count)| slots(amount).saturating_mul(i64::from(*count))).sum();
            let fit = u32::try_from(fit).unwrap_or(u32::MAX);
            if fit >= role.count {
                return None;
            }
            NoRoom { fit, pod: role.amount }
        }
        _several => {
            let roles: Vec<_> = job.shape.gang().collect();
            let room = Room { floor: &state.vacant, cluster: &state.cluster, domain: domain_no, forbidden: &[] };
            room.place(&mut Draft::over(&state.vacant.nodes), &roles).err()?
        }
    };
    let at = state
        .cluster
        .gpu_dimension(&no_room.pod)
        .or_else(|| no_room.pod.values().position(|value| value > 0))
        .unwrap_or(0);
    let dimension = u8::try_from(at).unwrap_or(u8::MAX);
    let largest = domain.ready.keys().map(|amount| amount[at]).max().unwrap_or(0);
    Some(Blocker::LargerThanNodes { pods, fit: no_room.fit, dimension, asked: no_room.pod[at], largest })
}

/// Whether jobs that are stopping already leave enough room: who, and until when.
fn released_soon(trial: &Trial<'_>, job: &JobSpec) -> Option<Blocker> {
    let state = trial.state;
    let domain = state.domains.of_quota(job.quota);
    let mut leaving: Vec<(Timestamp, JobNo)> = Vec::new();
    for no in state.stopping.iter().copied() {
        if let Phase::Stopping(stopping) = &state.jobs[no].phase {
            let is_owed = stopping.evicted_for.is_some_and(|heir| {
                state.jobs.get(heir).is_some_and(|heir| matches!(heir.phase, Phase::Starting { .. }))
            });
            if !is_owed && state.domains.of_group(stopping.placed.home) == domain {
                leaving.push((stopping.until, no));
            }
        }
    }
    sort::by_key(&mut leaving, |leaving| *leaving);
    let mut later = trial.fork();
    for (until, no) in leaving {
        later.vacate(no);
        if source::find_room(&later, domain, &job.shape).is_ok() {
            return Some(Blocker::WaitingForRelease { job: state.jobs[no].spec.id.clone(), until });
        }
    }
    None
}
