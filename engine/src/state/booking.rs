//! Booking what jobs hold: charges in the ledger, pods on the floor, and the lists of who runs where.

use crate::job::phase::Charge;
use crate::job::phase::ExtraPod;
use crate::job::phase::Phase;
use crate::job::phase::Placed;
use crate::job::phase::PodAt;
use crate::job::phase::Stopping;
use crate::job::shape::Shape;
use crate::ledger;
use crate::ledger::Sign;
use crate::state::jobs::Job;
use crate::state::jobs::Jobs;
use crate::state::preemption_order;
use crate::state::world::State;
use crate::unit::amount::Amount;
use crate::unit::id::DomainNo;
use crate::unit::id::JobNo;
use crate::unit::id::NodeNo;
use crate::unit::id::QuotaNo;
use crate::unit::ordered::Set;

impl State {
    /// Books what a job holds, or takes it off the books: charge, machines, and the lists of running jobs.
    pub fn book(&mut self, no: JobNo, sign: Sign) {
        if self.jobs.get(no).is_some_and(Job::bids) {
            // A waiting bid is booked where waiting jobs are.
            if !self.jobs[no].is_queued() {
                self.book_bid(no, sign);
            }
            return;
        }
        if self.jobs.get(no).is_none_or(|job| job.placed().is_none()) {
            return;
        }
        // Nothing of what is booked is in the jobs themselves, so they are set aside rather than copied.
        let jobs = std::mem::take(&mut self.jobs);
        if let Some(job) = jobs.get(no) {
            self.book_job(&jobs, no, job, sign);
        }
        self.jobs = jobs;
    }

    fn book_job(&mut self, jobs: &Jobs, no: JobNo, job: &Job, sign: Sign) {
        let (quota, shape) = (job.spec.quota, &*job.spec.shape);
        match &job.phase {
            Phase::Running { placed, extra, .. } => {
                self.book_charge(quota, placed, shape.gang_amount(), sign);
                self.occupy(placed, shape, sign);
                for pod in extra {
                    self.book_extra(quota, placed, pod.charge, shape, sign);
                    self.occupy_extra(placed, pod.at, shape, sign);
                }
                list(&mut self.running[quota.at()], (job.spec.priority, no), true, sign);
                self.list_in_preemption_order(no, job, placed, extra, sign);
                list(&mut self.growing, no, extra.len() < shape.extra_pods() as usize, sign);
                self.occupy_leaving(no, job, sign);
            }
            Phase::Starting { placed, waits_for, .. } => {
                self.book_charge(quota, placed, shape.gang_amount(), sign);
                self.occupy_granted(jobs, placed, shape, waits_for, sign);
                list(&mut self.running[quota.at()], (job.spec.priority, no), true, sign);
            }
            Phase::Stopping(stopping) => {
                let Stopping { placed, extra, .. } = &**stopping;
                list(&mut self.stopping, no, true, sign);
                self.occupy_leaving(no, job, sign);
                self.occupy_to_the_end(job, placed, sign);
                for pod in extra {
                    self.occupy_extra(placed, pod.at, shape, sign);
                }
            }
            Phase::Queued { .. } | Phase::Ended { .. } => {}
        }
    }

    /// Books an amount of a job's gang against its quota or against idle amounts.
    pub fn book_charge(&mut self, quota: QuotaNo, placed: &Placed, amount: Amount, sign: Sign) {
        self.book_amount(quota, placed, placed.charge, amount, sign);
    }

    fn book_extra(&mut self, quota: QuotaNo, placed: &Placed, charge: Charge, shape: &Shape, sign: Sign) {
        self.book_amount(quota, placed, charge, shape.extra_amount(), sign);
    }

    fn book_amount(&mut self, quota: QuotaNo, placed: &Placed, charge: Charge, amount: Amount, sign: Sign) {
        match charge {
            Charge::InQuota => {
                let domain = self.domains.of_quota(quota);
                let book = &mut self.ledger.domains[domain.at()];
                ledger::book_in_quota(&self.quotas, &mut self.ledger.quotas, book, quota, amount, sign);
                self.note_over(quota);
                if self.queue.waiting_in(quota).is_some() {
                    self.queue.watch.note(quota);
                }
            }
            Charge::Idle => {
                ledger::book_idle(&mut self.ledger.domains, self.domains.of_group(placed.home), amount, sign);
            }
            // Instances of the market belong to no quota and no resource group.
            Charge::Spot => {}
        }
    }

    /// Keeps the list of quotas that use more than their amount, from a quota up to its root.
    fn note_over(&mut self, quota: QuotaNo) {
        let mut next = Some(quota);
        while let Some(no) = next {
            let min = &self.quotas[no.at()].min;
            if min.masked(&self.ledger.quotas[no.at()].used).fits_in(&min.amount) {
                self.over.remove(&no);
            } else {
                self.over.insert(no);
            }
            next = self.quotas[no.at()].parent;
        }
    }

