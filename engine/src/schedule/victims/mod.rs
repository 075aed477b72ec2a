//! Victims: the optimal preemption policy (semantics section 5).
//!
//! A legal set of victims is one after whose release the job fits, quota and nodes together. The cheapest legal set
//! is taken; cost is compared class by class from the most valuable.
//!
//! 1. [`candidate`]: who may be taken under the rule, and why the others are safe;
//! 2. [`need`]: what has to be freed, and whether a set frees it;
//! 3. [`mod@shortlist`]: whom to look at, which is rarely everybody;
//! 4. [`search`]: the cheapest set that does.

pub mod candidate;
pub mod cost;
pub mod need;
pub mod search;
pub mod shortlist;

use crate::job::hold::Blocker;
use crate::job::phase::Placed;
use crate::job::phase::PodAt;
use crate::job::spec::JobSpec;
use crate::job::story::Cause;
use crate::ledger;
use crate::ledger::QuotaUse;
use crate::quota::policy::ChildLevelPreemption;
use crate::quota::policy::Scope;
use crate::quota::policy::SelfLevelPreemption;
use crate::schedule::decision::Offer;
use crate::schedule::decision::Victim;
use crate::schedule::source::find_room;
use crate::schedule::trial::Trial;
use crate::schedule::victims::candidate::Candidates;
use crate::schedule::victims::need::Freed;
use crate::schedule::victims::need::Need;
use crate::schedule::victims::shortlist::shortlist;
use crate::state::roster::Claim;
use crate::unit::amount::Amount;
use crate::unit::id::DomainNo;
use crate::unit::id::JobNo;
use crate::unit::id::QuotaNo;
use crate::unit::priority::Module;
use crate::unit::priority::Priority;
use crate::unit::slots::Draft;
use crate::unit::slots::Slots;
use crate::unit::sort;

/// Whom a rule allows to take.
#[derive(Clone, Copy, Debug)]
pub enum Rule<'a> {
    /// Idle jobs, and jobs of quotas that were scaled below their use.
    Reclaim,
    /// Idle jobs, and jobs of descendants that the policy names.
    ChildLevel(&'a ChildLevelPreemption),
    /// Idle jobs, and jobs of the same level that the policy names.
    SelfLevel(&'a SelfLevelPreemption),
}

impl Rule<'_> {
    /// Whether in-quota jobs of this priority and module may be taken.
    fn may_take(&self, priority: Priority, module: Module) -> bool {
        match self {
            Self::Reclaim => true,
            Self::ChildLevel(policy) => policy.may_take(priority, module),
            Self::SelfLevel(policy) => policy.may_take(priority, module),
        }
    }

    /// Whether jobs of this module may be taken, if their priority allows it.
    fn names(&self, module: Module) -> bool {
        match self {
            Self::Reclaim => true,
            Self::ChildLevel(policy) => policy.modules.contains(module),
            Self::SelfLevel(policy) => policy.modules.contains(module),
        }
    }
}

/// A job in search of victims.
pub struct Quest<'a> {
    /// The job.
    pub job: &'a JobSpec,
    /// What it would hold, its pods' places excepted.
    pub placed: Placed,
    /// The rule.
    pub rule: Rule<'a>,
    /// What in-quota victims have to free in quota.
    pub quota_need: Amount,
    /// The quota with the policy.
    pub policy_quota: QuotaNo,
}

/// The cheapest offer under a rule.
pub fn find(trial: &Trial<'_>, quest: &Quest<'_>, cause: Cause) -> Result<Offer, Blocker> {
    let domain = trial.state.domains.of_group(quest.placed.home);
    let need = Need::of(trial, quest);
    if need.is_met_by_nothing() {
        let pods = find_room(trial, domain, &quest.job.shape)?;
        return Ok(offer(quest, pods, Vec::new(), Vec::new(), cause));
    }
    let promoted = promotable(trial, quest);
    let mut promoted_trial = trial.fork();
    for no in &promoted {
        promoted_trial.promote(*no);
    }
    let trial = &promoted_trial;
    let need = if promoted.is_empty() { need } else { Need::of(trial, quest) };
    if need.is_met_by_nothing() {
        let pods = find_room(trial, domain, &quest.job.shape)?;
        return Ok(offer(quest, pods, promoted, Vec::new(), cause));
    }
    let found = match shortlist(trial, quest, &need) {
        Ok(list) => search::cheapest(trial, quest, &need, &list),
        // Where room is a matter of counting, all of them together are not enough for sure.
        Err(freed) if need.is_counted() => return Err(why_nobody(trial, quest, &need, *freed)),
        Err(_) => None,
    };
    let (victims, pods) = found.map_or_else(|| among_all(trial, quest, &need), Ok)?;
    Ok(offer(quest, pods, promoted, victims, cause))
}

/// The cheapest victims when everybody has to be looked at.
fn among_all(trial: &Trial<'_>, quest: &Quest<'_>, need: &Need) -> Result<search::Found, Blocker> {
    let candidates = Candidates::of(trial, quest, need);
    search::cheapest_covered(trial, quest, need, &candidates).ok_or_else(|| {
        let freed = Freed::all(trial, need, &candidates.list);
        refine(trial, &candidates, search::blocker(trial, quest, &candidates, &freed), freed)
    })
}

