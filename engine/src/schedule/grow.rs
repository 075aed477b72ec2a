//! Pods above an elastic job's minimum: they start when there is room, one by one, and carry their own charge
//! (rules 1.3 and 3.7).
//!
//! They grow after everybody with a right has been served: one pod each in turn, within quotas before anything is lent,
//! and on idle amounts last. Nobody is preempted for them; lent amounts are taken back if they are free at once.

use std::sync::Arc;

use crate::job::hold::Blocker;
use crate::job::phase::Charge;
use crate::job::phase::Phase;
use crate::job::phase::Source;
use crate::job::shape::Role;
use crate::job::shape::Shape;
use crate::job::spec::IdlePolicy;
use crate::job::spec::JobSpec;
use crate::ledger::Sign;
use crate::schedule::backfill::Claim;
use crate::schedule::backfill::Reservations;
use crate::schedule::decision::Assignment;
use crate::schedule::decision::Decision;
use crate::schedule::decision::Victim;
use crate::schedule::precedence::Ahead;
use crate::schedule::source;
use crate::schedule::trial::Trial;
use crate::unit::id::DomainNo;
use crate::unit::id::GroupNo;
use crate::unit::id::JobNo;
use crate::unit::ordered::Map;
use crate::unit::sort;

/// What an extra pod may use within its quota: what is free, what was lent, and at a parent with child-level preemption
/// what its descendants leave unused.
const WITHIN_QUOTA: [Source; 3] = [Source::Own, Source::Reclaim, Source::ChildLevel];

/// The elastic jobs of a round.
#[derive(Default)]
pub struct Growth {
    /// Jobs that start in this round, with the charge of their gangs and where these run.
    started: Vec<(JobNo, Charge, GroupNo)>,
    /// How many pods have been given in this round.
    given: Map<JobNo, u32>,
}

/// An elastic job that could have more pods.
struct Growing {
    job: JobNo,
    /// One more pod, as a job of its own.
    pod: JobSpec,
    charge: Charge,
    /// A job never spans two domains, so its pods stay where its gang is.
    home: DomainNo,
    missing: u32,
}

impl Growth {
    /// A job starts in this round.
    pub fn start(&mut self, trial: &Trial<'_>, job: JobNo, assignment: &Assignment) {
        let is_elastic = trial.state.jobs[job].spec.shape.extra_pods() > 0;
        if is_elastic && assignment.victims.is_empty() {
            self.started.push((job, assignment.placed.charge, assignment.placed.home));
        }
    }

    /// Pods that start within their quotas.
    pub fn within_quotas(&mut self, trial: &mut Trial<'_>, reservations: &mut Reservations<'_>) -> Vec<Decision> {
        let mut growing = self.growing(trial);
        growing.retain(|growing| growing.charge == Charge::InQuota);
        self.in_turn(trial, growing, |trial, growing| within_quota(trial, reservations, growing))
    }

    /// Who starts in this round and would take back for its pods, in the next one, what others are lent in this one.
    pub(super) fn ahead<'t>(&self, trial: &'t Trial<'_>) -> impl Iterator<Item = Ahead> + 't {
        let is_possible = trial.has_lent && !self.started.is_empty();
        let mut growing = if is_possible { self.growing(trial) } else { Vec::new() };
        growing.retain(|growing| growing.charge == Charge::InQuota && trial.is_served(growing.job));
        growing.into_iter().filter_map(|growing| {
            Ahead::of_pod(trial, growing.job, |without| {
                without.only_at_once = true;
                WITHIN_QUOTA.into_iter().any(|source| assign_within(source, without, &growing.pod).is_ok())
            })
        })
    }

    /// Pods that start on idle amounts.
    pub fn on_idle(&mut self, trial: &mut Trial<'_>) -> Vec<Decision> {
        let mut growing = self.growing(trial);
        growing.retain(|growing| growing.pod.idle != IdlePolicy::Off);
        self.in_turn(trial, growing, |trial, growing| source::idle::assign_in(trial, &growing.pod, growing.home).ok())
    }

