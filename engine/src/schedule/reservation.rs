//! What a job that has waited too long keeps from others: when it can start at the earliest, and what is left beside it
//! (rules 3.5).
//!
//! Where running jobs declare their durations, the earliest start is when enough of them have ended, and the nodes are
//! those that are free by then. Where nobody knows, the holder keeps what is free until it has as much as it asks for,
//! and the nodes on which the least has to be freed: as nobody whom it binds may come to them, they only get emptier.

use crate::job::hold::Blocker;
use crate::job::phase::Charge;
use crate::job::phase::Phase;
use crate::job::phase::PodAt;
use crate::job::phase::Stopping;
use crate::job::shape::Shape;
use crate::job::spec::JobSpec;
use crate::ledger;
use crate::ledger::Reach;
use crate::schedule::decision::Offer;
use crate::schedule::decision::Victim;
use crate::schedule::source;
use crate::schedule::trial::Trial;
use crate::state::jobs::Job;
use crate::state::world::State;
use crate::unit::amount::Amount;
use crate::unit::id::DomainNo;
use crate::unit::id::JobNo;
use crate::unit::id::NodeNo;
use crate::unit::id::QuotaNo;
use crate::unit::ordered::Map;
use crate::unit::slots::Slots;
use crate::unit::sort;
use crate::unit::time::Timestamp;

/// What a job keeps from those whom it binds.
pub(super) struct Reservation {
    /// Who holds it.
    pub(super) holder: JobNo,
    /// In which quota.
    pub(super) quota: QuotaNo,
    /// When the holder can start at the earliest, if that is known.
    pub(super) start: Option<Timestamp>,
    /// What the quota has left beside the holder; at most zero where it has nothing.
    pub(super) spare: Amount,
    /// Its nodes, with what they have left beside its pods.
    pub(super) nodes: Map<NodeNo, Amount>,
}

impl Reservation {
    /// The reservations of jobs that wait in one domain: they see the same jobs end, one after the other.
    pub(super) fn of_each(trial: &Trial<'_>, mut holders: Vec<JobNo>) -> Vec<Self> {
        let state = trial.state;
        let Some(first) = holders.first() else { return Vec::new() };
        let domain = state.domains.of_quota(state.jobs[*first].spec.quota);
        let mut reservations = Vec::new();
        let mut later = trial.fork();
        lend_nothing(&mut later, domain);
        let mut touched = Vec::new();
        for (at, no) in ends(&later, domain) {
            if holders.is_empty() {
                break;
            }
            if later.is_gone(no) {
                continue;
            }
            leave(&mut later, no, &mut touched);
            holders.retain(|holder| {
                let places = place_by_right(&mut later, &state.jobs[*holder].spec, &mut touched);
                let start = Some(at.max(trial.now));
                reservations.extend(places.as_deref().map(|pods| Self::beside(&later, *holder, start, pods)));
                places.is_none()
            });
        }
        reservations.extend(holders.into_iter().map(|holder| {
            let pods = least_to_free(&mut later.fork(), &state.jobs[holder].spec);
            Self::beside(trial, holder, None, &pods)
        }));
        reservations
    }

    /// The reservation of a job that takes these places, with what is left beside it then.
    fn beside(then: &Trial<'_>, holder: JobNo, start: Option<Timestamp>, pods: &[PodAt]) -> Self {
        let spec = &then.state.jobs[holder].spec;
        let spare = free_by_right(then, spec.quota).minus(&spec.shape.gang_amount());
        let mut nodes: Map<NodeNo, Amount> = Map::new();
        for (pod, amount) in pods.iter().zip(spec.shape.gang_pod_amounts()) {
            *nodes.or_insert_with(pod.node, || then.nodes.get(pod.node.at()).free) -= amount;
        }
        Self { holder, quota: spec.quota, start, spare, nodes }
    }

    /// What it tells whom it keeps out.
    pub(super) fn blocker(&self, state: &State) -> Blocker {
        Blocker::Reserved { job: state.jobs[self.holder].spec.id.clone(), until: self.start }
    }

