//! How the machines of a domain come free as time goes on: who leaves when, and where a job finds its place then.

use crate::job::phase::Charge;
use crate::job::phase::Phase;
use crate::job::phase::PodAt;
use crate::job::phase::Stopping;
use crate::job::spec::JobSpec;
use crate::ledger;
use crate::ledger::Reach;
use crate::ledger::Sign;
use crate::schedule::decision::Victim;
use crate::schedule::source;
use crate::schedule::trial::Trial;
use crate::state::jobs::Job;
use crate::unit::amount::Amount;
use crate::unit::id::DomainNo;
use crate::unit::id::JobNo;
use crate::unit::id::NodeNo;
use crate::unit::id::QuotaNo;
use crate::unit::sort;
use crate::unit::time::Timestamp;

/// A domain from which one job after the other leaves.
pub(super) struct Leaving<'s> {
    /// The books as they are now.
    pub(super) trial: Trial<'s>,
    domain: DomainNo,
    is_pool: bool,
    /// Whether idle jobs have not given way yet. They do whenever a holder needs that; before it has its amount, it does
    /// not matter.
    is_lending: bool,
    /// Nodes from which somebody has gone.
    touched: Vec<NodeNo>,
}

impl<'s> Leaving<'s> {
    /// Nobody has left yet.
    pub(super) fn of(trial: &'s Trial<'_>, domain: DomainNo) -> Self {
        let is_pool = trial.state.domains.list[domain.at()].is_pool;
        Self { trial: trial.fork(), domain, is_pool, is_lending: !is_pool, touched: Vec::new() }
    }

    /// The same, to go on in another way.
    pub(super) fn fork(&self) -> Leaving<'_> {
        Leaving { trial: self.trial.fork(), touched: Vec::new(), ..*self }
    }

    /// A job leaves at its end; not if it has left before, or gives way anyway.
    pub(super) fn leave_in_turn(&mut self, no: JobNo) -> bool {
        let has_left = self.trial.is_gone(no) || (!self.is_pool && self.is_idle(no));
        if !has_left {
            self.leave(no);
        }
        !has_left
    }

    /// Whether a job runs whose gang is on idle amounts, at the beginning of the round and now.
    fn is_idle(&self, no: JobNo) -> bool {
        let job = &self.trial.state.jobs[no];
        let is_idle = |placed| self.trial.charge_of(no, placed) == Charge::Idle;
        job.is_running() && job.placed().is_some_and(is_idle)
    }

    /// Idle jobs give way to a holder whenever it needs that.
    pub(super) fn lend_nothing(&mut self) {
        if !std::mem::take(&mut self.is_lending) {
            return;
        }
        let idle = self.trial.state.idle_jobs(self.domain).filter(|no| !self.trial.is_gone(*no) && self.is_idle(*no));
        for no in idle.collect::<Vec<_>>() {
            // Nobody looks at what is lent.
            self.trial.vacate(no);
        }
    }

    /// Whether what the job may use by right has its amount free.
    pub(super) fn fits_by_right(&self, spec: &JobSpec) -> bool {
        fits_by_right(&self.trial, spec)
    }

    /// Places for a job: on nodes from which somebody has gone, if these are enough, since nobody else has a use for them
    /// before it.
    pub(super) fn room(&mut self, spec: &JobSpec) -> Option<Box<[PodAt]>> {
        let Self { trial, touched, domain, .. } = self;
        let domain = *domain;
        let list = &trial.state.domains.list[domain.at()];
        if list.is_pool {
            return Some(Box::default());
        }
        sort::by_key(touched, |no| *no);
        touched.dedup();
        let is_touched = |no: &NodeNo| touched.binary_search(no).is_ok();
        let mut others: Vec<NodeNo> = list.nodes.iter().copied().filter(|no| !is_touched(no)).collect();
        sort::by_key(&mut others, |no| *no);
        trial.forbidden = others;
        let there = source::find_room(trial, domain, &spec.shape);
        trial.forbidden.clear();
        there.or_else(|_| source::find_room(trial, domain, &spec.shape)).ok()
    }

    /// A job leaves that runs, is stopping, or starts in this round; its nodes are noted.
    pub(super) fn leave(&mut self, no: JobNo) {
        let Self { trial: later, touched, .. } = self;
        let state = later.state;
        if let Some(placed) = later.start_of(no).cloned() {
            touched.extend(placed.pods.iter().map(|pod| pod.node));
            later.withdraw(no, &placed);
            return;
        }
        let job = &state.jobs[no];
        let extra = match &job.phase {
            Phase::Running { extra, .. } => extra,
            Phase::Stopping(stopping) => {
                let Stopping { extra, .. } = &**stopping;
                extra
            }
            Phase::Queued { .. } | Phase::Starting { .. } | Phase::Ended { .. } => return,
        };
        let places = job.placed().into_iter().flat_map(|placed| placed.pods.iter());
        touched.extend(places.chain(extra.iter().filter_map(|pod| pod.at.as_ref())).map(|pod| pod.node));
        if job.is_running() {
            later.evict(&Victim::Job(no));
        } else {
            later.vacate(no);
        }
    }
}

