//! Who gives way in a round, and what becomes free of it.

use crate::job::phase::Charge;
use crate::job::phase::Phase;
use crate::job::phase::PodAt;
use crate::job::run::RunNo;
use crate::ledger::Sign;
use crate::schedule::decision::Victim;
use crate::schedule::trial::Machines;
use crate::schedule::trial::Trial;
use crate::unit::id::JobNo;

impl Trial<'_> {
    /// The victim, if it takes time to stop.
    #[must_use]
    pub fn takes_time(&self, victim: &Victim) -> Option<JobNo> {
        let no = victim.job();
        let takes_time = match victim {
            Victim::Job(_) => self.state.takes_time(&self.state.jobs[no]),
            Victim::Pods(..) => self.state.pods_take_time(no),
        };
        takes_time.then_some(no)
    }

    /// Whether pods of a job above its minimum may be victims at all.
    #[must_use]
    pub fn may_shrink(&self, no: JobNo) -> bool {
        !self.only_at_once || self.takes_time(&Victim::Pods(no, Vec::new())).is_none()
    }

    /// Whether the gang of a job may be a victim at all.
    #[must_use]
    pub fn may_go(&self, no: JobNo) -> bool {
        !self.only_at_once || self.takes_time(&Victim::Job(no)).is_none()
    }

    /// Takes a victim off the books; it keeps its machines while it may take time to stop.
    pub fn tell_to_stop(&mut self, victim: &Victim) {
        match victim {
            _ if self.takes_time(victim).is_none() => self.evict(victim),
            Victim::Job(no) => self.evict_job(*no, Machines::Kept),
            Victim::Pods(no, pods) => pods.iter().for_each(|pod| self.take_pod(*no, *pod, Machines::Kept)),
        }
    }

    /// Moves an idle job into its quota.
    pub fn promote(&mut self, no: JobNo) {
        if self.recharge(no, Charge::Idle, Charge::InQuota) {
            self.promoted.insert(no);
        }
    }

    /// Takes a promotion back.
    pub fn demote(&mut self, no: JobNo) {
        if self.recharge(no, Charge::InQuota, Charge::Idle) {
            self.promoted.remove(&no);
        }
    }

    /// Books the gang of a job against something else, and says whether it holds anything.
    fn recharge(&mut self, no: JobNo, from: Charge, to: Charge) -> bool {
        let job = &self.state.jobs[no];
        let Some(placed) = job.placed() else { return false };
        let home = self.state.domains.of_group(placed.home);
        let amount = job.spec.shape.gang_amount();
        self.book(job.spec.quota, home, from, amount, Sign::Remove);
        self.book(job.spec.quota, home, to, amount, Sign::Add);
        true
    }

    /// Takes a victim off the books and off its machines.
    pub fn evict(&mut self, victim: &Victim) {
        match victim {
            Victim::Job(no) => self.evict_job(*no, Machines::Free),
            Victim::Pods(no, pods) => {
                for pod in pods {
                    self.take_pod(*no, *pod, Machines::Free);
                }
            }
        }
    }

    fn evict_job(&mut self, no: JobNo, machines: Machines) {
        let job = &self.state.jobs[no];
        let Phase::Running { placed, extra, .. } = &job.phase else { return };
        let left: Vec<u32> = self.extra_of(no, extra).map(|(at, _)| at).collect();
        for pod in left {
            self.take_pod(no, pod, machines);
        }
        let home = self.state.domains.of_group(placed.home);
        let charge = self.charge_of(no, placed);
        self.book(job.spec.quota, home, charge, job.spec.shape.gang_amount(), Sign::Remove);
        if machines == Machines::Free {
            for (place, amount) in Self::gang_pods(&job.spec.shape, placed) {
                self.occupy(home, place, amount, Sign::Remove);
            }
        }
        self.gone.insert(no);
    }

    /// Gives back the machines of a job that is stopping, or of one whose books do not matter.
    pub fn vacate(&mut self, no: JobNo) {
        let job = &self.state.jobs[no];
        let (placed, extra) = match &job.phase {
            Phase::Running { placed, extra, .. } => (placed, extra),
            Phase::Stopping(stopping) => (&stopping.placed, &stopping.extra),
            Phase::Queued { .. } | Phase::Starting { .. } | Phase::Ended { .. } => return,
        };
        let left: Vec<Option<PodAt>> = self.extra_of(no, extra).map(|(_, pod)| pod.at).collect();
        let home = self.state.domains.of_group(placed.home);
        for (place, amount) in Self::gang_pods(&job.spec.shape, placed) {
            self.occupy(home, place, amount, Sign::Remove);
        }
        for pod in left {
            self.occupy(home, pod, job.spec.shape.extra_amount(), Sign::Remove);
        }
        self.gone.insert(no);
    }

    /// Gives back the machines of pods that have been told to leave.
    pub fn vacate_pods(&mut self, no: JobNo, order: RunNo) {
        let job = &self.state.jobs[no];
        let Some(home) = job.placed().map(|placed| self.state.domains.of_group(placed.home)) else { return };
        let orders = job.run.iter().flat_map(|run| &run.leaving).filter(|leaving| leaving.order == order);
        for pod in orders.flat_map(|leaving| &leaving.pods) {
            self.occupy(home, Some(*pod), job.spec.shape.extra_amount(), Sign::Remove);
        }
    }

    fn take_pod(&mut self, no: JobNo, at: u32, machines: Machines) {
        let job = &self.state.jobs[no];
        let Phase::Running { placed, extra, .. } = &job.phase else { return };
        let pod = extra[at as usize];
        let home = self.state.domains.of_group(placed.home);
        let amount = job.spec.shape.extra_amount();
        self.book(job.spec.quota, home, pod.charge, amount, Sign::Remove);
        if machines == Machines::Free {
            self.occupy(home, pod.at, amount, Sign::Remove);
        }
        self.taken.or_default(no).insert(at);
    }
}
