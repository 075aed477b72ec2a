//! Judging one waiting job: the first source that serves wins, and every one that does not says why.
//!
//! Sources by right and idle amounts are asked apart: nothing is lent before everybody with a right has been asked.

use std::sync::Arc;

use crate::job::hold::Attempt;
use crate::job::hold::Blocker;
use crate::job::hold::Hold;
use crate::job::phase::Charge;
use crate::job::phase::Phase;
use crate::job::phase::Placed;
use crate::job::phase::Source;
use crate::job::run::RunNo;
use crate::job::spec::IdlePolicy;
use crate::job::spec::JobSpec;
use crate::ledger::guaranteed::is_guaranteed;
use crate::schedule::backfill::Claim;
use crate::schedule::backfill::Denied;
use crate::schedule::backfill::Reservations;
use crate::schedule::decision::Assignment;
use crate::schedule::never;
use crate::schedule::source;
use crate::schedule::trial::Trial;
use crate::state::jobs::Job;
use crate::state::world::State;
use crate::unit::id::JobNo;
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
    /// Whether it starts, by its own quota, once those who are leaving already have left.
    pub awaits: bool,
}

impl Refused {
    fn until_released(blocker: Blocker) -> Self {
        Self { attempts: vec![Attempt { source: Source::Own, blocker }], held_by: None, awaits: true }
    }

    /// What a job is told that never uses its quota.
    #[must_use]
    pub fn idle_only() -> Self {
        let only = |source: &Source| Attempt { source: *source, blocker: Blocker::IdleOnly };
        Self::with(BY_RIGHT.iter().map(only))
    }

    /// What was told before, in the order of the sources.
    #[must_use]
    pub fn known(hold: &Hold) -> Self {
        let by_right = hold.attempts.iter().filter(|attempt| attempt.source != Source::Idle);
        let mut known = Self::with(by_right.cloned());
        sort::by_key(&mut known.attempts, |attempt| attempt.source);
        known
    }

    /// The same for one alone: a copy if others need it still.
    #[must_use]
    pub fn own(shared: Arc<Self>) -> Self {
        Arc::try_unwrap(shared)
            .unwrap_or_else(|shared| Self { held_by: shared.held_by, ..Self::with(shared.attempts.iter().cloned()) })
    }

    /// These attempts, with room for what is said of idle amounts.
    fn with(by_right: impl Iterator<Item = Attempt>) -> Self {
        let mut attempts = Vec::with_capacity(source::SOURCES.len());
        attempts.extend(by_right);
        Self { attempts, held_by: None, awaits: false }
    }

    /// Why the job waits: all reasons, with what is said of idle amounts at its place, and the proofs if it can never
    /// start. Where the first source ends the search, the others have not been asked.
    #[must_use]
    pub fn hold(self, state: &State, job: &JobSpec, idle: Blocker) -> Hold {
        let mut attempts = self.attempts;
        let is_told = attempts.len() > 1 || !matches!(idle, Blocker::IdleOff);
        if is_told {
            let place = attempts.iter().position(|attempt| attempt.source > Source::Idle).unwrap_or(attempts.len());
            attempts.insert(place, Attempt { source: Source::Idle, blocker: idle });
        }
        never::told(never::proofs(state, job), Hold::of(attempts))
    }
}

/// What a waiting job gets by right, as far as reservations leave it. What a source is known to offer it, since it has
/// been asked the same before, is not looked for again.
pub fn by_right(
    trial: &mut Trial<'_>,
    reservations: &mut Reservations<'_>,
    no: JobNo,
    foreseen: Option<&Assignment>,
) -> Result<Assignment, Refused> {
    let job = &trial.state.jobs[no].spec;
    let claim = Claim { job: no, spec: job, is_extra: false };
    ask_by_right(trial, job, foreseen, |trial, source, assignment| {
        reservations.admit(trial, claim, assignment, |trial| source::assign(source, trial, job))
    })
}

/// Whether a job would be served by right whatever the rest of the queue does.
pub fn would_serve(trial: &mut Trial<'_>, job: &JobSpec) -> bool {
    ask_by_right(trial, job, None, |_, _, assignment| Ok(assignment)).is_ok()
}

/// What a job would be told now whatever the rest of the queue does: the same questions as in a round.
pub fn ask(trial: &Trial<'_>, job: &JobSpec) -> Result<Assignment, Hold> {
    let refused = match job.idle {
        IdlePolicy::Only => Refused::idle_only(),
        IdlePolicy::Off | IdlePolicy::Acceptable => {
            match ask_by_right(&mut trial.fork(), job, None, |_, _, assignment| Ok(assignment)) {
                Ok(assignment) => return Ok(assignment),
                Err(refused) => refused,
            }
        }
    };
    match source::assign(Source::Idle, trial, job) {
        Ok(assignment) => Ok(assignment),
        Err(blocker) => Err(refused.hold(trial.state, job, blocker)),
    }
}

