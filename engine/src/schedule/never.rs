//! Whether a waiting job can never start: larger than what is guaranteed to it, or than all that could ever be lent to
//! it, or than the machines (rules 3.6).
//!
//! It is said with a proof for every way that is open to the job, and holds until machines, quotas or settings change:
//! then everybody's reasons are forgotten. Machines count that are ready, since on others nothing starts.

use std::borrow::Cow;

use crate::job::hold::Attempt;
use crate::job::hold::Blocker;
use crate::job::hold::Hold;
use crate::job::never::Never;
use crate::job::phase::Source;
use crate::job::shape::Role;
use crate::job::spec::IdlePolicy;
use crate::job::spec::JobSpec;
use crate::ledger;
use crate::placement::proof;
use crate::placement::proof::Verdict;
use crate::quota::policy::Scope;
use crate::state::domain::Domain;
use crate::state::world::State;
use crate::unit::amount::Amount;
use crate::unit::id::DomainNo;
use crate::unit::id::QuotaNo;
use crate::unit::ordered::Map;

/// The proofs that a job can never start, one for each way that is open to it; none if it may start one day.
#[must_use]
pub fn proofs(state: &State, job: &JobSpec) -> Vec<Attempt> {
    let own = (job.idle != IdlePolicy::Only).then(|| in_quota(state, job));
    let idle = || (job.idle != IdlePolicy::Off).then(|| on_idle(state, job));
    let attempt = |source, blocker| Attempt { source, blocker };
    match own {
        Some(None) => Vec::new(),
        Some(Some(own)) => match idle() {
            Some(None) => Vec::new(),
            Some(Some(idle)) => vec![attempt(Source::Own, own), attempt(Source::Idle, idle)],
            None => vec![attempt(Source::Own, own)],
        },
        None => idle().flatten().map(|idle| attempt(Source::Idle, idle)).into_iter().collect(),
    }
}

/// Whether a job that depends on its quota is larger than what is guaranteed to it: nobody gives way to it.
#[must_use]
pub fn is_above_quota(state: &State, job: &JobSpec) -> bool {
    job.idle == IdlePolicy::Off && larger_than_quota(state, job).is_some()
}

/// Whether it is known that a job has room on the machines of its quota when nobody is on them.
#[must_use]
pub fn fits_when_empty(state: &State, job: &JobSpec) -> bool {
    let domain = &state.domains.list[state.domains.of_quota(job.quota).at()];
    if domain.is_pool {
        return larger_than_pool(domain, job).is_none();
    }
    match job.shape.only_role() {
        Some(role) => equal_pods(state, &ready(state, domain, job), &role).is_none(),
        None => matches!(several_roles(state, domain, job), Verdict::Fits),
    }
}

fn several_roles(state: &State, domain: &Domain, job: &JobSpec) -> Verdict {
    let roles: Vec<Role> = job.shape.gang().collect();
    proof::on_empty(&state.cluster, &ready(state, domain, job), &roles)
}

/// The reasons of the sources with these proofs: the first of them is the binding reason, unless a switch is that keeps
/// it so. Where amounts prove it, what the sources say changes with others and tells nothing.
#[must_use]
pub fn told(proofs: Vec<Attempt>, hold: Hold) -> Hold {
    if proofs.is_empty() {
        return hold;
    }
    let at = match proofs.first().map(|proof| &proof.blocker) {
        Some(Blocker::LargerThanQuota { .. } | Blocker::Never(Never::Level { .. } | Never::Lent { .. })) => {
            return Hold { attempts: proofs };
        }
        // A setting says no, whoever runs: it does so until it is changed, as the proof does.
        Some(Blocker::Never(Never::Own { .. })) => {
            usize::from(hold.binding().is_some_and(|attempt| attempt.blocker.is_a_switch()))
        }
        Some(_) | None => 0,
    };
    let mut attempts = hold.attempts;
    attempts.splice(at..at, proofs);
    Hold { attempts }
}

