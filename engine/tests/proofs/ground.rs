//! Books of the rules' own: who holds what, read from the jobs, quotas and nodes of a state and from nothing that the
//! engine keeps beside them. What a set of victims leaves, and whether a job fits then, is worked out here anew.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use engine::job::phase::Charge;
use engine::job::phase::Phase;
use engine::job::phase::PodAt;
use engine::job::phase::Source;
use engine::job::spec::JobSpec;
use engine::quota::policy::Scope;
use engine::state::cluster::NodeStatus;
use engine::state::world::State;
use engine::unit::amount::Amount;
use engine::unit::amount::GPU;
use engine::unit::id::DomainNo;
use engine::unit::id::JobNo;
use engine::unit::id::NodeNo;
use engine::unit::id::QuotaNo;

/// A gang, or one pod above the minimum.
pub(crate) type Part = (JobNo, Option<u32>);

/// Pods that have been told to leave are parts of their own, from this number on: they have no charge any more.
const LEAVING: u32 = 1 << 16;

/// What a part holds.
#[derive(Clone, Debug)]
pub(crate) struct Held {
    pub(crate) quota: usize,
    pub(crate) charge: Option<Charge>,
    pub(crate) amount: Amount,
    pub(crate) pods: Vec<(PodAt, Amount)>,
    pub(crate) domain: DomainNo,
    /// What of a pool it does not take, since its victims hold it still.
    pub(crate) waits: Amount,
}

/// Who holds what.
#[derive(Clone)]
pub(crate) struct Ground<'s> {
    pub(crate) state: &'s State,
    pub(crate) held: BTreeMap<Part, Held>,
}

/// What every quota uses.
pub(crate) struct Use {
    pub(crate) own: Vec<Amount>,
    pub(crate) all: Vec<Amount>,
}

impl<'s> Ground<'s> {
    pub(crate) fn of(state: &'s State) -> Self {
        let mut held = BTreeMap::new();
        for (no, job) in state.jobs.iter().filter(|(_, job)| !job.bids()) {
            let (placed, extra, has_charge) = match &job.phase {
                Phase::Running { placed, extra, .. } => (placed, &**extra, true),
                Phase::Starting { placed, .. } => (placed, &[][..], true),
                Phase::Stopping(stopping) => (&stopping.placed, &*stopping.extra, false),
                Phase::Queued { .. } | Phase::Ended { .. } => continue,
            };
            let shape = &job.spec.shape;
            let domain = state.domains.of_group(placed.home);
            let quota = job.spec.quota.at();
            let mut add = |pod, charge, amount, pods, waits| {
                let charge = has_charge.then_some(charge);
                held.insert((no, pod), Held { quota, charge, amount, pods, domain, waits });
            };
            // What really runs holds its places until it is told that it has stopped, also if less is owed to it by then.
            let keeps_all = job.run.is_some() && !has_charge && shape.roles().len() == 1;
            let others = keeps_all.then(|| std::iter::repeat(shape.extra_amount())).into_iter().flatten();
            let pods = placed.pods.iter().copied().zip(shape.gang_pod_amounts().chain(others)).collect();
            let victims: &[JobNo] = if let Phase::Starting { waits_for, .. } = &job.phase { waits_for } else { &[] };
            let waits = victims.iter().fold(Amount::ZERO, |sum, no| sum.plus(&whole(state, *no)));
            add(None, placed.charge, shape.gang_amount(), pods, waits);
            for (at, pod) in (0u32..).zip(extra) {
                let amount = shape.extra_amount();
                let pods = pod.at.iter().map(|place| (*place, amount)).collect();
                add(Some(at), pod.charge, amount, pods, Amount::ZERO);
            }
            let leaving = job.run.iter().flat_map(|run| &run.leaving).flat_map(|leaving| &leaving.pods);
            for (at, place) in (LEAVING..).zip(leaving) {
                let (amount, waits) = (shape.extra_amount(), Amount::ZERO);
                let pods = vec![(*place, amount)];
                held.insert((no, Some(at)), Held { quota, charge: None, amount, pods, domain, waits });
            }
        }
        Self { state, held }
    }

    pub(crate) fn without(&self, parts: &BTreeSet<Part>) -> Self {
        let mut rest = self.clone();
        rest.held.retain(|part, _| !parts.contains(part));
        rest
    }

    fn parent(&self, quota: usize) -> Option<usize> {
        self.state.quotas[quota].parent.map(QuotaNo::at)
    }

    /// A quota, its parent, and so on.
    pub(crate) fn line(&self, quota: usize) -> Vec<usize> {
        std::iter::successors(Some(quota), |no| self.parent(*no)).collect()
    }