/// Asks the sources by right in their order, as far as somebody admits what they offer.
fn ask_by_right<'s>(
    trial: &mut Trial<'s>,
    job: &JobSpec,
    foreseen: Option<&Assignment>,
    mut admit: impl FnMut(&mut Trial<'s>, Source, Assignment) -> Result<Assignment, Denied>,
) -> Result<Assignment, Refused> {
    let is_above_quota = |state: &State| never::is_above_quota(state, job);
    let mut refused = Refused::default();
    for source in BY_RIGHT {
        let known = foreseen.filter(|assignment| assignment.placed.source == source);
        let admitted =
            match known.map_or_else(|| source::assign(source, trial, job), |assignment| Ok(assignment.clone())) {
                // Nobody gives way to a job that is larger than what is guaranteed to it.
                Ok(_) if is_above_quota(trial.state) => continue,
                Ok(assignment) => admit(trial, source, assignment),
                Err(blocker) => {
                    if refused.attempts.is_empty() {
                        // Most jobs get something at once and need no room.
                        refused.attempts.reserve_exact(source::SOURCES.len());
                    }
                    let is_short = source == Source::Own && matches!(blocker, Blocker::NoRoom { .. });
                    // Others may be leaving already; if that is enough, nobody else has to go.
                    if let Some((blocker, _)) = is_short.then(|| released_soon(trial, job)).flatten() {
                        return Err(Refused::until_released(blocker));
                    }
                    refused.attempts.push(Attempt { source, blocker });
                    continue;
                }
            };
        match admitted {
            Ok(assignment) => return Ok(assignment),
            Err(Denied { holder, blocker, is_whole_quota }) => {
                refused.held_by = refused.held_by.or(Some(holder));
                refused.attempts.push(Attempt { source, blocker });
                if is_whole_quota {
                    break;
                }
            }
        }
    }
    Err(refused)
}

/// Whether a job may be the head for which a strict queue waits: it fits in what is guaranteed to it, and on the
/// machines. One that could start only on what others leave idle, or never, does not block.
#[must_use]
pub fn may_block(trial: &Trial<'_>, no: JobNo) -> bool {
    let (state, job) = (trial.state, &trial.state.jobs[no].spec);
    job.idle != IdlePolicy::Only
        && is_guaranteed(&state.quotas, &trial.quotas, job.quota, &job.shape.gang_amount())
        && never::fits_when_empty(state, job)
}

/// Whether jobs that are stopping already leave enough room: who, until when, and where.
pub(super) fn released_soon(trial: &Trial<'_>, job: &JobSpec) -> Option<(Blocker, Placed)> {
    let state = trial.state;
    let domain = state.domains.of_quota(job.quota);
    let mut leaving: Vec<(Timestamp, JobNo, Option<RunNo>)> = Vec::new();
    let is_awaited = |heir: Option<JobNo>| {
        let is_starting = |heir: &Job| matches!(heir.phase, Phase::Starting { .. });
        heir.is_some_and(|heir| state.jobs.get(heir).is_some_and(is_starting))
    };
    for no in state.stopping.iter().copied() {
        if let Phase::Stopping(stopping) = &state.jobs[no].phase
            && !is_awaited(stopping.evicted_for)
            && state.domains.of_group(stopping.placed.home) == domain
        {
            leaving.push((stopping.until, no, None));
        }
    }
    for no in state.shedding.iter().copied() {
        let job = &state.jobs[no];
        let is_here = job.placed().is_some_and(|placed| state.domains.of_group(placed.home) == domain);
        let orders =
            job.run.iter().flat_map(|run| &run.leaving).filter(|order| is_here && !is_awaited(order.evicted_for));
        leaving.extend(orders.map(|order| (order.until, no, Some(order.order))));
    }
    sort::by_key(&mut leaving, |leaving| *leaving);
    let mut later = trial.fork();
    for (until, no, order) in leaving {
        match order {
            Some(order) => later.vacate_pods(no, order),
            None => later.vacate(no),
        }
        if let Ok(pods) = source::find_room(&later, domain, &job.shape) {
            let home = state.domains.list[domain.at()].home;
            let placed = Placed { source: Source::Own, charge: Charge::InQuota, home, pods };
            return Some((Blocker::WaitingForRelease { job: state.jobs[no].spec.id.clone(), until }, placed));
        }
    }
    None
}
