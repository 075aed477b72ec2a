//! No ping-pong: rounds without new commands come to rest, and nobody starts to be evicted at once (rules 5.7).
//!
//! A restart does not make a new job of one that was evicted. What ends a quiet time is the end of a job's own work,
//! and on the market a price.

use std::collections::BTreeMap;

use engine::host::authority;
use engine::job::cause::Cause;
use engine::job::hold::Blocker;
use engine::job::phase::Outcome;
use engine::job::phase::Phase;
use engine::job::run::RunStep;
use engine::message::command::Command;
use engine::message::command::Observation;
use engine::message::command::Report;
use engine::message::command::Round;
use engine::message::event::Event;
use engine::state::cluster::Execution;
use engine::state::jobs::Job;
use engine::state::world::State;
use engine::transition::apply;
use engine::unit::id::JobNo;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;

use crate::history::seeds;
use crate::policy::beneficiary;
use crate::random::Random;
use crate::run::Run;

const STARTS: u64 = 700;
const ROUNDS: i64 = 1_000;
const HISTORIES: u64 = 300;
const COMMANDS: usize = 80;

/// A random run of which half the seeds know no end of own work.
fn next(run: &mut Run, is_quiet: bool) -> (Timestamp, Command) {
    let (now, mut command) = run.next();
    if let Command::SubmitJob(submit) = &mut command
        && is_quiet
    {
        submit.duration_ms = None;
    }
    (now, command)
}

/// The next scheduled round; in reported execution, who was told to stop has done so before.
fn round(state: &mut State, now: Timestamp) -> Vec<Event> {
    let mut events = Vec::new();
    if state.cluster.execution == Execution::Reported {
        let unconfirmed = state.jobs.iter().filter(|(_, job)| job.is_unconfirmed());
        let unconfirmed: Vec<_> = unconfirmed.map(|(_, job)| (job.spec.id.clone(), job.run_no())).collect();
        for (job, run) in unconfirmed {
            let report = Command::Report(Report { job, run, observed: Observation::Confirmed });
            events.extend(authority::step(state, &report, now).unwrap_or_default());
        }
        let is_stopping = |phase: &Phase| matches!(phase, Phase::Stopping(_));
        let stopping = state.jobs.iter().filter(|(_, job)| is_stopping(&job.phase));
        let stopping: Vec<_> = stopping.map(|(_, job)| (job.spec.id.clone(), job.run_no())).collect();
        for (job, run) in stopping {
            let report = Command::Report(Report { job, run, observed: Observation::Stopped });
            events.extend(authority::step(state, &report, now).unwrap_or_default());
        }
    }
    let slot = Some(state.last_slot.unwrap_or(0) + 1);
    events.extend(authority::step(state, &Command::Round(Round { slot }), now).unwrap());
    events
}

/// Whether somebody's own work has ended.
fn is_end_of_work(event: &Event) -> bool {
    if let Event::Run { step, .. } = event {
        return matches!(**step, RunStep::Halted { .. });
    }
    matches!(event, Event::Ended { outcome: Outcome::Succeeded | Outcome::Failed { .. } | Outcome::Cancelled, .. })
}

#[test]
fn nobody_is_evicted_twice_while_nothing_new_happens() {
    let (mut n_evicted, mut n_restarted, mut n_ends) = ([0, 0], 0, 0);
    for seed in seeds(STARTS) {
        let mut random = Random::new(!seed);
        let is_quiet = seed % 2 == 0;
        let mut run = Run::new(seed);
        for _ in 0..run.layout.setup.len() + 20 + random.index(60) {
            let (now, command) = next(&mut run, is_quiet);
            let _ = authority::step(&mut run.state, &command, now);
        }
        let mut evicted: BTreeMap<JobNo, Event> = BTreeMap::new();
        for at in 0..ROUNDS {
            run.now = run.now + Millis(random.pick(&[1_000, 30_000, 60_000, 60_000, 60_000, 600_000]));
            for event in round(&mut run.state, run.now) {
                if is_end_of_work(&event) {
                    n_ends += 1;
                    evicted.clear();
                }
                if let Event::Started { job, .. } = &event {
                    n_restarted += i32::from(evicted.contains_key(job));
                }
                if let Event::Evicted { job, .. } = &event {
                    n_evicted[usize::from(!is_quiet)] += 1;
                    if let Some(before) = evicted.insert(*job, event.clone()) {
                        panic!("seed {seed}, round {at}: {before:?}\nand again {event:?}");
                    }
                }
            }
        }
    }
    println!("{n_evicted:?} evictions, quiet and not, {n_restarted} restarts after them, {n_ends} ends");
    assert!(n_evicted[0] + n_evicted[1] > 0, "nobody was evicted");
}

