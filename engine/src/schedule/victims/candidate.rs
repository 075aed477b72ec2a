//! Gangs and pods that may be taken.

use std::cmp::Reverse;

use crate::job::considered::Considered;
use crate::job::phase::Charge;
use crate::job::phase::Phase;
use crate::job::phase::PodAt;
use crate::job::shape::Shape;
use crate::schedule::decision::Victim;
use crate::schedule::trial::Trial;
use crate::schedule::victims::cost::Standing;
use crate::schedule::victims::cost::ValueClass;
use crate::schedule::victims::cost::Worth;
use crate::schedule::victims::search::Item;
use crate::schedule::work;
use crate::state::jobs::Job;
use crate::unit::amount::Amount;
use crate::unit::id::DomainNo;
use crate::unit::id::JobNo;
use crate::unit::id::QuotaNo;
use crate::unit::ordered::Map;
use crate::unit::sort;
use crate::unit::time::Millis;
use crate::unit::time::Timestamp;

/// A gang, or a pod above an elastic job's minimum, that may be taken.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    /// The job.
    pub job: JobNo,
    /// The position of the extra pod; nothing for the gang.
    pub pod: Option<u32>,
    /// The job's quota.
    pub quota: QuotaNo,
    /// Its class of value.
    pub class: ValueClass,
    /// Its place in the class.
    pub worth: Worth<'a>,
    /// What it counts against.
    pub charge: Charge,
    /// Its job's pods, which say what it frees.
    pub shape: &'a Shape,
    /// Its pods' places; none in a pool.
    pub places: &'a [PodAt],
}

impl Candidate<'_> {
    /// What it frees.
    #[must_use]
    pub fn amount(&self) -> Amount {
        if self.pod.is_some() { self.shape.extra_amount() } else { self.shape.gang_amount() }
    }

    /// Does something with each of its pods and their places; in a pool there are none.
    pub fn for_each_pod(&self, mut act: impl FnMut(PodAt, &Amount)) {
        let mut places = self.places.iter();
        let min_pods = if self.pod.is_some() { Some(1) } else { self.shape.min_pods() };
        for role in self.shape.roles() {
            let count = min_pods.unwrap_or(role.count) as usize;
            places.by_ref().take(count).for_each(|place| act(*place, &role.amount));
        }
    }
}

/// Everybody who may be taken, and who may not.
#[derive(Clone, Debug, Default)]
pub struct Candidates<'a> {
    /// The least valuable first.
    pub list: Vec<Candidate<'a>>,
    /// Protected by a minimum run time, until when.
    pub protected: Vec<(Timestamp, Candidate<'a>)>,
    /// How many were looked at.
    pub considered: Considered,
}

impl<'a> Candidates<'a> {
    /// Everything that runs on idle amounts of a domain.
    #[must_use]
    pub fn idle(trial: &'a Trial<'_>, domain: DomainNo) -> Self {
        let mut candidates = Self::default();
        for no in trial.state.idle_jobs(domain).filter(|no| !trial.is_gone(*no)) {
            candidates.add(trial, no, Charge::Idle, Standing::Lent);
        }
        candidates.sorted()
    }

    /// What can be taken of the in-quota jobs of a quota and its descendants, whatever the policies say.
    #[must_use]
    pub fn in_quota(trial: &'a Trial<'_>, quotas: &[QuotaNo]) -> Self {
        let mut candidates = Self::default();
        for no in quotas
            .iter()
            .flat_map(|quota| trial.state.running[quota.at()].iter().map(|(_, no)| *no))
            .filter(|no| !trial.is_gone(*no))
        {
            let is_in_quota =
                trial.state.jobs[no].placed().is_some_and(|placed| trial.charge_of(no, placed) == Charge::InQuota);
            if is_in_quota {
                candidates.add(trial, no, Charge::InQuota, Standing::InQuota);
            }
        }
        candidates.sorted()
    }

    /// Adds a job that is protected until a time; when that has come it goes with its extra pods.
    pub(super) fn add_protected(&mut self, trial: &'a Trial<'_>, no: JobNo, standing: Standing, until: Timestamp) {
        let mut later = Self::default();
        later.add(trial, no, Charge::InQuota, standing);
        self.considered.by_min_runtime += 1;
        self.protected.extend(later.list.into_iter().map(|candidate| (until, candidate)));
    }