    fn occupy(&mut self, placed: &Placed, shape: &Shape, sign: Sign) {
        let domain = self.domains.of_group(placed.home);
        if placed.pods.is_empty() {
            self.occupy_pool(domain, shape.gang_amount(), sign);
            return;
        }
        for (pod, amount) in placed.pods.iter().zip(shape.gang_pod_amounts()) {
            self.occupy_node(pod.node, &amount, pod.gpus, sign);
        }
    }

    /// What is reported to run holds its machines until it is reported that it has stopped, also where less is owed to
    /// it since it was told to.
    fn occupy_to_the_end(&mut self, job: &Job, placed: &Placed, sign: Sign) {
        let shape = &*job.spec.shape;
        if job.run.is_none() || shape.roles().len() > 1 {
            self.occupy(placed, shape, sign);
            return;
        }
        for pod in &placed.pods {
            self.occupy_node(pod.node, &shape.extra_amount(), pod.gpus, sign);
        }
    }

    /// Pods that have been told to leave hold their GPUs until it is reported that they have gone.
    fn occupy_leaving(&mut self, no: JobNo, job: &Job, sign: Sign) {
        let amount = job.spec.shape.extra_amount();
        list(&mut self.shedding, no, job.run.as_ref().is_some_and(|run| !run.leaving.is_empty()), sign);
        for pod in job.run.iter().flat_map(|run| &run.leaving).flat_map(|leaving| &leaving.pods) {
            self.occupy_node(pod.node, &amount, pod.gpus, sign);
        }
    }

    fn occupy_extra(&mut self, placed: &Placed, at: Option<PodAt>, shape: &Shape, sign: Sign) {
        match at {
            Some(pod) => self.occupy_node(pod.node, &shape.extra_amount(), pod.gpus, sign),
            None => self.occupy_pool(self.domains.of_group(placed.home), shape.extra_amount(), sign),
        }
    }

    /// On nodes a granted job takes its place at once, on top of its victims. In a pool it takes what its victims
    /// do not hold any more: the larger of both counts.
    fn occupy_granted(&mut self, jobs: &Jobs, placed: &Placed, shape: &Shape, waits_for: &[JobNo], sign: Sign) {
        if placed.pods.is_empty() {
            let held = waits_for.iter().fold(Amount::ZERO, |sum, victim| sum.plus(&held_by(jobs, *victim)));
            let amount = shape.gang_amount().minus(&held).positive();
            self.occupy_pool(self.domains.of_group(placed.home), amount, sign);
        } else {
            self.occupy(placed, shape, sign);
        }
    }

    /// Whether a job holds an amount of a pool, which has no places.
    #[must_use]
    pub fn is_in_pool(&self, no: JobNo) -> bool {
        self.jobs[no].placed().is_some_and(|placed| placed.pods.is_empty())
    }

    /// What a job occupies in all.
    #[must_use]
    pub fn held_by(&self, no: JobNo) -> Amount {
        held_by(&self.jobs, no)
    }

    fn occupy_pool(&mut self, domain: DomainNo, amount: Amount, sign: Sign) {
        let pool = &mut self.floor.pools[domain.at()];
        match sign {
            Sign::Add => *pool -= amount,
            Sign::Remove => *pool += amount,
        }
    }

    fn occupy_node(&mut self, node: NodeNo, amount: &Amount, gpus: u16, sign: Sign) {
        match sign {
            Sign::Add => self.floor.take(node, amount, gpus),
            Sign::Remove => self.floor.give(node, amount, gpus),
        }
    }

    fn list_in_preemption_order(&mut self, no: JobNo, job: &Job, placed: &Placed, extra: &[ExtraPod], sign: Sign) {
        let (quota, home) = (job.spec.quota, self.domains.of_group(placed.home));
        let execution = self.cluster.execution;
        if placed.charge == Charge::InQuota {
            self.in_quota[quota.at()].list(no, job, execution, sign);
        } else if home == self.domains.of_quota(quota) {
            preemption_order::list_entitled(&mut self.entitled, no, job, sign);
        }
        if placed.charge == Charge::Idle || extra.iter().any(|pod| pod.charge == Charge::Idle) {
            self.on_idle[home.at()].list(no, job, execution, sign);
        }
    }
}

fn list<T: Ord>(set: &mut Set<T>, member: T, is_listed: bool, sign: Sign) {
    if is_listed && sign == Sign::Add {
        set.insert(member);
    } else {
        set.remove(&member);
    }
}

fn held_by(jobs: &Jobs, no: JobNo) -> Amount {
    let Some(job) = jobs.get(no) else { return Amount::ZERO };
    let shape = &job.spec.shape;
    let with_extra = |extra: &[ExtraPod]| {
        let pods = u32::try_from(extra.len()).unwrap_or(u32::MAX);
        shape.gang_amount().plus(&shape.extra_amount().times(pods))
    };
    match &job.phase {
        Phase::Running { extra, .. } => with_extra(extra),
        Phase::Stopping(stopping) => with_extra(&stopping.extra),
        Phase::Starting { .. } => shape.gang_amount(),
        Phase::Queued { .. } | Phase::Ended { .. } => Amount::ZERO,
    }
}