    /// One pod each in turn, until nobody gets another one.
    fn in_turn(
        &mut self,
        trial: &mut Trial<'_>,
        mut growing: Vec<Growing>,
        mut assignment: impl FnMut(&mut Trial<'_>, &Growing) -> Option<Assignment>,
    ) -> Vec<Decision> {
        let mut decisions = Vec::new();
        while !growing.is_empty() {
            growing.retain_mut(|growing| {
                let Some(assignment) = assignment(trial, growing) else { return false };
                decisions.push(take(trial, growing, assignment));
                *self.given.or_default(growing.job) += 1;
                growing.missing -= 1;
                growing.missing > 0
            });
        }
        decisions
    }

    /// Whoever could have more pods, in the order of the queue.
    fn growing(&self, trial: &Trial<'_>) -> Vec<Growing> {
        let state = trial.state;
        if state.growing.is_empty() && self.started.is_empty() {
            return Vec::new();
        }
        let mut jobs: Vec<(JobNo, Charge, GroupNo, u32)> = Vec::new();
        for no in state.growing.iter().copied().filter(|no| !trial.is_gone(*no)) {
            let Phase::Running { placed, extra, .. } = &state.jobs[no].phase else { continue };
            let has = u32::try_from(trial.extra_of(no, extra).count()).unwrap_or(u32::MAX);
            jobs.push((no, trial.charge_of(no, placed), placed.home, has));
        }
        jobs.extend(self.started.iter().map(|(no, charge, home)| (*no, *charge, *home, 0)));
        sort::by_key(&mut jobs, |(no, ..)| {
            let job = &state.jobs[*no];
            (std::cmp::Reverse(job.spec.priority), job.waiting_since, &job.spec.id)
        });
        let growing = jobs.into_iter().map(|(job, charge, home, has)| {
            let spec = &state.jobs[job].spec;
            let has = has.saturating_add(self.given.get(&job).copied().unwrap_or(0));
            let home = state.domains.of_group(home);
            Growing { job, pod: pod_of(spec), charge, home, missing: spec.shape.extra_pods().saturating_sub(has) }
        });
        growing.filter(|growing| growing.missing > 0).collect()
    }
}

fn within_quota(trial: &mut Trial<'_>, reservations: &mut Reservations<'_>, growing: &Growing) -> Option<Assignment> {
    let claim = Claim { job: growing.job, spec: &growing.pod, is_extra: true };
    WITHIN_QUOTA.into_iter().find_map(|source| {
        let ask = |trial: &Trial<'_>| assign_within(source, trial, &growing.pod);
        // Nobody is told to stop for a pod that would have to wait.
        trial.only_at_once = true;
        let assignment = ask(trial).ok().and_then(|assignment| reservations.admit(trial, claim, assignment, ask).ok());
        trial.only_at_once = false;
        assignment
    })
}

/// What a source by right offers to a pod, which preempts nobody.
fn assign_within(source: Source, trial: &Trial<'_>, pod: &JobSpec) -> Result<Assignment, Blocker> {
    let assignment = source::assign(source, trial, pod)?;
    if takes_only_loans(trial, &assignment) { Ok(assignment) } else { Err(Blocker::NothingLent) }
}

/// Whether all who give way are on idle amounts.
fn takes_only_loans(trial: &Trial<'_>, assignment: &Assignment) -> bool {
    assignment.victims.iter().all(|victim| {
        let Phase::Running { placed, extra, .. } = &trial.state.jobs[victim.job()].phase else { return false };
        match victim {
            Victim::Job(no) => trial.charge_of(*no, placed) == Charge::Idle,
            Victim::Pods(_, pods) => pods.iter().all(|pod| extra[*pod as usize].charge == Charge::Idle),
        }
    })
}

/// Books a pod, and says so.
fn take(trial: &mut Trial<'_>, growing: &Growing, assignment: Assignment) -> Decision {
    let pod = assignment.placed.pods.first().copied();
    for promoted in &assignment.promoted {
        trial.promote(*promoted);
    }
    for victim in &assignment.victims {
        trial.evict(victim);
    }
    let amount = growing.pod.shape.gang_amount();
    trial.has_lent |= assignment.placed.charge == Charge::Idle;
    trial.book(growing.pod.quota, growing.home, assignment.placed.charge, amount, Sign::Add);
    trial.occupy(growing.home, pod, amount, Sign::Add);
    Decision::Grow {
        job: growing.job,
        charge: assignment.placed.charge,
        pods: vec![pod],
        promoted: assignment.promoted,
        victims: assignment.victims,
        cause: assignment.cause,
    }
}

/// One more pod, as a job of its own.
fn pod_of(spec: &JobSpec) -> JobSpec {
    let role = Role { count: 1, amount: spec.shape.extra_amount() };
    JobSpec { shape: Arc::new(Shape::new(vec![role], None).on(spec.shape.nodes().clone())), ..spec.clone() }
}