/// A job that its quota will never allow, or the machines of its domain.
fn in_quota(state: &State, job: &JobSpec) -> Option<Blocker> {
    larger_than_quota(state, job).or_else(|| larger_than_nodes(state, job, state.domains.of_quota(job.quota)))
}

/// A job that no domain of its resource type could ever take on idle amounts.
fn on_idle(state: &State, job: &JobSpec) -> Option<Blocker> {
    let asked = job.shape.gang_amount();
    let list = &state.domains.list;
    let own = state.domains.of_quota(job.quota);
    let same_type =
        (0..list.len()).filter(|at| list[*at].resource_type == list[own.at()].resource_type).map(DomainNo::from_index);
    let (mut by_nodes, mut by_lending) = (None, None);
    for domain in same_type {
        match ledger::fits_in_idle(&state.lendable[domain.at()], &asked) {
            Err((at, lent)) => {
                let is_more = by_lending.is_none_or(|(_, most)| lent > most);
                by_lending = if is_more { Some((at, lent)) } else { by_lending };
            }
            Ok(()) => by_nodes = by_nodes.or(Some(larger_than_nodes(state, job, domain)?)),
        }
    }
    let lent = |(at, lent)| Blocker::Never(Never::Lent { dimension: position(at), asked: asked[at], lent });
    by_nodes.or_else(|| by_lending.map(lent))
}

/// How far a job may reach in the quota tree.
enum Reach {
    /// What its quota keeps for its own jobs.
    Own,
    /// All that its quota has.
    Subtree,
    /// All that the quotas of its level have.
    Level(QuotaNo),
}

impl Reach {
    fn of(state: &State, job: &JobSpec) -> Self {
        let quota = &state.quotas[job.quota.at()];
        let level = quota.settings.self_level.as_ref().filter(|policy| policy.high.contains(job.priority));
        match (level, quota.parent) {
            (Some(policy), Some(parent)) if policy.scope != Scope::Own => Self::Level(parent),
            _ if quota.settings.child_level.is_some() && state.has_children(job.quota) => Self::Subtree,
            _ => Self::Own,
        }
    }
}

/// A job that its quota will never allow, nor an ancestor.
fn larger_than_quota(state: &State, job: &JobSpec) -> Option<Blocker> {
    let asked = job.shape.gang_amount();
    let larger = |no: QuotaNo| {
        let quota = &state.quotas[no.at()];
        let at = quota.min.first_exceeded(&Amount::ZERO, &asked)?;
        let (dimension, min) = (position(at), quota.min.amount[at]);
        Some(Blocker::LargerThanQuota { quota: quota.id.clone(), dimension, asked: asked[at], min })
    };
    let quota = &state.quotas[job.quota.at()];
    let reach = Reach::of(state, job);
    let widest = if let Reach::Level(parent) = reach { parent } else { job.quota };
    let here = match reach {
        Reach::Subtree => larger(job.quota),
        Reach::Own => {
            let children = &state.ledger.quotas[job.quota.at()].children_min;
            quota.min.first_exceeded(children, &asked).map(|at| {
                let (dimension, min) = (position(at), quota.min.amount[at]);
                let own = min.saturating_sub(children[at]).max(0);
                let of_own =
                    Blocker::Never(Never::Own { quota: quota.id.clone(), dimension, asked: asked[at], own, min });
                larger(job.quota).unwrap_or(of_own)
            })
        }
        Reach::Level(parent) => larger(parent).or_else(|| {
            // The quota's own children keep what they are guaranteed, but for child-level preemption.
            let (siblings, kept) =
                (&state.ledger.quotas[parent.at()].children_min, &state.ledger.quotas[job.quota.at()].children_min);
            let subtree = if quota.settings.child_level.is_some() { quota.min.amount } else { Amount::ZERO };
            let level = siblings.minus(kept).greater(&subtree);
            let is_stated = |at: usize| state.children(parent).all(|(_, sibling)| sibling.min.states(at));
            let at = asked.dimensions().find(|at| asked[*at] > level[*at] && is_stated(*at))?;
            let parent = state.quotas[parent.at()].id.clone();
            let (dimension, level) = (position(at), level[at]);
            Some(Blocker::Never(Never::Level { parent, dimension, asked: asked[at], level }))
        }),
    };
    // What a quota states its ancestors state as well, and they have no less of it.
    here.or_else(|| {
        let is_open = |no: &QuotaNo| asked.dimensions().any(|at| !state.quotas[no.at()].min.states(at));
        let parent = |no: QuotaNo| if is_open(&no) { state.quotas[no.at()].parent } else { None };
        std::iter::successors(parent(widest), |no| parent(*no)).find_map(larger)
    })
}

