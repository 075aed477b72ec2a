//! Backfill must not starve a large gang: whoever has waited too long holds a reservation (rules 3.5).
//!
//! In each quota the first job that has waited longer than `starvation_after` and fits in what is guaranteed to it
//! holds one: of its quota, and of the nodes that will be free for it. It binds what comes later with the same or a
//! lower priority, and every pod above a minimum: these may use what is reserved only if their declared duration ends
//! before the holder starts; otherwise what is left beside it. Idle jobs are not bound, since the holder takes back what
//! they use.
//!
//! A reservation matters only to a job that could start otherwise, so it is looked for when a source has
//! made an assignment.

use std::cmp::Reverse;

use crate::job::hold::Blocker;
use crate::job::phase::Charge;
use crate::job::phase::Phase;
use crate::job::spec::IdlePolicy;
use crate::job::spec::JobSpec;
use crate::ledger::guaranteed::is_guaranteed;
use crate::schedule::decision::Assignment;
use crate::schedule::leaving;
use crate::schedule::leaving::declared_end;
use crate::schedule::leaving::end_of_start;
use crate::schedule::never;
use crate::schedule::precedence;
use crate::schedule::precedence::Precedence;
use crate::schedule::reservation::Reservation;
use crate::schedule::trial::Trial;
use crate::state::queue::Class;
use crate::unit::id::JobNo;
use crate::unit::id::NodeNo;
use crate::unit::id::QuotaNo;
use crate::unit::ordered::Map;
use crate::unit::sort;
use crate::unit::time::Timestamp;

/// Who would take an assignment.
#[derive(Clone, Copy)]
pub struct Claim<'a> {
    /// The job.
    pub job: JobNo,
    /// What it would start: the job itself, or one of its pods above the minimum as a job of its own.
    pub spec: &'a JobSpec,
    /// Whether it is such a pod.
    pub is_extra: bool,
}

/// Why an assignment is not for a job.
pub struct Denied {
    /// Who holds the reservation.
    pub holder: JobNo,
    /// What to tell.
    pub blocker: Blocker,
    /// Whether the quota is reserved, whatever the source; otherwise the nodes are, and there are no others.
    pub is_whole_quota: bool,
}

/// The reservations of a round, as far as they were asked for.
pub struct Reservations<'p> {
    /// Who is asked before others; reservations of these do not bind them.
    precedence: &'p Precedence,
    /// Who holds one, by quota; nothing before anybody asked.
    holders: Option<Map<QuotaNo, JobNo>>,
    known: Map<JobNo, Reservation>,
}

impl<'p> Reservations<'p> {
    /// Nobody has asked for any yet.
    pub(super) fn of(precedence: &'p Precedence) -> Self {
        Self { precedence, holders: None, known: Map::new() }
    }

