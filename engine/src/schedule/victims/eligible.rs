//! Who may be taken under a rule, and why the others are safe.

use crate::job::phase::Charge;
use crate::job::phase::Phase;
use crate::schedule::trial::Trial;
use crate::schedule::victims::candidate::Candidates;
use crate::schedule::victims::cost::Standing;
use crate::schedule::victims::field::Field;
use crate::schedule::victims::need::Freed;
use crate::schedule::victims::need::Need;
use crate::schedule::victims::preemptor::Preemptor;
use crate::unit::id::JobNo;
use crate::unit::id::QuotaNo;
use crate::unit::priority::Priority;
use crate::unit::priority::PrioritySet;

impl<'a> Candidates<'a> {
    /// The candidates for a job under a rule, from the least valuable class on, until they are enough: nothing more
    /// valuable is ever needed then. When they are not enough, everybody has been looked at. With them comes what they
    /// free.
    #[must_use]
    pub fn of<'n>(
        trial: &'a Trial<'_>,
        preemptor: &Preemptor<'_>,
        field: &Field<'a>,
        need: &'n Need,
    ) -> (Self, Freed<'n>)
    where
        'a: 'n,
    {
        let mut candidates = Self::default();
        let mut freed = Freed::nothing(trial, need);
        candidates.add_lent_and_above(trial, preemptor, field);
        candidates.list.iter().for_each(|candidate| freed.take(candidate));
        let mut is_enough = freed.is_enough();
        let priorities = PrioritySet::range(Priority::LOWEST, Priority::HIGHEST);
        for (standing, quotas) in &field.quotas {
            // Each quota's list goes on where its last priority ended.
            let running = |quota: &QuotaNo| trial.state.running[quota.at()].iter().peekable();
            let mut running: Vec<_> = quotas.iter().map(running).collect();
            for priority in priorities.iter() {
                if is_enough {
                    break;
                }
                let before = candidates.list.len();
                for quota in &mut running {
                    while let Some((_, no)) = quota.next_if(|(of, _)| *of == priority) {
                        if !trial.is_gone(*no) {
                            candidates.add_in_quota(trial, preemptor, field, *standing, *no);
                        }
                    }
                }
                candidates.list[before..].iter().for_each(|candidate| freed.take(candidate));
                is_enough = candidates.list.len() > before && freed.is_enough();
            }
        }
        candidates.count(trial);
        (candidates.sorted(), freed)
    }

    /// Everybody, in no order.
    #[must_use]
    pub fn all(trial: &'a Trial<'_>, preemptor: &Preemptor<'_>, field: &Field<'a>) -> Self {
        let mut candidates = Self::default();
        candidates.add_lent_and_above(trial, preemptor, field);
        for (standing, quotas) in &field.quotas {
            for quota in quotas {
                for (_, no) in trial.state.running[quota.at()].iter().filter(|(_, no)| !trial.is_gone(*no)) {
                    candidates.add_in_quota(trial, preemptor, field, *standing, *no);
                }
            }
        }
        candidates.count(trial);
        candidates
    }

    /// Adds whom every rule allows to take.
    fn add_lent_and_above(&mut self, trial: &'a Trial<'_>, preemptor: &Preemptor<'_>, field: &Field<'a>) {
        let domain = trial.state.domains.of_group(preemptor.placed.home);
        for no in trial.state.idle_jobs(domain).filter(|no| !trial.is_gone(*no)) {
            self.add(trial, no, Charge::Idle, Standing::Lent);
        }
        self.add_above(field);
    }

    /// Adds what quotas hold above their amounts.
    pub(super) fn add_above(&mut self, field: &Field<'a>) {
        self.list.extend(&field.above.list);
        self.protected.extend(&field.above.protected);
        self.considered.by_min_runtime += field.above.considered.by_min_runtime;
    }

    /// Counts who may be taken.
    fn count(&mut self, trial: &Trial<'_>) {
        let gangs = self.list.iter().filter(|candidate| candidate.pod.is_none()).count();
        self.considered.stopping = u32::try_from(trial.state.stopping.len()).unwrap_or(u32::MAX);
        self.considered.eligible = u32::try_from(gangs).unwrap_or(u32::MAX);
    }

    /// Adds what the rule allows to take of an in-quota job, and notes why the rest is safe.
    pub(super) fn add_in_quota(
        &mut self,
        trial: &'a Trial<'_>,
        preemptor: &Preemptor<'_>,
        field: &Field<'_>,
        standing: Standing,
        no: JobNo,
    ) {
        let job = &trial.state.jobs[no];
        let Phase::Running { placed, started, .. } = &job.phase else { return };
        if trial.charge_of(no, placed) != Charge::InQuota || field.is_above(no) {
            return;
        }
        let (priority, module) = (job.spec.priority, job.spec.module);
        if !preemptor.may_take(priority, module) {
            let safe = if preemptor.rule.names(module) {
                &mut self.considered.by_priority
            } else {
                &mut self.considered.by_module
            };
            *safe += 1;
            return;
        }
        let until = *started + trial.state.quotas[job.spec.quota.at()].settings.min_runtime;
        if until > trial.now {
            self.add_protected(trial, no, standing, until);
            return;
        }
        self.add(trial, no, Charge::InQuota, standing);
    }
}
