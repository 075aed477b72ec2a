//! Reservations: backfill must not starve a large gang (semantics section 3).
//!
//! A job that has waited longer than its quota's `starvation_after` holds a reservation: of its quota, and of the
//! nodes on which it would start first. Later jobs of the same or a lower priority may use them only if their
//! declared duration ends before the reservation's earliest start.

use crate::job::hold::Blocker;
use crate::job::phase::Phase;
use crate::job::spec::IdlePolicy;
use crate::job::spec::JobSpec;
use crate::schedule::decision::Victim;
use crate::schedule::source;
use crate::schedule::trial::Trial;
use crate::state::jobs::Job;
use crate::unit::id::JobNo;
use crate::unit::id::NodeNo;
use crate::unit::id::QuotaNo;
use crate::unit::time::Millis;
use crate::unit::time::Timestamp;

/// What is reserved for a job that has waited too long.
#[derive(Clone, Debug)]
struct Reservation {
    job: JobNo,
    quota: QuotaNo,
    priority: u8,
    nodes: Vec<NodeNo>,
    /// When it can start at the earliest; nothing if that is not known.
    until: Option<Timestamp>,
}

/// The reservations of a round, one for each quota at most, in the order in which their jobs were judged.
#[derive(Clone, Debug, Default)]
pub struct Reservations(Vec<Reservation>);

impl Reservations {
    /// Reserves for a waiting job, if it has waited too long.
    pub fn consider(&mut self, trial: &Trial<'_>, no: JobNo) {
        let job = &trial.state.jobs[no];
        let quota = job.spec.quota;
        let patience = trial.state.quotas[quota.at()].settings.starvation_after;
        let is_starving = trial.now - job.waiting_since > patience;
        if !is_starving || job.spec.idle == IdlePolicy::Only || self.0.iter().any(|other| other.quota == quota) {
            return;
        }
        let (until, nodes) =
            earliest_start(trial, &job.spec).map_or((None, Vec::new()), |(at, nodes)| (Some(at), nodes));
        self.0.push(Reservation { job: no, quota, priority: job.spec.priority.get(), nodes, until });
    }

    /// Nodes that a job must leave alone, sorted.
    #[must_use]
    pub fn forbidden(&self, trial: &Trial<'_>, job: &Job) -> Vec<NodeNo> {
        let mut nodes: Vec<NodeNo> =
            self.binding(trial, job).flat_map(|reservation| reservation.nodes.iter().copied()).collect();
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    }

    /// What keeps a job from its own quota's amount, if anything.
    #[must_use]
    pub fn blocker(&self, trial: &Trial<'_>, job: &Job) -> Option<Blocker> {
        let mut binding = self.binding(trial, job).filter(|reservation| reservation.quota == job.spec.quota);
        binding.next().map(|reservation| as_blocker(trial, reservation))
    }

    /// The reservation of nodes that binds a job first.
    #[must_use]
    pub fn node_blocker(&self, trial: &Trial<'_>, job: &Job) -> Option<Blocker> {
        let mut binding = self.binding(trial, job).filter(|reservation| !reservation.nodes.is_empty());
        binding.next().map(|reservation| as_blocker(trial, reservation))
    }

    fn binding<'a>(&'a self, trial: &'a Trial<'_>, job: &'a Job) -> impl Iterator<Item = &'a Reservation> {
        let ends = job.spec.duration.map(|duration| trial.now + Millis(duration.0 - job.progress.saved_ms.0));
        self.0.iter().filter(move |reservation| {
            let is_back_in_time = matches!((ends, reservation.until), (Some(ends), Some(until)) if ends <= until);
            job.spec.priority.get() <= reservation.priority && !is_back_in_time
        })
    }
}

fn as_blocker(trial: &Trial<'_>, reservation: &Reservation) -> Blocker {
    Blocker::Reserved { job: trial.state.jobs[reservation.job].spec.id.clone(), until: reservation.until }
}

/// When a job could start if nobody else came: the declared ends of running jobs, one after the other.
fn earliest_start(trial: &Trial<'_>, spec: &JobSpec) -> Option<(Timestamp, Vec<NodeNo>)> {
    let state = trial.state;
    let domain = state.domains.of_quota(spec.quota);
    let mut ends: Vec<(Timestamp, JobNo)> = Vec::new();
    for (quota, running) in state.running.iter().enumerate() {
        if state.domains.of_quota(QuotaNo::from_index(quota)) != domain {
            continue;
        }
        for no in running.iter().copied().filter(|no| !trial.is_gone(*no)) {
            let job = &state.jobs[no];
            let Phase::Running { started, .. } = &job.phase else { continue };
            if let Some(duration) = job.spec.duration {
                ends.push((*started + Millis(duration.0 - job.progress.saved_ms.0), no));
            }
        }
    }
    ends.sort_unstable();
    let mut later = trial.clone();
    for (at, no) in ends {
        later.evict(&Victim::Job(no));
        if let Ok(offer) = source::offer(crate::job::phase::Source::Own, &later, spec) {
            return Some((at.max(trial.now), offer.placed.pods.iter().map(|pod| pod.node).collect()));
        }
    }
    None
}
