//! The jobs that a service is made of: its own, and its parts.

use engine::state::jobs::Job;
use engine::state::world::State;
use engine::unit::id::JobNo;
use engine::unit::sort;

use crate::service::held;

/// A service's own job first, then its parts in the order in which they were asked for.
pub(super) struct Members<'s>(Vec<(JobNo, &'s Job)>);

pub(super) fn of(state: &State, service: JobNo) -> Members<'_> {
    let mut members: Vec<(JobNo, &Job)> = state.parts_of(service).map(|part| (part, &state.jobs[part])).collect();
    sort::by_key(&mut members, |(_, job)| (job.submitted, &job.spec.id));
    members.insert(0, (service, &state.jobs[service]));
    Members(members)
}

impl<'s> Members<'s> {
    pub(super) fn jobs(&self) -> impl Iterator<Item = &'s Job> + '_ {
        self.0.iter().map(|(_, job)| *job)
    }

    /// How many instances are asked for.
    pub(super) fn instances(&self) -> usize {
        let roles = self.jobs().flat_map(|job| job.spec.shape.roles());
        roles.map(|role| role.count as usize).sum()
    }

    /// How many of them run.
    pub(super) fn running(&self) -> usize {
        self.jobs().map(running_of).sum()
    }

    /// The first that waits.
    pub(super) fn waiting(&self) -> Option<(JobNo, &'s Job)> {
        self.0.iter().copied().find(|(_, job)| job.is_queued())
    }
}

/// How many instances of a member run.
pub(super) fn running_of(job: &Job) -> usize {
    if job.is_running() { held::pods(job).count() } else { 0 }
}