/// What was different in a round from the one before, beside its time.
#[derive(Debug, Default)]
struct Counts {
    evicted: u32,
    just_started: u32,
    looked_at: u32,
    ends: u32,
    protections: u32,
    backoffs: u32,
    prices: u32,
    /// The job runs in a sibling that does not lend.
    no_lenders: u32,
    /// The heir was kept out by a reservation, and a start was confirmed, whose declared end moved with that.
    confirmations: u32,
    /// The heir was kept out by a reservation, and somebody else has waited too long as well since, to whom it passes.
    passed_on: u32,
}

/// Who was evicted for whom in the second of two rounds, and what happened in it before.
struct Evicted<'e> {
    job: JobNo,
    heir: JobNo,
    cause: &'e Cause,
    events: &'e [Event],
}

/// Whether a job runs in a sibling that does not lend: what that one leaves idle is not for self-level preemption, and
/// what its jobs hold is.
fn is_of_no_lender(state: &State, job: JobNo, heir: JobNo) -> bool {
    let quota = state.jobs[job].spec.quota;
    quota != state.jobs[heir].spec.quota && !state.quotas[quota.at()].settings.lends
}

/// Whether the last reason that was told to a waiting job is somebody's reservation.
fn is_kept_out(state: &State, no: JobNo) -> bool {
    let hold = state.jobs[no].class.and_then(|class| state.queue.classes[class.at()].hold.as_ref());
    hold.is_some_and(|hold| hold.attempts.iter().any(|attempt| matches!(attempt.blocker, Blocker::Reserved { .. })))
}

/// Whether an agent has told that a job runs which says how long it takes: its declared end counts from there.
fn moves_an_end(state: &State, event: &Event) -> bool {
    let Event::Run { job, step, .. } = event else { return false };
    matches!(**step, RunStep::Confirmed) && state.jobs[*job].spec.duration.is_some()
}

/// A round and the one after it.
struct Pair {
    before: Timestamp,
    events: Vec<Event>,
    /// Who waited when a job started in the first of them, by the job that started.
    waiting: BTreeMap<JobNo, Vec<JobNo>>,
    /// What has happened since that start.
    since: BTreeMap<JobNo, Vec<Event>>,
}

impl Pair {
    /// Goes through what happened in a round, from the state before it.
    fn of(before: &State, events: &[Event], at: Timestamp) -> Self {
        let mut pair = Self { before: at, events: events.to_vec(), waiting: BTreeMap::new(), since: BTreeMap::new() };
        let mut state = before.clone();
        for event in events {
            for since in pair.since.values_mut() {
                since.push(event.clone());
            }
            apply(&mut state, event);
            if let Event::Started { job, .. } = event {
                let is_waiting = |phase: &Phase| matches!(phase, Phase::Queued { not_before: None });
                let waiting = state.jobs.iter().filter(|(_, job)| is_waiting(&job.phase)).map(|(no, _)| no);
                pair.waiting.insert(*job, waiting.collect());
                pair.since.insert(*job, Vec::new());
            }
        }
        pair
    }

    fn text(&self, job: JobNo, heir: JobNo, state: &State, events: &[Event]) -> String {
        let (job_is, heir_is) = (&state.jobs[job], &state.jobs[heir]);
        format!("{job_is:?}\nfor {heir_is:?}\nfirst {:?}\nafter {:?}\nthen {events:?}", self.events, self.since[&job])
    }