/// A job that does not fit even when the machines that are ready are empty.
fn larger_than_nodes(state: &State, job: &JobSpec, domain: DomainNo) -> Option<Blocker> {
    let domain = &state.domains.list[domain.at()];
    if domain.is_pool {
        return larger_than_pool(domain, job);
    }
    match job.shape.only_role() {
        Some(role) => equal_pods(state, &ready(state, domain, job), &role),
        None => match several_roles(state, domain, job) {
            Verdict::Never(never) => Some(Blocker::Never(never)),
            Verdict::Fits | Verdict::Unknown { .. } => None,
        },
    }
}

/// The ready nodes of a domain that a job may run on, by what each of them has.
fn ready<'d>(state: &State, domain: &'d Domain, job: &JobSpec) -> Cow<'d, Map<Amount, u32>> {
    let choice = job.shape.nodes();
    if choice.is_any() {
        return Cow::Borrowed(&domain.ready);
    }
    let mut ready: Map<Amount, u32> = Map::new();
    for no in &domain.nodes {
        let node = &state.nodes[no.at()];
        if node.is_open() && choice.allows(*no, node.gpu_type.as_deref()) {
            *ready.or_default(node.amount) += 1;
        }
    }
    Cow::Owned(ready)
}

fn larger_than_pool(domain: &Domain, job: &JobSpec) -> Option<Blocker> {
    let asked = job.shape.gang_amount();
    // A pool has no nodes that could have been chosen.
    let has = if job.shape.nodes().is_any() { domain.amount } else { Amount::ZERO };
    let at = asked.first_over(&has)?;
    let (dimension, asked, largest) = (position(at), asked[at], has[at]);
    Some(Blocker::LargerThanNodes { pods: job.shape.gang_pods(), fit: 0, dimension, asked, largest })
}

/// Equal pods fit as far as there are slots for them.
fn equal_pods(state: &State, ready: &Map<Amount, u32>, role: &Role) -> Option<Blocker> {
    let pod = &role.amount;
    // Where as many empty machines take one each, it need not be known how many there is room for.
    if !pod.is_zero() && ready.iter().any(|(amount, machines)| *machines >= role.count && pod.fits_in(amount)) {
        return None;
    }
    let fit = u32::try_from(proof::slots_of(&state.cluster, ready, pod)).unwrap_or(u32::MAX);
    if fit >= role.count {
        return None;
    }
    let largest = |at: usize| ready.keys().map(|amount| amount[at]).max().unwrap_or(0);
    let leading = state.cluster.gpu_dimension(pod).or_else(|| pod.dimensions().next()).unwrap_or(0);
    let too_small = std::iter::once(leading).chain(pod.dimensions()).find(|at| pod[*at] > largest(*at));
    let at = match too_small {
        Some(at) => at,
        // Each thing that it needs is on some machine, but no machine has all of them.
        None if fit == 0 => return Some(Blocker::Never(Never::Pod { pod: *pod })),
        None => leading,
    };
    let (dimension, asked, largest) = (position(at), pod[at], largest(at));
    Some(Blocker::LargerThanNodes { pods: role.count, fit, dimension, asked, largest })
}

fn position(at: usize) -> u8 {
    u8::try_from(at).unwrap_or(u8::MAX)
}
