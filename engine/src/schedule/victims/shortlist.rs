//! The shortlist: of everybody who may be taken, those who can be among the cheapest.
//!
//! 1. Nobody of a more valuable class than is needed.
//! 2. In a pool, of jobs that free the same only the cheapest, as many as free all that is needed: one more of them
//!    could always be spared.
//! 3. On nodes each job frees something of its own. They are listed in the order of their cost until they are
//!    enough, and then as long as one of them alone costs no more than those who cannot be spared; a class that is small
//!    enough for the exact search is listed as a whole.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Deref;
use std::ops::Range;

use crate::job::phase::Charge;
use crate::schedule::trial::Trial;
use crate::schedule::victims::candidate::Candidate;
use crate::schedule::victims::candidate::Candidates;
use crate::schedule::victims::candidate::gang;
use crate::schedule::victims::cost::Standing;
use crate::schedule::victims::field::Field;
use crate::schedule::victims::need::Freed;
use crate::schedule::victims::need::Need;
use crate::schedule::victims::preemptor::Preemptor;
use crate::schedule::victims::search::EXACT_ON_NODES_MAX;
use crate::state::preemption_order::PreemptionOrder;
use crate::state::preemption_order::Turn;
use crate::unit::amount::Amount;
use crate::unit::id::JobNo;
use crate::unit::id::QuotaNo;
use crate::unit::ordered::Set;
use crate::unit::priority::Priority;
use crate::unit::priority::PrioritySet;
use crate::unit::sort;
use crate::unit::time::Millis;

/// The shortlist for a job under a rule, the least valuable first. If even everybody is not enough: what they free, as
/// far as it matters.
pub fn shortlist<'a, 'n>(
    trial: &'a Trial<'_>,
    preemptor: &Preemptor<'_>,
    field: &impl Deref<Target = Field<'a>>,
    need: &'n Need,
) -> Result<Vec<Candidate<'a>>, Box<Freed<'n>>>
where
    'a: 'n,
{
    let mut shortlist = Shortlist { trial, need, freed: Freed::nothing(trial, need), found: Candidates::default() };
    let order = &trial.state.on_idle[trial.state.domains.of_group(preemptor.placed.home).at()];
    let is_any_idle = order.jobs().next().is_some();
    let priorities = PrioritySet::range(Priority::LOWEST, Priority::HIGHEST);
    for priority in priorities.iter().filter(|_| is_any_idle) {
        shortlist.add_idle(order, priority);
        if shortlist.freed.is_enough() {
            return Ok(shortlist.found.sorted().list);
        }
    }
    shortlist.go_on(preemptor, field)
}

/// Jobs that free the same, the cheapest first, and how long they are protected after their start.
struct Equals<'a> {
    amount: &'a Amount,
    turns: &'a Set<Turn>,
    standing: Standing,
    protection: Option<Millis>,
}

impl<'a> Equals<'a> {
    /// Those who may be taken.
    fn free<'f>(
        &self,
        trial: &'a Trial<'_>,
        field: Option<&'f Field<'a>>,
    ) -> impl Iterator<Item = Candidate<'a>> + use<'a, 'f> {
        let (protection, standing) = (self.protection, self.standing);
        let is_above = move |no: JobNo| field.is_some_and(|field| field.is_above(no));
        let is_free =
            move |no: JobNo| !trial.is_gone(no) && !trial.is_promoted(no) && trial.may_go(no) && !is_above(no);
        let free = self.turns.iter().filter(move |(started, _, no)| {
            protection.is_none_or(|protection| started.0 + protection <= trial.now) && is_free(*no)
        });
        free.filter_map(move |(_, _, no)| gang(trial, *no, &trial.state.jobs[*no], standing))
    }
}

/// Candidates in the order of their cost.
enum ByCost<'a, E> {
    /// Each of which frees something of its own.
    Gangs(std::vec::IntoIter<Candidate<'a>>),
    /// That free the same.
    Equals(E),
}

impl<'a, E: Iterator<Item = Candidate<'a>>> Iterator for ByCost<'a, E> {
    type Item = Candidate<'a>;
    fn next(&mut self) -> Option<Candidate<'a>> {
        match self {
            Self::Gangs(gangs) => gangs.next(),
            Self::Equals(equals) => equals.next(),
        }
    }
}

struct Shortlist<'a, 'n> {
    trial: &'a Trial<'a>,
    need: &'n Need,
    freed: Freed<'n>,
    found: Candidates<'a>,
}

impl<'a, 'n> Shortlist<'a, 'n> {
    /// Those in quota, since all on idle amounts are not enough.
    fn go_on(mut self, preemptor: &Preemptor<'_>, field: &Field<'a>) -> Result<Vec<Candidate<'a>>, Box<Freed<'n>>> {
        if !field.above.list.is_empty() {
            self.add_above(field);
            if self.freed.is_enough() {
                return Ok(self.found.sorted().list);
            }
        }
        for (standing, quotas) in &field.quotas {
            for priority in preemptor.rule.priorities().iter() {
                self.add_in_quota(preemptor, field, (*standing, quotas), priority);
                if self.freed.is_enough() {
                    return Ok(self.found.sorted().list);
                }
            }
        }
        Err(Box::new(self.freed))
    }