    /// Whether a job that waits has waited too long in the second round and had not in the first.
    fn loses_patience(&self, state: &State, job: &Job, now: Timestamp) -> bool {
        let until = job.waiting_since + state.quotas[job.spec.quota.at()].settings.starvation_after;
        matches!(job.phase, Phase::Queued { .. }) && self.before <= until && until < now
    }

    /// Whether one of the events explains that a job which started in the first round is evicted in the second.
    fn explains(&self, evicted: &Evicted<'_>, state: &State, now: Timestamp, counts: &mut Counts) -> bool {
        let Evicted { job, heir, cause, events } = *evicted;
        let since = || self.since[&job].iter().chain(events);
        let is_end = |event: &Event| is_end_of_work(event) || matches!(event, Event::Stopped { .. });
        let is_unprotected = |no: &JobNo| {
            let Phase::Running { started, .. } = &state.jobs[*no].phase else { return false };
            let protection = state.quotas[state.jobs[*no].spec.quota.at()].settings.min_runtime;
            let end = *started + protection;
            protection > Millis::ZERO && end > self.before && end <= now
        };
        let running: Vec<JobNo> = state.jobs.iter().filter(|(_, it)| !it.bids()).map(|(no, _)| no).collect();
        let count = if since().any(is_end) {
            &mut counts.ends
        } else if running.iter().any(is_unprotected) {
            &mut counts.protections
        } else if since().any(|event| matches!(event, Event::Returned { .. })) {
            &mut counts.backoffs
        } else if since().any(|event| matches!(event, Event::Priced { .. })) {
            &mut counts.prices
        } else if matches!(cause, Cause::SelfLevel { .. }) && is_of_no_lender(state, job, heir) {
            &mut counts.no_lenders
        } else if is_kept_out(state, heir) && events.iter().any(|event| moves_an_end(state, event)) {
            &mut counts.confirmations
        } else if is_kept_out(state, heir) && state.jobs.iter().any(|(_, job)| self.loses_patience(state, job, now)) {
            &mut counts.passed_on
        } else {
            return false;
        };
        *count += 1;
        true
    }
}

#[test]
fn nobody_starts_to_be_evicted_in_the_next_round_for_who_waited_then() {
    let mut counts = Counts::default();
    for seed in seeds(HISTORIES) {
        let mut random = Random::new(seed ^ 0x0b1e);
        let is_quiet = seed % 2 == 0;
        let mut run = Run::new(seed);
        for at in 0..run.layout.setup.len() + COMMANDS {
            let (mut now, command) = next(&mut run, is_quiet);
            let mut before = run.state.clone();
            let Ok(mut events) = authority::step(&mut run.state, &command, now) else { continue };
            if at < run.layout.setup.len() {
                continue;
            }
            let mut state = run.state.clone();
            for _ in 0..4 {
                let pair = Pair::of(&before, &events, now);
                before = state.clone();
                now = now + Millis(random.pick(&[1_000, 30_000, 60_000, 60_000, 600_000]));
                events = round(&mut state, now);
                for (place, event) in events.iter().enumerate() {
                    let Event::Evicted { job, cause, .. } = event else { continue };
                    counts.evicted += 1;
                    counts.just_started += u32::from(pair.waiting.contains_key(job));
                    let Some(heir) = beneficiary(cause).and_then(|id| state.jobs.find(id)) else { continue };
                    if !pair.waiting.get(job).is_some_and(|waiting| waiting.contains(&heir)) {
                        continue;
                    }
                    counts.looked_at += 1;
                    let evicted = Evicted { job: *job, heir, cause, events: &events[..place] };
                    let is_explained = pair.explains(&evicted, &before, now, &mut counts);
                    assert!(
                        is_explained,
                        "seed {seed}, command {at} at {}: {event:?}\n{}",
                        now.0,
                        pair.text(*job, heir, &before, &events)
                    );
                }
            }
        }
    }
    println!("{counts:?}");
    assert!(counts.evicted > 0, "{counts:?}");
}
