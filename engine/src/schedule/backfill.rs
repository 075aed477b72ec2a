//! Reservations: backfill must not starve a large gang (semantics section 3).
//!
//! A job that has waited longer than its quota's `starvation_after` holds a reservation: of its quota, and of the
//! nodes on which it would start first. Later jobs of the same or a lower priority may use them only if their
//! declared duration ends before the reservation's earliest start. One job of a quota holds it: the first of them.
//!
//! A reservation matters only to a job that could start otherwise, so it is looked for when a source has made an
//! offer, and its earliest start is computed only then.

use crate::job::hold::Blocker;
use crate::job::phase::Phase;
use crate::job::phase::Source;
use crate::job::spec::IdlePolicy;
use crate::job::spec::JobSpec;
use crate::ledger;
use crate::schedule::decision::Offer;
use crate::schedule::decision::Victim;
use crate::schedule::source;
use crate::schedule::trial::Trial;
use crate::state::jobs::Job;
use crate::state::queue::Class;
use crate::unit::id::ClassNo;
use crate::unit::id::JobNo;
use crate::unit::id::NodeNo;
use crate::unit::id::QuotaNo;
use crate::unit::ordered::Map;
use crate::unit::sort;
use crate::unit::time::Millis;
use crate::unit::time::Timestamp;

/// When a job can start at the earliest, and on which nodes; nothing if that is not known.
type EarliestStart = Option<(Timestamp, Vec<NodeNo>)>;

/// Whether a reservation binds a job.
enum Binding {
    /// It does not.
    No,
    /// It does, until its holder can start, if that is known.
    Until(Option<Timestamp>),
}

/// The reservations of a round, as far as they were asked for.
#[derive(Clone, Debug, Default)]
pub struct Reservations {
    known: Map<JobNo, EarliestStart>,
    /// Of each quota that was asked for: the first job that has waited too long.
    holders: Map<QuotaNo, Option<JobNo>>,
    /// Jobs that wait for nodes and have waited too long, once asked for.
    for_nodes: Option<Vec<JobNo>>,
}

impl Reservations {
    /// What keeps a job from taking an offer, if anything: a reservation of its quota.
    pub fn blocker(&mut self, trial: &Trial<'_>, no: JobNo, offer: &Offer) -> Option<Blocker> {
        let job = &trial.state.jobs[no];
        if offer.placed.source == Source::Idle {
            return None;
        }
        let quota = job.spec.quota;
        let holder = (*self.holders.or_insert_with(quota, || first_starving(trial, quota)))?;
        let Binding::Until(until) = self.binding(trial, no, holder) else { return None };
        Some(Blocker::Reserved { job: trial.state.jobs[holder].spec.id.clone(), until })
    }

    /// Nodes of an offer that are reserved for others, sorted, and for whom first.
    pub fn forbidden(&mut self, trial: &Trial<'_>, no: JobNo, offer: &Offer) -> Option<(Vec<NodeNo>, Blocker)> {
        if offer.placed.pods.is_empty() {
            return None;
        }
        let holders = self.for_nodes.get_or_insert_with(|| starving_for_nodes(trial)).clone();
        let mut nodes = Vec::new();
        let mut first = None;
        for holder in holders {
            if let Binding::Until(until) = self.binding(trial, no, holder) {
                let reserved = self
                    .known
                    .get(&holder)
                    .and_then(Option::as_ref)
                    .map(|(_, nodes)| nodes.clone())
                    .unwrap_or_default();
                if offer.placed.pods.iter().any(|pod| reserved.contains(&pod.node)) && first.is_none() {
                    first = Some(Blocker::Reserved { job: trial.state.jobs[holder].spec.id.clone(), until });
                }
                nodes.extend(reserved);
            }
        }
        sort::by_key(&mut nodes, |no| *no);
        nodes.dedup();
        first.map(|blocker| (nodes, blocker))
    }

