//! A round as a command: its conclusions become events.

use crate::job::cause::Cause;
use crate::job::phase::AfterStop;
use crate::job::phase::Charge;
use crate::job::phase::Outcome;
use crate::job::phase::Phase;
use crate::job::spec::JobSpec;
use crate::job::weight;
use crate::message::command::Round;
use crate::message::event::Event;
use crate::message::rejection::Rejection;
use crate::schedule;
use crate::schedule::decision::Assignment;
use crate::schedule::decision::Decision;
use crate::schedule::decision::Victim;
use crate::schedule::market::Occasion;
use crate::schedule::round::Reach;
use crate::schedule::victims::rule::cause_of;
use crate::schedule::work;
use crate::state::jobs::Job;
use crate::state::world::State;
use crate::transition::stop;
use crate::unit::id::JobNo;
use crate::unit::limit;
use crate::unit::ordered::Set;
use crate::unit::time::Timestamp;

pub(super) fn round(state: &State, command: Round, now: Timestamp) -> Result<Vec<Event>, Rejection> {
    let missed = missed_slots(state, command)?;
    let is_thorough = command.slot.is_some() && state.is_stale(now);
    let reach = if is_thorough { Reach::Everybody } else { Reach::Changed };
    let decisions = schedule::round::round(state, now, reach);
    let mut minutes = Minutes::of(state, now);
    minutes.events.reserve(decisions.len() + usize::from(command.slot.is_some()));
    if command.slot.is_some() {
        minutes.events.push(Event::Rounded { at: now, slot: command.slot, missed });
    }
    for decision in decisions {
        minutes.record(decision);
    }
    let occasion = if command.slot.is_some() { Occasion::Scheduled } else { Occasion::AtOnce };
    for decision in schedule::market::settle(state, now, occasion) {
        minutes.record(decision);
    }
    minutes.events.extend(forget(state));
    Ok(minutes.events)
}

/// The slots that nobody decided before this one; a slot that has been decided is refused.
///
/// # Errors
/// [`Rejection::SlotDone`].
pub fn missed_slots(state: &State, round: Round) -> Result<i64, Rejection> {
    match (round.slot, state.last_slot) {
        (Some(slot), Some(last)) if slot <= last => Err(Rejection::SlotDone { slot, last }),
        (Some(slot), Some(last)) => Ok(slot.saturating_sub(last).saturating_sub(1)),
        (Some(_) | None, _) => Ok(0),
    }
}

/// What a round has concluded so far, as events.
struct Minutes<'s> {
    state: &'s State,
    now: Timestamp,
    served: Set<JobNo>,
    promoted: Set<JobNo>,
    events: Vec<Event>,
}

impl<'s> Minutes<'s> {
    fn of(state: &'s State, now: Timestamp) -> Self {
        Self { state, now, served: Set::new(), promoted: Set::new(), events: Vec::new() }
    }

    fn record(&mut self, decision: Decision) {
        match decision {
            Decision::Serve { job, assignment } => {
                self.served.insert(job);
                self.serve(job, assignment);
            }
            Decision::Grow { job, charge, pods, promoted, victims, cause } => {
                self.promote(promoted);
                for victim in victims {
                    self.give_way(victim, None, cause.as_deref());
                }
                self.events.push(Event::Grown { job, at: self.now, charge, pods });
            }
            Decision::Release { promoted, victims, cause } => {
                self.promote(promoted);
                for victim in victims {
                    self.give_way(victim, None, Some(&cause));
                }
            }
            Decision::Price { offer, price } => self.events.push(Event::Priced { no: offer, at: self.now, price }),
            Decision::Wait { job, hold } => self.events.push(Event::Held { job, at: self.now, jobs: 1, hold }),
            Decision::Hold { class, hold } => {
                let waiting = &self.state.queue.classes[class.at()].waiting;
                let mut still = waiting.iter().filter(|no| !self.served.contains(no));
                if let Some(job) = still.next() {
                    let jobs = u32::try_from(1 + still.count()).unwrap_or(u32::MAX);
                    self.events.push(Event::Held { job, at: self.now, jobs, hold });
                }
            }
        }
    }

    fn promote(&mut self, promoted: Vec<JobNo>) {
        self.promoted.extend(promoted.iter().copied());
        self.events.extend(promoted.into_iter().map(|job| Event::Promoted { job, at: self.now }));
    }

    fn serve(&mut self, job: JobNo, assignment: Assignment) {
        let Assignment { placed, promoted, victims, cause } = assignment;
        self.promote(promoted);
        let mut waits_for = Vec::new();
        for victim in victims {
            waits_for.extend(self.give_way(victim, Some(job), cause.as_deref()));
        }
        let at = self.now;
        self.events.push(if waits_for.is_empty() {
            Event::Started { job, at, placed, is_run: self.state.is_reported(&self.state.jobs[job]) }
        } else {
            Event::Granted { job, at, placed, waits_for }
        });
    }

