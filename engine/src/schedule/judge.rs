//! Judging one waiting job: the first source that serves wins, and every one that does not says why.
//!
//! Sources by right and idle amounts are asked apart: nothing is lent before everybody with a right has been asked.

use crate::job::hold::Attempt;
use crate::job::hold::Blocker;
use crate::job::hold::Hold;
use crate::job::phase::Phase;
use crate::job::phase::Source;
use crate::job::spec::IdlePolicy;
use crate::job::spec::JobSpec;
use crate::ledger::guaranteed::is_guaranteed;
use crate::placement::NodeUse;
use crate::placement::gang::NoRoom;
use crate::placement::gang::Room;
use crate::quota::policy::Scope;
use crate::schedule::backfill::Claim;
use crate::schedule::backfill::Denied;
use crate::schedule::backfill::Reservations;
use crate::schedule::decision::Offer;
use crate::schedule::source;
use crate::schedule::trial::Trial;
use crate::state::world::State;
use crate::unit::amount::Amount;
use crate::unit::id::JobNo;
use crate::unit::id::QuotaNo;
use crate::unit::slots::Draft;
use crate::unit::sort;
use crate::unit::time::Timestamp;

/// The sources that a job has a right to, in their order.
pub const BY_RIGHT: [Source; 4] = [Source::Own, Source::Reclaim, Source::ChildLevel, Source::SelfLevel];

/// Why no source by right serves.
#[derive(Clone, Debug, Default)]
pub struct Refused {
    /// Each source that was asked, with what blocks it.
    pub attempts: Vec<Attempt>,
    /// Whose reservation keeps it out. That says something of this job alone: another one of its class may be short
    /// enough for the gap before it.
    pub held_by: Option<JobNo>,
}

impl Refused {
    fn at_once(blocker: Blocker) -> Self {
        Self { attempts: vec![Attempt { source: Source::Own, blocker }], held_by: None }
    }

    /// What a job has been told that never uses its quota.
    #[must_use]
    pub fn idle_only(state: &State, job: &JobSpec) -> Self {
        let only = |source: &Source| Attempt { source: *source, blocker: Blocker::IdleOnly };
        let never = larger_than_nodes(state, job).map(|blocker| Attempt { source: Source::Own, blocker });
        Self { attempts: never.into_iter().chain(BY_RIGHT.iter().map(only)).collect(), held_by: None }
    }

    /// What was told before, in the order of the sources.
    #[must_use]
    pub fn known(hold: &Hold) -> Self {
        let by_right = hold.attempts.iter().filter(|attempt| attempt.source != Source::Idle);
        let mut attempts: Vec<Attempt> = by_right.cloned().collect();
        sort::by_key(&mut attempts, |attempt| attempt.source);
        Self { attempts, held_by: None }
    }

    /// All reasons, with what is said of idle amounts at its place. Where the first source ends the search, the others
    /// have not been asked.
    #[must_use]
    pub fn with_idle(&self, idle: Blocker) -> Hold {
        let mut attempts = self.attempts.clone();
        let is_told = attempts.len() > 1 || !matches!(idle, Blocker::IdleOff);
        if is_told {
            let place = attempts.iter().position(|attempt| attempt.source > Source::Idle).unwrap_or(attempts.len());
            attempts.insert(place, Attempt { source: Source::Idle, blocker: idle });
        }
        Hold::of(attempts)
    }
}

/// What a waiting job gets by right, as far as reservations leave it.
pub fn by_right(trial: &mut Trial<'_>, reservations: &mut Reservations, no: JobNo) -> Result<Offer, Refused> {
    let state = trial.state;
    let job = &state.jobs[no].spec;
    if let Some(blocker) = larger_than_quota(state, job) {
        return Err(Refused::at_once(blocker));
    }
    let claim = Claim { job: no, spec: job, is_extra: false };
    let mut refused = Refused { attempts: Vec::with_capacity(source::SOURCES.len()), held_by: None };
    for source in BY_RIGHT {
        let admitted = match source::offer(source, trial, job) {
            Ok(offer) => reservations.admit(trial, claim, offer, |trial| source::offer(source, trial, job)),
            Err(blocker) => {
                let is_short = source == Source::Own && matches!(blocker, Blocker::NoRoom { .. });
                // Others may be leaving already; if that is enough, nobody else has to go.
                if let Some(blocker) = is_short.then(|| released_soon(trial, job)).flatten() {
                    return Err(Refused::at_once(blocker));
                }
                refused.attempts.push(Attempt { source, blocker });
                continue;
            }
        };
        match admitted {
            Ok(offer) => return Ok(offer),
            Err(denied) => {
                let Denied { holder, blocker, is_whole_quota } = denied;
                refused.held_by = refused.held_by.or(Some(holder));
                refused.attempts.push(Attempt { source, blocker });
                if is_whole_quota {
                    return Err(refused);
                }
            }
        }
    }
    if let Some(blocker) = larger_than_nodes(state, job) {
        refused.attempts.insert(0, Attempt { source: Source::Own, blocker });
    }
    Err(refused)
}

/// What the sources say of a job as it stands, whatever the rest of the queue does.
pub fn try_sources(trial: &Trial<'_>, job: &JobSpec) -> Result<Offer, Hold> {
    let mut attempts = Vec::with_capacity(source::SOURCES.len());
    for source in source::SOURCES {
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

/// Whether a job may be the head for which a strict queue waits: it fits in what is guaranteed to it, and on the
/// machines. One that could start only on what others leave idle, or never, does not block.
#[must_use]
pub fn may_block(trial: &Trial<'_>, no: JobNo) -> bool {
    let (state, job) = (trial.state, &trial.state.jobs[no].spec);
    job.idle != IdlePolicy::Only
        && is_guaranteed(&state.quotas, &trial.quotas, job.quota, &job.shape.gang_amount())
        && fits_when_empty(state, job)
}

/// Whether a job fits on the machines when nobody is on them.
#[must_use]
pub fn fits_when_empty(state: &State, job: &JobSpec) -> bool {
    larger_than_nodes(state, job).is_none()
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
