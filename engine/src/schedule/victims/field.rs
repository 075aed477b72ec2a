//! Where victims are looked for: what quotas hold above their amounts, and the quotas whose jobs a rule names.

use crate::job::phase::Charge;
use crate::job::phase::Phase;
use crate::job::phase::Source;
use crate::ledger;
use crate::quota::policy::Scope;
use crate::schedule::trial::Trial;
use crate::schedule::victims::candidate::Candidates;
use crate::schedule::victims::cost::Standing;
use crate::schedule::victims::cover;
use crate::schedule::victims::preemptor::Preemptor;
use crate::schedule::victims::rule::Rule;
use crate::unit::amount::Amount;
use crate::unit::id::DomainNo;
use crate::unit::id::JobNo;
use crate::unit::id::QuotaNo;
use crate::unit::slots::Slots;

/// Where victims in quota are looked for.
pub struct Field<'a> {
    /// What quotas hold above their amounts since they were scaled down, and who of these is protected. It goes to those
    /// who have a right to it, whatever the rule names.
    pub(super) above: Candidates<'a>,
    /// Whose jobs the rule names, and what they stand on; the first are looked at first.
    pub(super) quotas: Vec<(Standing, Vec<QuotaNo>)>,
}

impl<'a> Field<'a> {
    /// The field of a preemptor.
    #[must_use]
    pub fn of(trial: &'a Trial<'_>, preemptor: &Preemptor<'_>) -> Self {
        let mut field = Self { above: Candidates::default(), quotas: named(trial, preemptor) };
        let domain = trial.state.domains.of_group(preemptor.placed.home);
        for no in draining(trial, domain).filter(|no| *no != preemptor.job.quota) {
            field.add_above(trial, no);
        }
        field
    }

    /// Whether the gang of a job stands above its quota's amount.
    pub(super) fn is_above(&self, no: JobNo) -> bool {
        self.above.list.iter().any(|candidate| candidate.job == no && candidate.pod.is_none())
    }

    /// Of the jobs that a quota holds above its amount, those that `evict` would have taken: the cheapest that cover
    /// it. Whatever is there by self-level preemption is there by right.
    fn add_above(&mut self, trial: &'a Trial<'_>, quota: QuotaNo) {
        let state = trial.state;
        let min_runtime = state.quotas[quota.at()].settings.min_runtime;
        let mut candidates = Candidates::default();
        for (_, no) in state.running[quota.at()].iter().filter(|(_, no)| !trial.is_gone(*no)) {
            let job = &state.jobs[*no];
            let Phase::Running { placed, started, .. } = &job.phase else { continue };
            if placed.source == Source::SelfLevel || trial.charge_of(*no, placed) != Charge::InQuota {
                continue;
            }
            let until = *started + min_runtime;
            if until > trial.now {
                self.above.add_protected(trial, *no, Standing::Above, until);
            } else {
                candidates.add(trial, *no, Charge::InQuota, Standing::Above);
            }
        }
        let mut list = candidates.sorted().list;
        list.retain(|candidate| candidate.charge == Charge::InQuota);
        let marks = cover::cheapest(&list, &[above_amount(trial, quota)], |_| vec![0]);
        let is_meant = |at: usize| marks.as_ref().is_none_or(|marks| marks[at]);
        self.above
            .list
            .extend(list.iter().enumerate().filter(|(at, _)| is_meant(*at)).map(|(_, candidate)| *candidate));
    }
}

/// Whose jobs a rule names.
fn named(trial: &Trial<'_>, preemptor: &Preemptor<'_>) -> Vec<(Standing, Vec<QuotaNo>)> {
    let state = trial.state;
    let quota = preemptor.policy_quota;
    let siblings = || -> Vec<QuotaNo> {
        let parent = state.quotas[quota.at()].parent;
        let level = parent.into_iter().flat_map(|parent| state.children(parent));
        level.map(|(no, _)| no).filter(|no| *no != quota).collect()
    };
    match preemptor.rule {
        Rule::Reclaim => Vec::new(),
        Rule::ChildLevel(_) => vec![(Standing::InQuota, state.subtree(quota).into_iter().skip(1).collect())],
        Rule::SelfLevel(policy) => match policy.scope {
            Scope::Own => vec![(Standing::InQuota, vec![quota])],
            Scope::SameLevel => vec![(Standing::InQuota, vec![quota]), (Standing::InSibling, siblings())],
            Scope::SiblingsIdle => Vec::new(),
        },
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
fn draining<'a>(trial: &'a Trial<'_>, domain: DomainNo) -> impl Iterator<Item = QuotaNo> + 'a {
    let state = trial.state;
    let over = state.over.iter().copied().filter(move |no| state.domains.of_quota(*no) == domain);
    over.filter(move |no| !above_amount(trial, *no).is_zero())
}

/// What a quota's own jobs hold above its amount. What they use of what its children leave is not above it.
fn above_amount(trial: &Trial<'_>, no: QuotaNo) -> Amount {
    let (quota, book) = (&trial.state.quotas[no.at()], trial.quotas.get(no.at()));
    let right = trial.held_by_right(no);
    let above = quota.min.masked(&book.used.minus(&right).minus(&quota.min.amount));
    let own = Amount::each(|at| ledger::own_min(quota, book, at));
    above.lesser(&book.own_jobs.minus(&right).minus(&own)).positive()
}