    /// Whether an offer takes more of its nodes than they have left.
    pub(super) fn is_hit_by(&self, spec: &JobSpec, offer: &Offer) -> bool {
        let mut left = self.nodes.clone();
        pods_of(&spec.shape, offer).any(|(node, amount)| {
            left.get_mut(&node).is_some_and(|left| {
                let is_over = !amount.fits_in(left);
                *left -= amount;
                is_over
            })
        })
    }

    /// Its nodes on which not even one pod of the job has room beside it.
    pub(super) fn nodes_too_full_for<'a>(&'a self, spec: &'a JobSpec) -> impl Iterator<Item = NodeNo> + 'a {
        let is_full = |left: &Amount| spec.shape.gang().any(|role| !role.amount.fits_in(left));
        self.nodes.iter().filter(move |(_, left)| is_full(left)).map(|(no, _)| *no)
    }

    /// Takes an offer off what is left.
    pub(super) fn take(&mut self, spec: &JobSpec, offer: &Offer) {
        if spec.quota == self.quota {
            self.spare -= spec.shape.gang_amount();
        }
        for (node, amount) in pods_of(&spec.shape, offer) {
            if let Some(left) = self.nodes.get_mut(&node) {
                *left -= amount;
            }
        }
    }
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

fn pods_of(shape: &Shape, offer: &Offer) -> impl Iterator<Item = (NodeNo, Amount)> {
    offer.placed.pods.iter().map(|pod| pod.node).zip(shape.gang_pod_amounts())
}

/// Idle jobs give way to a holder whenever it needs that.
fn lend_nothing(later: &mut Trial<'_>, domain: DomainNo) {
    let state = later.state;
    if state.domains.list[domain.at()].is_pool {
        return;
    }
    let idle: Vec<JobNo> = state.idle_jobs(domain).filter(|no| !later.is_gone(*no)).collect();
    for no in idle {
        let is_idle = state.jobs[no].placed().is_some_and(|placed| later.charge_of(no, placed) == Charge::Idle);
        if is_idle {
            // Nobody looks at what is lent.
            later.vacate(no);
        }
    }
}

/// Where a job runs, if it has its amount and its machines.
fn place_by_right(later: &mut Trial<'_>, spec: &JobSpec, touched: &mut Vec<NodeNo>) -> Option<Box<[PodAt]>> {
    fits_by_right(later, spec).then(|| room(later, spec, touched)).flatten()
}

/// The declared ends in a domain, the earliest first; jobs that are stopping count by the end of their grace.
fn ends(trial: &Trial<'_>, domain: DomainNo) -> Vec<(Timestamp, JobNo)> {
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

/// A job leaves that runs, is stopping, or starts in this round; its nodes are noted.
fn leave(later: &mut Trial<'_>, no: JobNo, touched: &mut Vec<NodeNo>) {
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

/// Whether what the job may use by right has its amount free.
fn fits_by_right(trial: &Trial<'_>, spec: &JobSpec) -> bool {
    let tree = &trial.state.quotas;
    let reach = if tree[spec.quota.at()].settings.child_level.is_some() { Reach::Subtree } else { Reach::Own };
    ledger::fits_in_quota(tree, &trial.quotas, spec.quota, &spec.shape.gang_amount(), reach).is_ok()
}

/// What the jobs of a quota could still use by right.
fn free_by_right(trial: &Trial<'_>, quota: QuotaNo) -> Amount {
    let tree = &trial.state.quotas;
    let (own, book) = (&tree[quota.at()], trial.quotas.get(quota.at()));
    let is_subtree = own.settings.child_level.is_some();
    let used = if is_subtree { book.used } else { book.own_jobs.plus(&book.claimed) };
    Amount::each(|at| if own.min.states(at) { own.min.amount[at].saturating_sub(used[at]) } else { i64::MAX })
}

/// Places for a job: on nodes from which somebody has gone, if these are enough, since nobody else has a use for them
/// before it.
fn room(trial: &mut Trial<'_>, spec: &JobSpec, touched: &mut Vec<NodeNo>) -> Option<Box<[PodAt]>> {
    let domain = trial.state.domains.of_quota(spec.quota);
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

/// The nodes on which the least has to be freed for a job: first its quota has to be, from the emptiest nodes on, and
/// then the emptiest nodes are.
fn least_to_free(later: &mut Trial<'_>, spec: &JobSpec) -> Box<[PodAt]> {
    let state = later.state;
    let domain = state.domains.of_quota(spec.quota);
    let list = &state.domains.list[domain.at()];
    if list.is_pool {
        return Box::default();
    }
    let mut touched = Vec::new();
    for no in own_jobs(later, spec) {
        if fits_by_right(later, spec) {
            break;
        }
        leave(later, no, &mut touched);
    }
    if !fits_by_right(later, spec) {
        // Somebody else holds its amount; nodes would be of no use to it.
        return Box::default();
    }
    let is_chosen = |no: &NodeNo| spec.shape.nodes().allows(*no, state.nodes[no.at()].gpu_type.as_deref());
    let mut nodes: Vec<NodeNo> = list.nodes.iter().copied().filter(is_chosen).collect();
    sort::by_key(&mut nodes, |no| (used_gpus(later, *no), &state.nodes[no.at()].id));
    let holding = by_node(later, spec);
    let mut rest = nodes.into_iter();
    loop {
        if let Some(pods) = room(later, spec, &mut touched) {
            return pods;
        }
        let Some(node) = rest.next() else { return Box::default() };
        for no in
            holding.get(&node).into_iter().flatten().filter(|no| !later.is_gone(**no)).copied().collect::<Vec<_>>()
        {
            leave(later, no, &mut touched);
        }
    }
}

fn used_gpus(trial: &Trial<'_>, no: NodeNo) -> i64 {
    let node = trial.nodes.get(no.at());
    node.gpu_dimension.map_or(0, |at| trial.state.nodes[no.at()].amount[at].saturating_sub(node.free[at]))
}

/// Who runs of the quotas whose use keeps a job out, those on the emptiest nodes first.
fn own_jobs(trial: &Trial<'_>, spec: &JobSpec) -> Vec<JobNo> {
    let state = trial.state;
    let is_subtree = state.quotas[spec.quota.at()].settings.child_level.is_some();
    let quotas = if is_subtree { state.subtree(spec.quota) } else { vec![spec.quota] };
    let running = quotas.iter().flat_map(|quota| state.running[quota.at()].iter().map(|(_, no)| *no));
    let running = running.filter(|no| !trial.is_gone(*no) && state.jobs[*no].is_running());
    let running = running.filter_map(|no| Some((no, state.jobs[no].placed()?)));
    let started = trial.started().filter(|(no, _)| quotas.contains(&state.jobs[*no].spec.quota));
    let in_quota = running.chain(started).filter(|(no, placed)| trial.charge_of(*no, placed) == Charge::InQuota);
    let in_quota = in_quota.map(|(no, placed)| {
        let fullest = placed.pods.iter().map(|pod| used_gpus(trial, pod.node)).max().unwrap_or(0);
        (fullest, no)
    });
    let mut jobs: Vec<(i64, JobNo)> = in_quota.collect();
    sort::by_key(&mut jobs, |(fullest, no)| (*fullest, &state.jobs[*no].spec.id));
    jobs.into_iter().map(|(_, no)| no).collect()
}

/// Who runs on each node of a job's domain.
fn by_node(trial: &Trial<'_>, spec: &JobSpec) -> Map<NodeNo, Vec<JobNo>> {
    let state = trial.state;
    let domain = state.domains.of_quota(spec.quota);
    let mut by_node: Map<NodeNo, Vec<JobNo>> = Map::new();
    let here = (0..state.running.len()).filter(|at| state.domains.of_quota(QuotaNo::from_index(*at)) == domain);
    let running = here.flat_map(|at| state.running[at].iter().map(|(_, no)| *no)).filter_map(|no| {
        let Phase::Running { placed, extra, .. } = &state.jobs[no].phase else { return None };
        Some((no, placed, &**extra))
    });
    let started = trial.started().map(|(no, placed)| (no, placed, [].as_slice()));
    for (no, placed, extra) in running.chain(started) {
        for pod in placed.pods.iter().chain(extra.iter().filter_map(|pod| pod.at.as_ref())) {
            let jobs = by_node.or_default(pod.node);
            if jobs.last() != Some(&no) {
                jobs.push(no);
            }
        }
    }
    by_node
}
