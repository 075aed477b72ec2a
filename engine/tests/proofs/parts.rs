//! Who may go for a job, and what it costs, as the rules say it (rules 5).
//!
//! Cost is compared class by class from the most valuable: jobs of siblings, of the quota itself, what a quota holds
//! above its amount since it was scaled down, what is lent; then high priority before low, and whole jobs before pods
//! that an elastic job can spare. Inside a class: unsaved work, number, newest start, name. Whoever takes a gang takes
//! all pods of the job.

use std::cmp::Ordering;
use std::cmp::Reverse;
use std::collections::BTreeSet;

use engine::job::phase::Charge;
use engine::job::phase::Phase;
use engine::job::phase::Source;
use engine::quota::policy::Scope;
use engine::state::cluster::Execution;
use engine::state::jobs::Job;
use engine::state::world::State;
use engine::unit::amount::Amount;
use engine::unit::id::JobId;
use engine::unit::id::JobNo;
use engine::unit::priority::Priority;
use engine::unit::time::Timestamp;

use crate::ground::Ground;
use crate::ground::Part;

/// What stands higher goes later.
pub(crate) const LENT: u8 = 0;
pub(crate) const ABOVE: u8 = 1;
pub(crate) const IN_QUOTA: u8 = 2;
pub(crate) const IN_SIBLING: u8 = 3;

#[derive(Clone, Debug)]
pub(crate) struct Unit {
    pub(crate) part: Part,
    pub(crate) class: (u8, Priority, bool),
    pub(crate) lost: i64,
    pub(crate) started: Timestamp,
    pub(crate) id: JobId,
    pub(crate) amount: Amount,
    pub(crate) charge: Charge,
}

/// The most valuable class first; inside a class who is to go first.
pub(crate) fn sort(units: &mut [Unit]) {
    let key = |unit: &Unit| (Reverse(unit.class), Reverse(unit.started), unit.id.clone(), Reverse(unit.part.1));
    units.sort_by_key(key);
}

/// Which of two sets costs less; sets are bits over sorted units.
pub(crate) fn by_cost(units: &[Unit], a: u32, b: u32) -> Ordering {
    let mut from = 0;
    while from < units.len() {
        let class = units[from].class;
        let to = (from..units.len()).find(|&at| units[at].class != class).unwrap_or(units.len());
        let cost = |set: u32| {
            let taken = (from..to).filter(|at| set & (1 << at) != 0);
            taken.fold((0, 0), |(lost, count), at| (lost + units[at].lost, count + 1))
        };
        let first_difference = (from..to).find(|at| (a ^ b) & (1 << at) != 0);
        let by_name = first_difference
            .map_or(Ordering::Equal, |at| if a & (1 << at) == 0 { Ordering::Greater } else { Ordering::Less });
        let order = cost(a).cmp(&cost(b)).then(by_name);
        if order != Ordering::Equal {
            return order;
        }
        from = to;
    }
    Ordering::Equal
}

/// The cheapest of all sets that are legal, and cheaper than one that is known to be.
pub(crate) fn cheapest(units: &[Unit], known: Option<u32>, is_legal: impl Fn(u32) -> bool) -> Option<u32> {
    let mut best = known;
    for set in 0..1u32 << units.len() {
        let is_better = best.is_none_or(|best| by_cost(units, set, best) == Ordering::Less);
        if is_better && is_closed(units, set) && is_legal(set) {
            best = Some(set);
        }
    }
    best
}

/// Whether all pods of each gang that goes go with it.
pub(crate) fn is_closed(units: &[Unit], set: u32) -> bool {
    let is_in = |at: usize| set & (1 << at) != 0;
    let gang = |job: JobNo| (0..units.len()).any(|at| units[at].part == (job, None) && is_in(at));
    (0..units.len()).all(|at| is_in(at) || units[at].part.1.is_none() || !gang(units[at].part.0))
}