    /// A victim is told to stop; the job, if it takes time. Pods of elastic jobs stop at once where they are simulated.
    fn give_way(&mut self, victim: Victim, heir: Option<JobNo>, cause: Option<&Cause>) -> Option<JobNo> {
        let (state, now) = (self.state, self.now);
        match victim {
            Victim::Pods(job, pods) => {
                let cause = cause_of(state, job, pods_charge(&state.jobs[job], &pods), cause?);
                let takes_time = state.pods_take_time(job);
                self.events.push(stop::shrunk(state, job, pods, cause, heir, now));
                takes_time.then_some(job)
            }
            Victim::Job(no) => {
                let is_promoted = self.promoted.contains(&no);
                let charge = state.jobs[no].placed().filter(|_| !is_promoted).map_or(Charge::InQuota, |it| it.charge);
                let cause = cause_of(state, no, charge, cause?);
                evict(state, now, no, charge, heir, &cause, &mut self.events).then_some(no)
            }
        }
    }
}

/// What extra pods that go together count against: in quota if one of them does.
fn pods_charge(job: &Job, pods: &[u32]) -> Charge {
    let Phase::Running { extra, .. } = &job.phase else { return Charge::Idle };
    let charges = pods.iter().filter_map(|at| extra.get(*at as usize)).map(|pod| pod.charge);
    charges.max().unwrap_or(Charge::Idle)
}

/// Tells a running job with this charge to stop; whether it takes time.
pub(super) fn evict(
    state: &State,
    now: Timestamp,
    no: JobNo,
    charge: Charge,
    heir: Option<JobNo>,
    cause: &Cause,
    events: &mut Vec<Event>,
) -> bool {
    let job = &state.jobs[no];
    if !job.is_running() {
        return false;
    }
    let grace = state.grace_period(&job.spec);
    let held = state.held_by(no);
    let then = after_stop(&job.spec, charge, job.progress.evictions);
    events.push(Event::Evicted {
        job: no,
        at: now,
        until: now + grace,
        evicted_for: heir,
        cause: Box::new(cause.clone()),
        then: then.clone(),
        lost_gpu_ms: work::gpu_ms(state, &held, work::unsaved_run(state, job, now)),
        saved_gpu_ms: work::gpu_ms(state, &held, work::saved_run(state, job, now)),
        saved_ms: work::saved(state, job, now),
    });
    if state.takes_time(job) {
        return true;
    }
    events.push(stop::stopped(job, no, now, &then, job.progress.evictions + 1));
    false
}

/// What becomes of an evicted job once it has stopped.
fn after_stop(spec: &JobSpec, charge: Charge, evictions: u32) -> AfterStop {
    let comes_back = work::comes_back(spec, charge, evictions);
    if comes_back { AfterStop::Requeue } else { AfterStop::End(Outcome::Preempted) }
}

/// The oldest ended jobs above what is kept.
fn forget(state: &State) -> Option<Event> {
    let mut above = state.ended_weight.checked_sub(limit::ENDED_JOBS_KEPT).filter(|above| *above > 0)?;
    let is_above = |no: &JobNo| {
        let is_above = above > 0;
        above = above.saturating_sub(weight::of(&state.jobs[*no].spec));
        is_above
    };
    Some(Event::Forgotten { jobs: state.ended.iter().map(|(_, no)| *no).take_while(is_above).collect() })
}

#[cfg(test)]
mod tests {
    use crate::host::authority;
    use crate::job::weight;
    use crate::message;
    use crate::state::world::State;
    use crate::unit::limit;
    use crate::unit::time::Timestamp;

    #[test]
    fn of_ended_jobs_that_ask_for_much_fewer_are_kept() {
        let mut state = State::default();
        let mut send = |text: &str| {
            authority::step(&mut state, &message::read(text.as_bytes()).unwrap(), Timestamp(0)).unwrap();
        };
        send(r#"{"create_cluster":{"dimensions":[{"name":"gpu","kind":"gpu"}]}}"#);
        send(r#"{"put_group":{"group":"pool","resource_type":"lingjun","pool":{"gpu":1000}}}"#);
        send(r#"{"create_quota":{"quota":"q","groups":["pool"],"min":{"gpu":1000}}}"#);
        let name = "x".repeat(limit::TEXT_BYTES_MAX);
        for at in 0..1_400 {
            let pods = r#"[{"amount":{"gpu":1000}}]"#;
            send(&format!(r#"{{"submit_job":{{"job":"j{at}","quota":"q","name":"{name}","pods":{pods}}}}}"#));
            send(&format!(r#"{{"cancel_job":{{"job":"j{at}"}}}}"#));
        }
        send(r#"{"round":{}}"#);
        let each = weight::of(&state.jobs.iter().next().unwrap().1.spec);
        assert_eq!(each, 17);
        assert_eq!(state.ended.len() as u64, limit::ENDED_JOBS_KEPT / each);
        assert_eq!(state.jobs.len(), state.ended.len());
    }
}