/// Whether what a job may use by right has its amount free.
pub(super) fn fits_by_right(trial: &Trial<'_>, spec: &JobSpec) -> bool {
    short_by_right(trial, spec).is_none()
}

/// The quota that has too little for what a job may use by right: its own, or one above it.
pub(super) fn short_by_right(trial: &Trial<'_>, spec: &JobSpec) -> Option<QuotaNo> {
    let tree = &trial.state.quotas;
    let reach = if tree[spec.quota.at()].settings.child_level.is_some() { Reach::Subtree } else { Reach::Own };
    let fits = ledger::fits_in_quota(tree, &trial.quotas, spec.quota, &spec.shape.gang_amount(), reach);
    fits.err().map(|short| short.quota)
}

/// When a running job ends, if it says so.
pub(super) fn declared_end(job: &Job) -> Option<Timestamp> {
    let Phase::Running { started, .. } = &job.phase else { return None };
    job.left().map(|left| *started + left)
}

/// When a job ends that starts now, if it says so.
pub(super) fn end_of_start(trial: &Trial<'_>, no: JobNo) -> Option<Timestamp> {
    trial.state.jobs[no].left().map(|left| trial.now + left)
}

/// The declared ends in a domain, the earliest first; jobs that are stopping count by the end of their grace.
/// Who is overdue may stop at any time; the order does not change when somebody becomes that, so that what is reserved
/// does not move with time alone.
pub(super) fn ends(trial: &Trial<'_>, domain: DomainNo) -> Vec<(Timestamp, JobNo)> {
    let state = trial.state;
    let is_here = |no: JobNo| {
        let home = state.jobs[no].placed().map(|placed| placed.home);
        home.is_some_and(|home| !home.is_none() && state.domains.of_group(home) == domain)
    };
    let running = state.running.iter().flat_map(|running| running.iter().map(|(_, no)| *no));
    let ending = running.filter_map(|no| Some((declared_end(&state.jobs[no])?, no)));
    let stopping = state.stopping.iter().filter_map(|no| {
        let Phase::Stopping(stopping) = &state.jobs[*no].phase else { return None };
        Some((stopping.until, *no))
    });
    let mut ends: Vec<_> = ending.chain(stopping).filter(|(_, no)| is_here(*no)).collect();
    let started =
        trial.started().filter(|(_, placed)| !placed.home.is_none() && state.domains.of_group(placed.home) == domain);
    ends.extend(started.filter_map(|(no, _)| Some((end_of_start(trial, no)?, no))));
    sort::by_key(&mut ends, |end| *end);
    ends
}

/// The books of a domain when those have ended who end before a time; nothing if somebody does not say when it ends.
pub(super) fn books_at<'t>(trial: &'t Trial<'_>, domain: DomainNo, time: Timestamp) -> Option<Trial<'t>> {
    let given_back = given_back(trial, domain, time)?;
    let mut then = trial.fork();
    for (quota, amount) in given_back {
        then.book(quota, DomainNo::none(), Charge::InQuota, amount, Sign::Remove);
    }
    Some(then)
}

/// What those in quota give back in a domain who end before a time, by quota; nothing if somebody does not say when it
/// ends.
fn given_back(trial: &Trial<'_>, domain: DomainNo, time: Timestamp) -> Option<Vec<(QuotaNo, Amount)>> {
    let state = trial.state;
    if trial.has_granted() {
        return None;
    }
    let mut given_back = Vec::new();
    for at in (0..state.running.len()).filter(|at| state.domains.of_quota(QuotaNo::from_index(*at)) == domain) {
        let mut amount = Amount::ZERO;
        for (_, no) in &state.running[at] {
            match declared_end(&state.jobs[*no]) {
                Some(end) if end >= time => {}
                Some(_) => amount += in_quota(trial, *no),
                None if in_quota(trial, *no).is_zero() => {}
                None => return None,
            }
        }
        given_back.push((QuotaNo::from_index(at), amount));
    }
    for (no, _) in trial.started().filter(|(_, placed)| placed.charge == Charge::InQuota) {
        let spec = &state.jobs[no].spec;
        if end_of_start(trial, no)? < time {
            given_back.push((spec.quota, spec.shape.gang_amount()));
        }
    }
    given_back.retain(|(_, amount)| !amount.is_zero());
    Some(given_back)
}

/// What a job counts against its quota that runs or is about to.
fn in_quota(trial: &Trial<'_>, no: JobNo) -> Amount {
    let job = &trial.state.jobs[no];
    let Some(placed) = job.placed().filter(|_| !trial.is_gone(no)) else { return Amount::ZERO };
    let gang = if trial.charge_of(no, placed) == Charge::InQuota { job.spec.shape.gang_amount() } else { Amount::ZERO };
    let Phase::Running { extra, .. } = &job.phase else { return gang };
    let pods = trial.extra_of(no, extra).filter(|(_, pod)| pod.charge == Charge::InQuota);
    pods.fold(gang, |sum, _| sum.plus(&job.spec.shape.extra_amount()))
}