    pub(crate) fn children(&self, quota: usize) -> Vec<usize> {
        let quotas = &self.state.quotas;
        (0..quotas.len()).filter(|&no| !quotas[no].is_deleted && self.parent(no) == Some(quota)).collect()
    }

    pub(crate) fn used(&self) -> Use {
        let count = self.state.quotas.len();
        let mut used = Use { own: vec![Amount::ZERO; count], all: vec![Amount::ZERO; count] };
        for held in self.held.values().filter(|held| held.charge == Some(Charge::InQuota)) {
            used.own[held.quota] += held.amount;
            for no in self.line(held.quota) {
                used.all[no] += held.amount;
            }
        }
        used
    }

    fn min(&self, quota: usize, at: usize) -> Option<i64> {
        let min = &self.state.quotas[quota].min;
        min.states(at).then_some(min.amount[at])
    }

    /// What a quota has for its own jobs.
    pub(crate) fn own_part(&self, quota: usize, at: usize) -> i64 {
        let children: i64 = self.children(quota).iter().map(|no| self.state.quotas[*no].min.amount[at]).sum();
        self.min(quota, at).map_or(0, |min| (min - children).max(0))
    }

    /// What the quota and those below can lend.
    fn lends(&self, used: &Use, quota: usize, at: usize) -> i64 {
        let own = (self.own_part(quota, at) - used.own[quota][at]).max(0);
        let own = if self.state.quotas[quota].settings.lends { own } else { 0 };
        let sum = own + self.children(quota).iter().map(|no| self.lends(used, *no, at)).sum::<i64>();
        self.min(quota, at).map_or(sum, |min| sum.min((min - used.all[quota][at]).max(0)))
    }

    /// Whether what is idle covers all loans of a domain, dimension by dimension.
    fn is_covered(&self, used: &Use, domain: DomainNo) -> bool {
        let roots = (0..self.state.quotas.len()).filter(|&no| {
            let quota = &self.state.quotas[no];
            !quota.is_deleted
                && quota.parent.is_none()
                && self.state.domains.of_quota(QuotaNo::from_index(no)) == domain
        });
        let roots: Vec<usize> = roots.collect();
        let lent = self.held.values().filter(|held| held.charge == Some(Charge::Idle) && held.domain == domain);
        let lent = lent.fold(Amount::ZERO, |sum, held| sum.plus(&held.amount));
        (0..8).all(|at| {
            let is_stated = roots.iter().any(|no| self.min(*no, at).is_some());
            let idle: i64 = roots.iter().map(|no| self.lends(used, *no, at)).sum();
            !is_stated || lent[at] <= idle
        })
    }

    /// What the children of a quota leave unused and keep from the self-level preemption of one of them.
    pub(crate) fn kept_from(&self, quota: usize) -> Vec<i64> {
        let used = self.used();
        let Some(parent) = self.parent(quota) else { return vec![0; 8] };
        let kept = |no: usize, at: usize| {
            if no == quota {
                let of = |child: &usize| (self.state.quotas[*child].min.amount[at] - used.all[*child][at]).max(0);
                return self.children(no).iter().map(of).sum();
            }
            let unused = (self.state.quotas[no].min.amount[at] - used.all[no][at]).max(0);
            let lent = if self.state.quotas[no].settings.lends { self.lends(&used, no, at) } else { 0 };
            (unused - lent).max(0)
        };
        (0..8).map(|at| self.children(parent).iter().map(|no| kept(*no, at)).sum()).collect()
    }