/// Why even all of them do not help. On nodes it is known already what they free; of those who free the same in a pool
/// only as many as matter have been counted.
fn why_nobody<'t>(trial: &'t Trial<'_>, quest: &Quest<'_>, need: &'t Need, freed: Freed<'t>) -> Blocker {
    let candidates = Candidates::all(trial, quest);
    let freed = if need.is_on_nodes() { freed } else { Freed::all(trial, need, &candidates.list) };
    refine(trial, &candidates, search::blocker(trial, quest, &candidates, &freed), freed)
}

fn offer(quest: &Quest<'_>, pods: Box<[PodAt]>, promoted: Vec<JobNo>, victims: Vec<Victim>, cause: Cause) -> Offer {
    let cause = (!victims.is_empty()).then(|| Box::new(cause));
    Offer { placed: Placed { pods, ..quest.placed.clone() }, promoted, victims, cause }
}

/// *Acceptable* jobs that run on idle amounts while their own quota has room: they are entitled to it, so they go in
/// quota before anybody is evicted. The most important first, then the earliest start.
fn promotable(trial: &Trial<'_>, quest: &Quest<'_>) -> Vec<JobNo> {
    let state = trial.state;
    let domain = state.domains.of_group(quest.placed.home);
    let has_room = |quotas: &Draft<'_, QuotaUse>, quota, asked: &Amount| {
        ledger::fits_in_quota(&state.quotas, quotas, quota, asked, ledger::Reach::Own).is_ok()
    };
    // What does not fit now does not fit when others have gone in quota either: most sizes are not looked at.
    let may_fit = state.entitled.iter().filter(|((quota, amount), _)| {
        state.domains.of_quota(*quota) == domain
            && has_room(&trial.quotas, *quota, amount)
            && !is_on_level(trial, quest, *quota)
    });
    let mut waiting: Vec<&Claim> = may_fit
        .flat_map(|(_, claims)| claims)
        .filter(|(_, _, _, no)| !trial.is_gone(*no) && !trial.is_promoted(*no))
        .collect();
    if waiting.is_empty() {
        return Vec::new();
    }
    sort::by_key(&mut waiting, |waiting| *waiting);
    let mut after = trial.fork();
    after.book(quest.job.quota, domain, quest.placed.charge, quest.job.shape.gang_amount(), ledger::Sign::Add);
    let mut promoted = Vec::new();
    for (_, _, _, no) in waiting {
        let spec = &state.jobs[*no].spec;
        if has_room(&after.quotas, spec.quota, &spec.shape.gang_amount()) {
            after.promote(*no);
            promoted.push(*no);
        }
    }
    promoted
}

/// Whether a job of this quota, once in quota, would use what the level leaves idle and the preemptor counts on.
fn is_on_level(trial: &Trial<'_>, quest: &Quest<'_>, quota: QuotaNo) -> bool {
    let tree = &trial.state.quotas;
    match (quest.rule, tree[quest.policy_quota.at()].parent) {
        (Rule::SelfLevel(policy), Some(parent)) => {
            policy.scope != Scope::Own && quota != parent && ledger::is_within(tree, quota, parent)
        }
        (Rule::SelfLevel(_), None) | (Rule::Reclaim | Rule::ChildLevel(_), _) => false,
    }
}

/// Whether some quota below `ancestor` uses more than its amount because it was scaled down.
#[must_use]
pub fn is_any_draining(trial: &Trial<'_>, ancestor: QuotaNo) -> bool {
    let state = trial.state;
    draining(trial, state.domains.of_quota(ancestor)).any(|no| ledger::is_within(&state.quotas, no, ancestor))
}

/// Quotas of a domain that use more than their amount because they were scaled down. What self-level preemption
/// put above an amount is somebody's right, and does not count.
pub fn draining<'a>(trial: &'a Trial<'_>, domain: DomainNo) -> impl Iterator<Item = QuotaNo> + 'a {
    let state = trial.state;
    state.over.iter().copied().filter(move |no| state.domains.of_quota(*no) == domain).filter(move |no| {
        let min = &state.quotas[no.at()].min;
        !min.masked(&trial.quotas.get(no.at()).used.minus(&trial.held_by_right(*no))).fits_in(&min.amount)
    })
}

/// Whether waiting would serve as well as taking: victims that are protected for now.
fn refine(trial: &Trial<'_>, candidates: &Candidates<'_>, blocker: Blocker, mut freed: Freed<'_>) -> Blocker {
    let mut protected = candidates.protected.clone();
    sort::by_key(&mut protected, |(until, _)| *until);
    for (until, candidate) in protected {
        freed.take(&candidate);
        if freed.is_enough() {
            let quota = trial.state.quotas[candidate.quota.at()].id.clone();
            return Blocker::VictimProtected { quota, until, considered: candidates.considered };
        }
    }
    blocker
}
