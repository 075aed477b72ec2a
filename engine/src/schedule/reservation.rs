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
use crate::job::shape::Shape;
use crate::job::spec::JobSpec;
use crate::ledger;
use crate::schedule::decision::Assignment;
use crate::schedule::leaving;
use crate::schedule::leaving::Leaving;
use crate::schedule::trial::Trial;
use crate::state::world::State;
use crate::unit::amount::Amount;
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
    pub(super) fn of_each(trial: &Trial<'_>, holders: Vec<JobNo>) -> Vec<Self> {
        let state = trial.state;
        let Some(first) = holders.first() else { return Vec::new() };
        let domain = state.domains.of_quota(state.jobs[*first].spec.quota);
        let mut reservations = Vec::new();
        let mut leaving = Leaving::of(trial, domain);
        // What is short in a quota stays so until somebody leaves below it.
        let short = |leaving: &Leaving<'_>, holder| leaving::short_by_right(&leaving.trial, &state.jobs[holder].spec);
        let mut waiting: Vec<_> = holders.into_iter().map(|holder| (holder, short(&leaving, holder))).collect();
        for (at, no) in leaving::ends(trial, domain) {
            if waiting.is_empty() {
                break;
            }
            if !leaving.leave_in_turn(no) {
                continue;
            }
            let left = state.jobs[no].spec.quota;
            waiting.retain_mut(|(holder, lacking)| {
                if lacking.is_some_and(|lacking| ledger::is_within(&state.quotas, left, lacking)) {
                    *lacking = short(&leaving, *holder);
                }
                if lacking.is_some() {
                    return true;
                }
                leaving.lend_nothing();
                let places = leaving.room(&state.jobs[*holder].spec);
                let start = Some(at.max(trial.now));
                reservations.extend(places.as_deref().map(|pods| Self::beside(&leaving.trial, *holder, start, pods)));
                places.is_none()
            });
        }
        leaving.lend_nothing();
        reservations.extend(waiting.into_iter().map(|(holder, _)| {
            let pods = least_to_free(&mut leaving.fork(), &state.jobs[holder].spec);
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

    /// Whether an assignment takes more of its nodes than they have left.
    pub(super) fn is_hit_by(&self, spec: &JobSpec, assignment: &Assignment) -> bool {
        let mut left = self.nodes.clone();
        pods_of(&spec.shape, assignment).any(|(node, amount)| {
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

    /// Takes an assignment off what is left.
    pub(super) fn take(&mut self, spec: &JobSpec, assignment: &Assignment) {
        if spec.quota == self.quota {
            self.spare -= spec.shape.gang_amount();
        }
        for (node, amount) in pods_of(&spec.shape, assignment) {
            if let Some(left) = self.nodes.get_mut(&node) {
                *left -= amount;
            }
        }
    }
}

fn pods_of(shape: &Shape, assignment: &Assignment) -> impl Iterator<Item = (NodeNo, Amount)> {
    assignment.placed.pods.iter().map(|pod| pod.node).zip(shape.gang_pod_amounts())
}

/// What the jobs of a quota could still use by right.
fn free_by_right(trial: &Trial<'_>, quota: QuotaNo) -> Amount {
    let tree = &trial.state.quotas;
    let (own, book) = (&tree[quota.at()], trial.quotas.get(quota.at()));
    let is_subtree = own.settings.child_level.is_some();
    let used = if is_subtree { book.used } else { book.own_jobs.plus(&book.claimed) };
    Amount::each(|at| if own.min.states(at) { own.min.amount[at].saturating_sub(used[at]) } else { i64::MAX })
}

/// The nodes on which the least has to be freed for a job: first its quota has to be, from the emptiest nodes on, and
/// then the emptiest nodes are.
fn least_to_free(leaving: &mut Leaving<'_>, spec: &JobSpec) -> Box<[PodAt]> {
    let state = leaving.trial.state;
    let domain = state.domains.of_quota(spec.quota);
    let list = &state.domains.list[domain.at()];
    if list.is_pool {
        return Box::default();
    }
    for no in own_jobs(&leaving.trial, spec) {
        if leaving.fits_by_right(spec) {
            break;
        }
        leaving.leave(no);
    }
    if !leaving.fits_by_right(spec) {
        // Somebody else holds its amount; nodes would be of no use to it.
        return Box::default();
    }
    let is_chosen = |no: &NodeNo| spec.shape.nodes().allows(*no, state.nodes[no.at()].gpu_type.as_deref());
    let mut nodes: Vec<NodeNo> = list.nodes.iter().copied().filter(is_chosen).collect();
    sort::by_key(&mut nodes, |no| (used_gpus(&leaving.trial, *no), &state.nodes[no.at()].id));
    let holding = by_node(&leaving.trial, spec);
    let mut rest = nodes.into_iter();
    loop {
        if let Some(pods) = leaving.room(spec) {
            return pods;
        }
        let Some(node) = rest.next() else { return Box::default() };
        for no in holding.get(&node).into_iter().flatten().copied() {
            if !leaving.trial.is_gone(no) {
                leaving.leave(no);
            }
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