pub(crate) fn parts(units: &[Unit], set: u32) -> BTreeSet<Part> {
    (0..units.len()).filter(|at| set & (1 << at) != 0).map(|at| units[at].part).collect()
}

/// What of a job's run no checkpoint keeps.
fn unsaved(state: &State, job: &Job, now: Timestamp) -> i64 {
    let Phase::Running { started, checkpointed, .. } = &job.phase else { return 0 };
    let run = now.0 - started.0;
    match (checkpointed, job.spec.checkpoint) {
        (Some(at), _) => now.0 - at.0,
        (None, Some(interval)) if state.cluster.execution == Execution::Simulated => run % interval.get().0,
        (None, _) => run,
    }
}

/// The units of a running job: its gang, if that is meant, and those of its pods that are.
fn units_of(
    state: &State,
    now: Timestamp,
    no: JobNo,
    standing: u8,
    takes_gang: bool,
    is_meant: impl Fn(Charge) -> bool,
) -> Vec<Unit> {
    let job = &state.jobs[no];
    let Phase::Running { placed, started, extra, .. } = &job.phase else { return Vec::new() };
    let unit = |pod: Option<u32>, charge: Charge, amount: Amount, since: Timestamp| {
        let run = unsaved(state, job, now).min(now.0 - since.0);
        let standing = if charge == Charge::Idle { LENT } else { standing };
        Unit {
            part: (no, pod),
            class: (standing, job.spec.priority, pod.is_none()),
            lost: i64::try_from(i128::from(state.cluster.gpus(&amount)) * i128::from(run) / 1000).unwrap(),
            started: since,
            id: job.spec.id.clone(),
            amount,
            charge,
        }
    };
    let gang = takes_gang.then(|| unit(None, placed.charge, job.spec.shape.gang_amount(), *started));
    let pods = (0u32..).zip(&**extra).filter(|(_, pod)| takes_gang || is_meant(pod.charge));
    let pods = pods.map(|(at, pod)| unit(Some(at), pod.charge, job.spec.shape.extra_amount(), pod.started));
    gang.into_iter().chain(pods).collect()
}

/// What the quota of each running job holds above its amount since it was scaled down: of its own jobs those that
/// `evict` would have taken. Nothing where there are too many to try all sets.
fn above(ground: &Ground<'_>, now: Timestamp, quota: usize) -> Option<Vec<Unit>> {
    let state = ground.state;
    let used = ground.used();
    let is_by_right = |no: JobNo| state.jobs[no].placed().is_some_and(|placed| placed.source == Source::SelfLevel);
    let mine =
        ground.held.iter().filter(|((_, pod), held)| held.quota == quota && held.charge.is_some() && pod.is_none());
    let mine: Vec<JobNo> = mine.map(|((no, _), _)| *no).collect();
    let right = mine.iter().filter(|no| is_by_right(**no));
    let right = right.fold(Amount::ZERO, |sum, no| sum.plus(&state.jobs[*no].spec.shape.gang_amount()));
    let min = &state.quotas[quota].min;
    let mut owed = Amount::ZERO;
    for at in (0..8).filter(|at| min.states(*at)) {
        let above = used.all[quota][at] - right[at] - min.amount[at];
        let own = used.own[quota][at] - right[at] - ground.own_part(quota, at);
        owed[at] = above.min(own).max(0);
    }
    if owed.is_zero() {
        return Some(Vec::new());
    }
    let protection = state.quotas[quota].settings.min_runtime.0;
    let may_go = |no: &JobNo| {
        let Phase::Running { placed, started, .. } = &state.jobs[*no].phase else { return false };
        placed.charge == Charge::InQuota && !is_by_right(*no) && started.0 + protection <= now.0
    };
    let units = mine.into_iter().filter(may_go).flat_map(|no| units_of(state, now, no, ABOVE, true, |_| true));
    let mut units: Vec<Unit> = units.filter(|unit| unit.charge == Charge::InQuota).collect();
    sort(&mut units);
    if units.len() > 10 {
        return None;
    }
    let covers = |set: u32| {
        let taken = (0..units.len()).filter(|at| set & (1 << at) != 0);
        owed.fits_in(&taken.fold(Amount::ZERO, |sum, at| sum.plus(&units[at].amount)))
    };
    let Some(best) = cheapest(&units, None, covers) else { return Some(units) };
    Some((0..units.len()).filter(|at| best & (1 << at) != 0).map(|at| units[at].clone()).collect())
}

