//! Services and their parts: pods that were asked for later, each gang of them a job of its own (rules 1.6).

use crate::state::world::State;
use crate::unit::id::JobNo;

impl State {
    /// The parts of a service that have not ended.
    pub fn parts_of(&self, service: JobNo) -> impl Iterator<Item = JobNo> + '_ {
        let from = self.parts.range_from(&(service, JobNo(0)));
        from.take_while(move |(of, _)| *of == service).map(|(_, part)| *part)
    }

    /// The service that a job is a part of, or the job itself.
    #[must_use]
    pub fn service_of(&self, no: JobNo) -> JobNo {
        let service = self.jobs[no].spec.part_of;
        if service.is_none() { no } else { service }
    }

    /// Whether a job is a part of a service, or has parts: it is not cancelled and submitted anew by itself.
    #[must_use]
    pub fn is_in_parts(&self, no: JobNo) -> bool {
        self.service_of(no) != no || self.parts_of(no).next().is_some()
    }

    /// How many pods are owed to a service, with those of its parts.
    #[must_use]
    pub fn owed(&self, service: JobNo) -> u32 {
        let staying = self.parts_of(service).filter(|part| !self.jobs[*part].is_going());
        let members = staying.chain([service]);
        members.fold(0, |sum, member| sum.saturating_add(self.jobs[member].spec.shape.gang_pods()))
    }

    /// Notes that a job is a part of a service, if it is.
    pub fn join_service(&mut self, no: JobNo) {
        let service = self.jobs[no].spec.part_of;
        if !service.is_none() {
            self.parts.insert((service, no));
        }
    }

    /// A job that has ended is no part of a service any more.
    pub fn leave_service(&mut self, no: JobNo) {
        if let Some(job) = self.jobs.get_mut(no).filter(|job| !job.spec.part_of.is_none()) {
            let service = std::mem::replace(&mut job.spec.part_of, JobNo::NONE);
            self.parts.remove(&(service, no));
        }
    }
}