    /// Jobs of a priority on idle amounts.
    fn add_idle(&mut self, order: &'a PreemptionOrder, priority: Priority) {
        let trial = self.trial;
        let before = self.found.list.len();
        for no in order.others(priority).filter(|no| !trial.is_gone(*no)) {
            self.found.add(trial, no, Charge::Idle, Standing::Lent);
        }
        let equals = order.equals(priority);
        let equals =
            equals.map(|(_, amount, turns)| Equals { amount, turns, standing: Standing::Lent, protection: None });
        self.add(before, Charge::Idle, None, equals);
    }

    /// What quotas hold above their amounts.
    fn add_above(&mut self, field: &Field<'a>) {
        self.found.add_above(field);
        for candidate in &field.above.list {
            self.freed.take(candidate);
        }
    }

    /// In-quota jobs of a priority whom the rule allows to take.
    fn add_in_quota(
        &mut self,
        preemptor: &Preemptor<'_>,
        field: &Field<'a>,
        (standing, scope): (Standing, &[QuotaNo]),
        priority: Priority,
    ) {
        let trial = self.trial;
        let state = trial.state;
        let before = self.found.list.len();
        let others = scope.iter().flat_map(|quota| state.in_quota[quota.at()].others(priority));
        let promoted = trial.promoted().filter(|no| {
            let spec = &state.jobs[*no].spec;
            spec.priority == priority && scope.contains(&spec.quota)
        });
        for no in others.chain(promoted).filter(|no| !trial.is_gone(*no)) {
            self.found.add_in_quota(trial, preemptor, field, standing, no);
        }
        let equals = scope.iter().flat_map(|quota| {
            let protection = Some(state.quotas[quota.at()].settings.min_runtime);
            let equals = state.in_quota[quota.at()].equals(priority);
            let allowed = equals.filter(|(module, ..)| preemptor.may_take(priority, *module));
            allowed.map(move |(_, amount, turns)| Equals { amount, turns, standing, protection })
        });
        self.add(before, Charge::InQuota, Some(field), equals);
    }

    /// Takes those who have been found beyond `before`, and of their equals who can matter.
    fn add(
        &mut self,
        before: usize,
        charge: Charge,
        field: Option<&Field<'a>>,
        equals: impl Iterator<Item = Equals<'a>>,
    ) {
        if self.need.is_on_nodes() {
            let found = self.found.list.split_off(before);
            let (gangs, pods): (Vec<_>, Vec<_>) = found.into_iter().partition(|candidate| candidate.pod.is_none());
            for pod in pods {
                self.freed.take(&pod);
                self.found.list.push(pod);
            }
            self.add_in_order(gangs, field, equals);
        } else {
            for equals in equals {
                let most = self.need.most_of(self.trial, equals.amount, charge);
                self.found.list.extend(equals.free(self.trial, field).take(most));
            }
            for candidate in &self.found.list[before..] {
                self.freed.take(candidate);
            }
        }
    }

    /// Takes gangs and their equals in the order of their cost until they are enough.
    fn add_in_order<'f>(
        &mut self,
        mut gangs: Vec<Candidate<'a>>,
        field: Option<&'f Field<'a>>,
        equals: impl Iterator<Item = Equals<'a>>,
    ) where
        'a: 'f,
    {
        sort::by(&mut gangs, |a, b| a.worth.cmp(&b.worth));
        let trial = self.trial;
        let gangs = (!gangs.is_empty()).then(|| ByCost::Gangs(gangs.into_iter()));
        let equals = equals.map(|equals| ByCost::Equals(equals.free(trial, field)));
        let mut lines: Vec<_> = gangs.into_iter().chain(equals).collect();
        if lines.is_empty() {
            return;
        }
        let mut heads = BinaryHeap::new();
        let mut of_line: Vec<Option<Candidate<'a>>> = vec![None; lines.len()];
        let mut next = |line: usize, heads: &mut BinaryHeap<_>, of_line: &mut Vec<Option<Candidate<'a>>>| {
            of_line[line] = lines[line].next();
            heads.extend(of_line[line].map(|candidate| Reverse((candidate.worth, line))));
        };
        for line in 0..of_line.len() {
            next(line, &mut heads, &mut of_line);
        }
        let before = self.found.list.len();
        // Those up to here are taken, and with them it is enough.
        let mut enough = None;
        let mut lost_at_most = None;
        while let Some(Reverse((_, line))) = heads.pop() {
            let Some(candidate) = of_line[line].take() else { continue };
            let is_beyond = self.found.list.len() - before > EXACT_ON_NODES_MAX;
            if let Some(enough) = enough.filter(|_| is_beyond) {
                let most = *lost_at_most.get_or_insert_with(|| self.lost_at_most(before..enough));
                if candidate.worth.lost > most {
                    break;
                }
            }
            next(line, &mut heads, &mut of_line);
            self.found.list.push(candidate);
            if enough.is_none() {
                self.freed.take(&candidate);
                let is_enough = self.need.is_counted() && self.freed.is_enough();
                enough = is_enough.then_some(self.found.list.len());
                // The cheapest alone is enough.
                if enough == Some(before + 1) {
                    break;
                }
            }
        }
    }

    /// What those of a range lose who cannot be spared, the most valuable first; the others are spared. Nobody who loses
    /// more alone is among the cheapest.
    fn lost_at_most(&mut self, range: Range<usize>) -> i64 {
        let mut lost = 0i64;
        for candidate in self.found.list[range].iter().rev() {
            self.freed.spare(candidate);
            if !self.freed.is_enough() {
                self.freed.take(candidate);
                lost = lost.saturating_add(candidate.worth.lost);
            }
        }
        lost
    }
}