    /// Whether the holder's reservation binds a job.
    fn binding(&mut self, trial: &Trial<'_>, no: JobNo, holder: JobNo) -> Binding {
        let (job, held_by) = (&trial.state.jobs[no], &trial.state.jobs[holder]);
        let is_later = (held_by.waiting_since, &held_by.spec.id) < (job.waiting_since, &job.spec.id);
        if holder == no || !is_later || job.spec.priority > held_by.spec.priority || trial.is_served(holder) {
            return Binding::No;
        }
        let earliest = self.known.or_insert_with(holder, || earliest_start(trial, &held_by.spec));
        let until = earliest.as_ref().map(|(at, _)| *at);
        let ends = job.spec.duration.map(|duration| trial.now + Millis(duration.get().0 - job.progress.saved_ms.0));
        let is_back_in_time = matches!((ends, until), (Some(ends), Some(until)) if ends <= until);
        if is_back_in_time { Binding::No } else { Binding::Until(until) }
    }
}

/// The first job of a quota that has waited too long and may start there one day.
fn first_starving(trial: &Trial<'_>, quota: QuotaNo) -> Option<JobNo> {
    let queue = &trial.state.queue;
    let heads = queue.classes_of(quota).filter_map(|class| starving(trial, &queue.classes[class.at()]));
    heads.min_by(|a, b| {
        let key = |no: &JobNo| {
            let job = &trial.state.jobs[*no];
            (std::cmp::Reverse(job.spec.priority), job.waiting_since, job.spec.id.clone())
        };
        key(a).cmp(&key(b))
    })
}

/// Jobs that have waited too long for nodes, not for their quota.
fn starving_for_nodes(trial: &Trial<'_>) -> Vec<JobNo> {
    let queue = &trial.state.queue;
    // Who waits for room waits for no plain reason.
    let families = queue.of_quota.values().flatten().map(|family| &queue.families[family.at()]);
    let open = families.filter(|family| family.lasting().is_none()).flat_map(|family| queue.members(family));
    let mut classes: Vec<(QuotaNo, ClassNo)> = open.map(|no| (queue.classes[no.at()].key.quota, no)).collect();
    sort::by_key(&mut classes, |class| *class);
    let waits_for_room = |class: &&Class| {
        let binding = class.hold.as_ref().and_then(|hold| hold.binding());
        binding.is_some_and(|attempt| matches!(attempt.blocker, Blocker::NoRoom { .. }))
    };
    let classes = classes.iter().map(|(_, no)| &queue.classes[no.at()]);
    classes.filter(waits_for_room).filter_map(|class| starving(trial, class)).collect()
}

/// The head of a class, if it has waited too long.
fn starving(trial: &Trial<'_>, class: &Class) -> Option<JobNo> {
    let no = class.waiting.first()?;
    let since = trial.state.jobs[no].waiting_since;
    let patience = trial.state.quotas[class.key.quota.at()].settings.starvation_after;
    let is_hopeless = class.hold.as_ref().is_some_and(|hold| hold.is_for_ever());
    let may_hold = class.key.idle != IdlePolicy::Only && !is_hopeless;
    (may_hold && trial.now - since > patience).then_some(no)
}

/// When a job could start if nobody else came: the declared ends of running jobs, one after the other.
fn earliest_start(trial: &Trial<'_>, spec: &JobSpec) -> EarliestStart {
    let state = trial.state;
    if !ledger::fits_when_empty(&state.quotas, &trial.quotas, spec.quota, &spec.shape.gang_amount()) {
        return None;
    }
    let domain = state.domains.of_quota(spec.quota);
    let in_domain = |at: &usize| state.domains.of_quota(QuotaNo::from_index(*at)) == domain;
    let running = (0..state.running.len()).filter(in_domain).flat_map(|at| state.running[at].iter().map(|(_, no)| *no));
    let mut ends: Vec<(Timestamp, JobNo)> =
        running.filter(|no| !trial.is_gone(*no)).filter_map(|no| Some((declared_end(&state.jobs[no])?, no))).collect();
    sort::by_key(&mut ends, |end| *end);
    let mut later = trial.fork();
    for (at, no) in ends {
        later.evict(&Victim::Job(no));
        if let Ok(offer) = source::offer(Source::Own, &later, spec) {
            return Some((at.max(trial.now), offer.placed.pods.iter().map(|pod| pod.node).collect()));
        }
    }
    None
}

/// When a running job ends, if it says so.
fn declared_end(job: &Job) -> Option<Timestamp> {
    let Phase::Running { started, .. } = &job.phase else { return None };
    job.spec.duration.map(|duration| *started + Millis(duration.get().0 - job.progress.saved_ms.0))
}