    /// An assignment, as far as the reservations of others leave it: as it is, on other nodes, or not at all.
    pub fn admit(
        &mut self,
        trial: &mut Trial<'_>,
        claim: Claim<'_>,
        assignment: Assignment,
        ask_again: impl FnOnce(&Trial<'_>) -> Result<Assignment, Blocker>,
    ) -> Result<Assignment, Denied> {
        if assignment.placed.charge != Charge::InQuota {
            return Ok(assignment);
        }
        let bound = self.binding(trial, claim);
        let asked = claim.spec.shape.gang_amount();
        for holder in &bound {
            let reservation = &self.known[holder];
            if reservation.quota == claim.spec.quota && !asked.fits_in(&reservation.spare) {
                let blocker = reservation.blocker(trial.state);
                return Err(Denied { holder: *holder, blocker, is_whole_quota: true });
            }
        }
        let assignment = match self.conflict(claim, &bound, &assignment) {
            None => assignment,
            Some((nodes, holder)) => {
                // Some of its nodes are somebody else's; others may do.
                trial.forbidden = nodes;
                let elsewhere = ask_again(trial);
                trial.forbidden.clear();
                let blocker = || self.known[&holder].blocker(trial.state);
                elsewhere.map_err(|_| Denied { holder, blocker: blocker(), is_whole_quota: false })?
            }
        };
        for holder in bound {
            if let Some(reservation) = self.known.get_mut(&holder) {
                reservation.take(claim.spec, &assignment);
            }
        }
        Ok(assignment)
    }

    /// The nodes that reservations keep from a job, sorted, and whose the first of those is that it was offered.
    fn conflict(&self, claim: Claim<'_>, bound: &[JobNo], assignment: &Assignment) -> Option<(Vec<NodeNo>, JobNo)> {
        let reservations = bound.iter().map(|holder| &self.known[holder]);
        let first = reservations.clone().find(|reservation| reservation.is_hit_by(claim.spec, assignment))?;
        let mut nodes: Vec<NodeNo> =
            reservations.flat_map(|reservation| reservation.nodes_too_full_for(claim.spec)).collect();
        nodes.extend(assignment.placed.pods.iter().map(|pod| pod.node).filter(|no| first.nodes.contains_key(no)));
        sort::by_key(&mut nodes, |no| *no);
        nodes.dedup();
        Some((nodes, first.holder))
    }

    /// The holders whose reservations bind a job.
    fn binding(&mut self, trial: &Trial<'_>, claim: Claim<'_>) -> Vec<JobNo> {
        let state = trial.state;
        let holders = self.holders.get_or_insert_with(|| holders(trial));
        let domain = state.domains.of_quota(claim.spec.quota);
        let is_pool = state.domains.list[domain.at()].is_pool;
        let concerns =
            |quota: QuotaNo| quota == claim.spec.quota || (!is_pool && state.domains.of_quota(quota) == domain);
        let is_behind = |holder: JobNo| self.precedence.is_ahead(state, claim.job, holder);
        let binds =
            |quota: QuotaNo, holder: JobNo| concerns(quota) && !is_behind(holder) && is_later(trial, claim, holder);
        let later = holders.iter().filter(|(quota, holder)| binds(**quota, **holder));
        let mut later: Vec<JobNo> = later.map(|(_, holder)| *holder).collect();
        let end = end(trial, claim);
        // Most are back long before the holder has its amount; then it does not matter where it starts.
        if later.iter().any(|holder| !self.known.contains_key(holder))
            && let Some(then) = end.and_then(|end| leaving::books_at(trial, domain, end))
        {
            let is_back_in_time = |holder| !leaving::fits_by_right(&then, &state.jobs[holder].spec);
            later.retain(|holder| self.known.contains_key(holder) || !is_back_in_time(*holder));
        }
        let unknown = later.iter().copied().filter(|holder| !self.known.contains_key(holder)).collect();
        for reservation in Reservation::of_each(trial, unknown) {
            self.known.insert(reservation.holder, reservation);
        }
        let mut binding = Vec::new();
        for holder in later {
            let reservation = &self.known[&holder];
            let is_back_in_time = matches!((end, reservation.start), (Some(end), Some(start)) if end <= start);
            if !is_back_in_time {
                binding.push(holder);
            }
        }
        binding
    }
}

/// Whether a claim comes after a holder that still waits, with no higher priority, and could not take from it what it
/// starts on.
fn is_later(trial: &Trial<'_>, claim: Claim<'_>, holder: JobNo) -> bool {
    let (job, held_by) = (&trial.state.jobs[claim.job], &trial.state.jobs[holder]);
    let is_younger = (held_by.waiting_since, &held_by.spec.id) < (job.waiting_since, &job.spec.id);
    claim.job != holder
        && (claim.is_extra || is_younger)
        && claim.spec.priority <= held_by.spec.priority
        && !trial.is_served(holder)
        && (claim.is_extra || !precedence::may_take_at_once(trial.state, claim.job, holder))
}

/// When what would start now ends, if that is declared. What should have ended before will end nobody knows when.
fn end(trial: &Trial<'_>, claim: Claim<'_>) -> Option<Timestamp> {
    let job = &trial.state.jobs[claim.job];
    if matches!(job.phase, Phase::Running { .. }) {
        return declared_end(job).filter(|end| *end > trial.now);
    }
    end_of_start(trial, claim.job)
}

/// The first job of each quota that has waited too long and fits in what is guaranteed to it.
fn holders(trial: &Trial<'_>) -> Map<QuotaNo, JobNo> {
    let state = trial.state;
    let mut holders: Map<QuotaNo, JobNo> = Map::new();
    let rank = |no: JobNo| {
        let job = &state.jobs[no];
        (Reverse(job.spec.priority), job.waiting_since, &job.spec.id)
    };
    for (until, class) in &state.queue.patience {
        if trial.now <= *until {
            break;
        }
        let class = &state.queue.classes[class.at()];
        let Some(no) = starving(trial, class) else { continue };
        let is_first = holders.get(&class.key.quota).is_none_or(|other| rank(no) < rank(*other));
        if is_first && never::fits_when_empty(state, &state.jobs[no].spec) {
            holders.insert(class.key.quota, no);
        }
    }
    holders
}

/// The first job of a class that still waits, if it has waited too long and has a right to what it asks for.
fn starving(trial: &Trial<'_>, class: &Class) -> Option<JobNo> {
    let state = trial.state;
    let no = class.waiting.iter().find(|no| !trial.is_served(*no))?;
    let (job, patience) = (&state.jobs[no], state.quotas[class.key.quota.at()].settings.starvation_after);
    let has_right = class.key.idle != IdlePolicy::Only
        && is_guaranteed(&state.quotas, &trial.quotas, class.key.quota, &job.spec.shape.gang_amount());
    (has_right && trial.now - job.waiting_since > patience).then_some(no)
}