/// Everybody who may go for a job that a source serves, the most valuable first. `is_new` are jobs that the same round
/// has started: nobody starts and goes in one. Nothing where that is too long to find out.
pub(crate) fn eligible(
    ground: &Ground<'_>,
    now: Timestamp,
    by: JobNo,
    source: Source,
    is_new: impl Fn(JobNo) -> bool,
) -> Option<Vec<Unit>> {
    let state = ground.state;
    let spec = &state.jobs[by].spec;
    let (own, domain) = (spec.quota.at(), state.domains.of_quota(spec.quota));
    let mut units: Vec<Unit> = Vec::new();
    let mut add = |more: Vec<Unit>| {
        for unit in more {
            if !units.iter().any(|other| other.part == unit.part) && !is_new(unit.part.0) {
                units.push(unit);
            }
        }
    };
    let running: Vec<JobNo> =
        state.jobs.iter().filter(|(_, job)| job.is_running() && !job.bids()).map(|(no, _)| no).collect();
    let here =
        |no: &JobNo| state.jobs[*no].placed().is_some_and(|placed| state.domains.of_group(placed.home) == domain);
    for no in running.iter().copied().filter(here) {
        let is_idle = state.jobs[no].placed().is_some_and(|placed| placed.charge == Charge::Idle);
        add(units_of(state, now, no, LENT, is_idle, |charge| charge == Charge::Idle));
    }
    for quota in (0..state.quotas.len()).filter(|&no| no != own && !state.quotas[no].is_deleted) {
        if state.domains.of_quota(engine::unit::id::QuotaNo::from_index(quota)) == domain {
            add(above(ground, now, quota)?);
        }
    }
    let siblings = state.quotas[own].parent.map_or(Vec::new(), |parent| ground.children(parent.at()));
    for no in running.iter().copied() {
        let job = &state.jobs[no];
        let Phase::Running { placed, started, .. } = &job.phase else { continue };
        let (quota, priority, module) = (job.spec.quota.at(), job.spec.priority, job.spec.module);
        let settings = &state.quotas[own].settings;
        let standing = match source {
            Source::ChildLevel => settings.child_level.as_ref().and_then(|policy| {
                let is_named = policy.preemptible.contains(priority) && policy.modules.contains(module);
                (is_named && quota != own && ground.line(quota).contains(&own)).then_some(IN_QUOTA)
            }),
            Source::SelfLevel => settings.self_level.as_ref().and_then(|policy| {
                let is_named = policy.low.contains(priority) && policy.modules.contains(module);
                let is_lower = policy.high.contains(spec.priority) && priority < spec.priority;
                match policy.scope {
                    _ if !is_named || !is_lower => None,
                    Scope::Own | Scope::SameLevel if quota == own => Some(IN_QUOTA),
                    Scope::SameLevel if siblings.contains(&quota) => Some(IN_SIBLING),
                    Scope::Own | Scope::SameLevel | Scope::SiblingsIdle => None,
                }
            }),
            Source::Own | Source::Idle | Source::Reclaim | Source::Spot => None,
        };
        let is_protected = started.0 + state.quotas[quota].settings.min_runtime.0 > now.0;
        if let Some(standing) = standing.filter(|_| !is_protected && placed.charge == Charge::InQuota) {
            // Of a job of which a part stands above its quota's amount, the rest goes by the policy.
            add(units_of(state, now, no, standing, true, |_| true));
        }
    }
    sort(&mut units);
    Some(units)
}