    /// Whether a job fits by the rule of a source, quota, machines and loans together. `kept` is what its siblings keep.
    pub(crate) fn lets_in(&self, job: &JobSpec, source: Source, kept: &[i64], open: impl Fn(usize) -> bool) -> bool {
        let asked = job.shape.gang_amount();
        let quota = job.quota.at();
        let domain = self.state.domains.of_quota(job.quota);
        let before = self.used();
        let mut with = self.clone();
        let held = Held { quota, charge: Some(Charge::InQuota), amount: asked, pods: Vec::new(), domain, waits: asked };
        with.held.insert((JobNo(u32::MAX), None), held);
        let after = with.used();
        let policy = self.state.quotas[quota].settings.self_level.as_ref();
        let level = self
            .parent(quota)
            .filter(|_| source == Source::SelfLevel && policy.is_some_and(|policy| policy.scope != Scope::Own));
        let claims = |used: &Use, no: usize, at: usize| -> i64 {
            let children = self.children(no);
            children.iter().map(|no| self.state.quotas[*no].min.amount[at].max(used.all[*no][at])).sum()
        };
        let fits = (0..8).filter(|&at| asked[at] > 0).all(|at| {
            let line = self.line(level.unwrap_or(quota));
            let within = line.iter().all(|no| self.min(*no, at).is_none_or(|min| after.all[*no][at] <= min));
            let keeps_claims = line.iter().skip(1).all(|no| {
                let (was, is) = (claims(&before, *no, at), claims(&after, *no, at));
                is <= was || self.min(*no, at).is_none_or(|min| after.own[*no][at] + is <= min)
            });
            let own = source == Source::ChildLevel
                || level.is_some()
                || self.min(quota, at).is_none_or(|min| after.own[quota][at] + claims(&after, quota, at) <= min);
            let on_level = level.is_none_or(|parent| {
                let children = self.children(parent);
                let over: i64 =
                    children.iter().map(|no| after.all[*no][at] - self.state.quotas[*no].min.amount[at]).sum();
                self.min(parent, at).is_none() || over + kept[at] <= 0
            });
            within && keeps_claims && own && on_level
        });
        fits && with.is_covered(&after, domain) && self.has_room(job, domain, open)
    }

    /// Whether the machines let a gang in: a pool, or nodes for pods that are all alike. Of others, whether each role alone
    /// would find room.
    fn has_room(&self, job: &JobSpec, domain: DomainNo, open: impl Fn(usize) -> bool) -> bool {
        if self.state.domains.list[domain.at()].is_pool {
            let in_domain = self.held.values().filter(|held| held.domain == domain);
            let used = in_domain.fold(Amount::ZERO, |sum, held| sum.plus(&held.amount.minus(&held.waits).positive()));
            let groups = (0..self.state.groups.len())
                .filter(|&at| self.state.domains.of_group(engine::unit::id::GroupNo::from_index(at)) == domain);
            let all =
                groups.filter_map(|at| self.state.groups[at].pool).fold(Amount::ZERO, |sum, pool| sum.plus(&pool));
            return job.shape.gang_amount().fits_in(&all.minus(&used));
        }
        let slots = |pod: &Amount| -> i64 {
            let nodes = (0..self.state.nodes.len()).filter(|&no| {
                let node = &self.state.nodes[no];
                node.status == NodeStatus::Ready
                    && node.silence.is_none()
                    && !node.is_deleted
                    && self.state.domains.of_group(node.group) == domain
                    && !job.shape.nodes().passed_over.contains(&NodeNo::from_index(no))
                    && open(no)
            });
            nodes.map(|no| self.slots(no, pod)).sum()
        };
        // A pod of nothing runs anywhere.
        job.shape.gang().all(|role| role.amount.is_zero() || slots(&role.amount) >= i64::from(role.count))
    }

    fn slots(&self, node: usize, pod: &Amount) -> i64 {
        let mut free = self.state.nodes[node].amount;
        let gpu_dimension = self.state.cluster.gpu_dimension(&free);
        let mut gpus = vec![1000i64; gpu_dimension.map_or(0, |at| usize::try_from(free[at] / GPU).unwrap())];
        let here = self.held.values().flat_map(|held| &held.pods).filter(|(place, _)| place.node.at() == node);
        for (place, amount) in here {
            free -= *amount;
            let each = gpu_dimension.map_or(0, |at| amount[at].min(GPU));
            (0..gpus.len()).filter(|at| place.gpus & (1 << at) != 0).for_each(|at| gpus[at] -= each);
        }
        let by_amount = (0..8).filter(|&at| pod[at] > 0).map(|at| free[at].max(0) / pod[at]).min().unwrap_or(0);
        match gpu_dimension.map_or(0, |at| pod[at]) {
            0 => by_amount,
            asked if asked < GPU => by_amount.min(gpus.iter().map(|free| free.max(&0) / asked).sum()),
            asked => {
                let empty = i64::try_from(gpus.iter().filter(|free| **free == 1000).count()).unwrap();
                by_amount.min(empty / (asked / GPU))
            }
        }
    }
}

/// What a job occupies in all.
fn whole(state: &State, no: JobNo) -> Amount {
    let Some(job) = state.jobs.get(no) else { return Amount::ZERO };
    let extra = match &job.phase {
        Phase::Running { extra, .. } => extra.len(),
        Phase::Stopping(stopping) => stopping.extra.len(),
        Phase::Starting { .. } => 0,
        Phase::Queued { .. } | Phase::Ended { .. } => return Amount::ZERO,
    };
    let shape = &job.spec.shape;
    shape.gang_amount().plus(&shape.extra_amount().times(u32::try_from(extra).unwrap()))
}
