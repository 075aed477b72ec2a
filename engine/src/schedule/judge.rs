//! Judging one waiting job: the first source that serves wins, and every one that does not says why.

use crate::job::hold::Attempt;
use crate::job::hold::Blocker;
use crate::job::hold::Hold;
use crate::job::phase::Source;
use crate::job::spec::IdlePolicy;
use crate::job::spec::JobSpec;
use crate::placement::NodeUse;
use crate::quota::policy::Scope;
use crate::schedule::backfill::Reservations;
use crate::schedule::decision::Offer;
use crate::schedule::source;
use crate::schedule::source::SOURCES;
use crate::schedule::trial::Trial;
use crate::state::cluster::NodeStatus;
use crate::state::world::State;
use crate::unit::amount::Amount;
use crate::unit::id::JobNo;
use crate::unit::id::QuotaNo;
use crate::unit::slots::Draft;

/// What a waiting job gets now, or why it waits.
pub fn judge(trial: &mut Trial<'_>, reservations: &Reservations, no: JobNo) -> Result<Offer, Hold> {
    let job = &trial.state.jobs[no];
    if let Some(blocker) = larger_than_quota(trial.state, &job.spec) {
        return Err(Hold::of(vec![Attempt { source: Source::Own, blocker }]));
    }
    trial.forbidden = reservations.forbidden(trial, job);
    let judged = try_sources(trial, &job.spec);
    let is_restricted = !trial.forbidden.is_empty();
    trial.forbidden.clear();
    match judged {
        Ok(offer) => match reservations.blocker(trial, job) {
            Some(blocker) if offer.placed.source != Source::Idle => {
                Err(Hold::of(vec![Attempt { source: offer.placed.source, blocker }]))
            }
            Some(_) | None => Ok(offer),
        },
        Err(hold) if is_restricted => match (try_sources(trial, &job.spec), reservations.node_blocker(trial, job)) {
            (Ok(offer), Some(blocker)) => Err(Hold::of(vec![Attempt { source: offer.placed.source, blocker }])),
            (Ok(_) | Err(_), _) => Err(hold),
        },
        Err(hold) => Err(hold),
    }
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
    let is_short_of_room = attempts.iter().any(|attempt| matches!(attempt.blocker, Blocker::NoRoom { .. }));
    if is_short_of_room {
        attempts.extend(larger_than_nodes(trial.state, job).map(|blocker| Attempt { source: Source::Own, blocker }));
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
    let ready = |node: &&crate::unit::id::NodeNo| state.nodes[node.at()].status == NodeStatus::Ready;
    let total = domain.nodes.iter().filter(ready).fold(Amount::ZERO, |sum, no| sum.plus(&state.nodes[no.at()].amount));
    let largest =
        |at: usize| domain.nodes.iter().filter(ready).map(|no| state.nodes[no.at()].amount[at]).max().unwrap_or(0);
    // Cheap and sufficient in most cases: all machines together, and the largest one for each kind of pods.
    let is_plainly_small = asked.fits_in(&total)
        && job.shape.gang().all(|role| (0..state.cluster.dimensions.len()).all(|at| role.amount[at] <= largest(at)));
    if is_plainly_small && job.shape.gang_pods() == 1 {
        return None;
    }
    let empty: Vec<NodeUse> = state.nodes.iter().map(|node| NodeUse::empty(&state.cluster, &node.amount)).collect();
    let floor = crate::placement::floor::Floor::empty(&state.cluster, &state.nodes, &state.domains);
    let roles: Vec<_> = job.shape.gang().collect();
    let room =
        crate::placement::gang::Room { floor: &floor, cluster: &state.cluster, domain: domain_no, forbidden: &[] };
    let no_room = room.place(&mut Draft::over(&empty), &roles).err()?;
    let at = state
        .cluster
        .gpu_dimension(&no_room.pod)
        .or_else(|| no_room.pod.values().position(|value| value > 0))
        .unwrap_or(0);
    let dimension = u8::try_from(at).unwrap_or(u8::MAX);
    Some(Blocker::LargerThanNodes { pods, fit: no_room.fit, dimension, asked: no_room.pod[at], largest: largest(at) })
}

/// Whether jobs that are stopping already leave enough room: who, and until when.
fn released_soon(trial: &Trial<'_>, job: &JobSpec) -> Option<Blocker> {
    let state = trial.state;
    let domain = state.domains.of_quota(job.quota);
    let mut leaving: Vec<(crate::unit::time::Timestamp, JobNo)> = Vec::new();
    for no in state.stopping.iter().copied() {
        if let crate::job::phase::Phase::Stopping { placed, until, evicted_for, .. } = &state.jobs[no].phase {
            let is_owed = evicted_for.is_some_and(|heir| {
                state.jobs.get(heir).is_some_and(|heir| matches!(heir.phase, crate::job::phase::Phase::Starting { .. }))
            });
            if !is_owed && state.domains.of_group(placed.home) == domain {
                leaving.push((*until, no));
            }
        }
    }
    leaving.sort_unstable();
    let mut later = trial.clone();
    for (until, no) in leaving {
        later.vacate(no);
        if source::find_room(&later, domain, &job.shape).is_ok() {
            return Some(Blocker::WaitingForRelease { job: state.jobs[no].spec.id.clone(), until });
        }
    }
    None
}