    /// The least valuable first.
    #[must_use]
    pub fn sorted(mut self) -> Self {
        sort::by(&mut self.list, |a, b| a.class.cmp(&b.class).then_with(|| a.worth.cmp(&b.worth)));
        self
    }

    /// Adds a job's gang if it has this charge, and its extra pods: with the gang all of them, otherwise those that
    /// have this charge themselves.
    pub(super) fn add(&mut self, trial: &'a Trial<'_>, no: JobNo, charge: Charge, standing: Standing) {
        let job = &trial.state.jobs[no];
        let Phase::Running { placed, extra, .. } = &job.phase else { return };
        let takes_gang = trial.may_go(no) && trial.charge_of(no, placed) == charge;
        if takes_gang {
            self.list.extend(gang(trial, no, job, standing));
        }
        for (at, pod) in trial.extra_of(no, extra).filter(|_| trial.may_shrink(no)) {
            let is_meant = takes_gang || pod.charge == charge;
            if is_meant && !self.list.iter().any(|other| other.job == no && other.pod == Some(at)) {
                let amount = job.spec.shape.extra_amount();
                let run = work::unsaved_run(trial.state, job, trial.now).min(trial.now - pod.started);
                let standing = if pod.charge == Charge::Idle { Standing::Lent } else { standing };
                self.list.push(Candidate {
                    job: no,
                    pod: Some(at),
                    quota: job.spec.quota,
                    class: ValueClass::of(standing, job.spec.priority, false),
                    worth: worth(trial, job, Some(at), &amount, run, pod.started),
                    charge: pod.charge,
                    shape: &job.spec.shape,
                    places: pod.at.as_slice(),
                });
            }
        }
    }
}

/// The gang of a running job, which stands on this.
pub(super) fn gang<'a>(trial: &Trial<'_>, no: JobNo, job: &'a Job, standing: Standing) -> Option<Candidate<'a>> {
    let Phase::Running { placed, started, .. } = &job.phase else { return None };
    let charge = trial.charge_of(no, placed);
    let run = work::unsaved_run(trial.state, job, trial.now);
    Some(Candidate {
        job: no,
        pod: None,
        quota: job.spec.quota,
        class: ValueClass::of(standing, job.spec.priority, true),
        worth: worth(trial, job, None, &job.spec.shape.gang_amount(), run, *started),
        charge,
        shape: &job.spec.shape,
        places: &placed.pods,
    })
}

fn worth<'a>(
    trial: &Trial<'_>,
    job: &'a Job,
    pod: Option<u32>,
    amount: &Amount,
    run: Millis,
    started: Timestamp,
) -> Worth<'a> {
    let lost = work::gpu_ms(trial.state, amount, run);
    Worth { lost, started: Reverse(started), id: &job.spec.id, pod: Reverse(pod) }
}

/// What the search has to know of candidates.
#[must_use]
pub fn items<'a>(list: &[Candidate<'a>]) -> Vec<Item<'a>> {
    let item = |Candidate { job, pod, class, worth, .. }: &Candidate<'a>| Item {
        job: *job,
        pod: *pod,
        class: *class,
        worth: *worth,
    };
    list.iter().map(item).collect()
}

/// The marked ones as victims: whole jobs, or pods of elastic ones.
#[must_use]
pub fn as_victims(list: &[Candidate<'_>], marks: &[bool]) -> Vec<Victim> {
    let mut jobs: Map<JobNo, Option<Vec<u32>>> = Map::new();
    for (candidate, _) in list.iter().zip(marks).filter(|(_, is_marked)| **is_marked) {
        match candidate.pod {
            None => {
                jobs.insert(candidate.job, None);
            }
            Some(pod) => {
                if let Some(pods) = jobs.or_insert_with(candidate.job, || Some(Vec::new())) {
                    pods.push(pod);
                }
            }
        }
    }
    let victim = |(job, pods): (JobNo, Option<Vec<u32>>)| match pods {
        None => Victim::Job(job),
        Some(mut pods) => {
            sort::by_key(&mut pods, |pod| *pod);
            Victim::Pods(job, pods)
        }
    };
    jobs.into_iter().map(victim).collect()
}
