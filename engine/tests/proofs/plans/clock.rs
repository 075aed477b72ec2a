//! A plan's time is a service's: its clock, its alarms, and when there is nothing left to wait for.

use engine::host::authority;
use engine::host::plan::base::Base;
use engine::host::plan::outcome::Outcome;
use engine::host::plan::run::Horizon;
use engine::host::plan::run::Run as Plan;
use engine::host::plan::run::Sent;
use engine::job::phase::Phase;
use engine::message::command::Command;
use engine::message::command::Round;
use engine::message::event::Event;
use engine::message::plan::Variant;
use engine::message::rejection::Rejection;
use engine::state::cluster::Execution;
use engine::state::jobs::Job;
use engine::state::world::State;
use engine::unit::id::JobNo;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;

use crate::history::are_few;
use crate::history::seeds;
use crate::run::Run;

use super::CASES;
use super::Case;
use super::asked_for;
use super::case;
use super::plan_of;

/// When pods of a job have left that were told to, for another job or for anybody: nobody reports in a plan.
fn leave(job: &Job, heir: Option<JobNo>) -> impl Iterator<Item = Timestamp> {
    let orders = job.run.iter().flat_map(|run| &run.leaving);
    orders.filter(move |order| heir.is_none() || order.evicted_for == heir).map(|order| order.until)
}

/// When a service has to look by itself: something is due, and somebody waits whom it could serve, in the queue or for
/// the last of its victims to stop.
fn alarm(state: &State, now: Timestamp) -> Option<Timestamp> {
    let queued = |not_yet: bool| {
        let pause = |phase: &Phase| if let Phase::Queued { not_before } = phase { Some(*not_before) } else { None };
        state.jobs.iter().filter_map(move |(_, job)| pause(&job.phase)).filter(move |pause| pause.is_some() == not_yet)
    };
    let pauses = queued(true).flatten();
    if queued(false).next().is_none() {
        let until = |victim: JobNo, heir: JobNo| match &state.jobs[victim].phase {
            Phase::Stopping(stopping) => Some(stopping.until),
            _ => leave(&state.jobs[victim], Some(heir)).max(),
        };
        let starts = state.jobs.iter().filter_map(|(heir, job)| match &job.phase {
            Phase::Starting { waits_for, .. } => waits_for.iter().filter_map(|victim| until(*victim, heir)).max(),
            _ => None,
        });
        return pauses.chain(starts).map(|at| at.max(now)).min();
    }
    let is_simulated = state.cluster.execution == Execution::Simulated;
    let ends = state.jobs.iter().filter_map(|(_, job)| match &job.phase {
        Phase::Running { started, .. } => {
            let work = job.spec.duration.filter(|_| is_simulated)?.get();
            Some(*started + work - job.progress.saved_ms)
        }
        Phase::Stopping(stopping) => Some(stopping.until),
        Phase::Queued { .. } | Phase::Starting { .. } | Phase::Ended { .. } => None,
    });
    let running = state.jobs.iter().filter(|(_, job)| job.is_running());
    let ends = ends.chain(running.flat_map(|(_, job)| leave(job, None)));
    let holds =
        state.queue.classes.iter().filter(|class| !class.waiting.is_empty()).filter_map(|class| class.hold.as_ref());
    let protected =
        holds.flat_map(|hold| hold.attempts.iter().filter_map(|attempt| attempt.blocker.passes_with_time()));
    pauses.chain(ends).map(|at| at.max(now)).chain(protected.filter(|at| *at > now)).min()
}

/// What happens in a service: a scheduled round every minute, alarms in between, and what people send. Of one moment
/// the scheduled round comes first, then the alarm.
fn lived(case: &Case) -> Vec<Event> {
    let Case { base, variant, until } = case;
    let (mut state, mut now, mut all) = (State::clone(&base.state), base.from, Vec::new());
    let mut slot = (base.from.0.div_euclid(60_000) + 1).max(base.state.last_slot.map_or(i64::MIN, |last| last + 1));
    let mut asked_for = asked_for(case).into_iter().peekable();
    loop {
        let known = [Some(Timestamp(slot * 60_000)), alarm(&state, now), asked_for.peek().map(|(when, _, _)| *when)];
        let (mut at, mut which) =
            known.into_iter().enumerate().filter_map(|(which, at)| Some((at?, which))).min().unwrap();
        if asked_for.peek().is_some_and(|(when, rank, _)| (*when, *rank) == (base.from, 1)) {
            // What is changed right at the beginning is changed before anything else.
            (at, which) = (base.from, 2);
        }
        if at > *until {
            // Somebody looks at the end.
            let last = authority::step(&mut state, &Command::Round(Round::default()), *until).unwrap();
            all.extend(last);
            return all;
        }
        now = at;
        let answer = match which {
            0 => {
                slot += 1;
                authority::step(&mut state, &Command::Round(Round { slot: Some(slot - 1) }), now)
            }
            1 => authority::step(&mut state, &Command::Round(Round::default()), now),
            _ => match asked_for.next().unwrap() {
                (_, 1, mut changes) => loop {
                    match authority::step(&mut state, &plan_of(variant, &changes), now) {
                        Err(Rejection::InPlan { at, .. }) => drop(changes.remove(at as usize)),
                        answer => break answer,
                    }
                },
                (_, _, ahead) => authority::step(&mut state, &base.ahead[ahead[0]].1, now),
            },
        };
        all.extend(answer.into_iter().flatten().filter(|event| !matches!(event, Event::Rounded { .. })));
    }
}

/// A plan leaves out the minutes in which there is nothing to do, and looks at ends nobody waits for when they come.
/// Neither changes anything.
#[test]
fn a_plan_is_what_a_service_with_its_clock_and_alarms_does() {
    let (mut n_events, mut n_rounds, mut n_minutes) = (0, 0, 0);
    for seed in seeds(CASES + 100) {
        let case = case(seed);
        let mut plan = Plan::new(&case.base, &case.variant, Horizon::Until(case.until));
        let mut planned = Vec::new();
        while let Some(step) = plan.step() {
            n_rounds += i64::from(matches!(step.sent, Sent::Round(Some(_))));
            planned.extend(step.answer.into_iter().flatten().filter(|event| !matches!(event, Event::Rounded { .. })));
        }
        let lived = lived(&case);
        let first = planned.iter().zip(&lived).position(|(planned, lived)| planned != lived);
        let first = first.unwrap_or(planned.len().min(lived.len()));
        // Bills of a day that nobody looks after are in the plan's account, and not in its events.
        let is_bill = |event: &Event| matches!(event, Event::Billed { .. });
        assert!(
            planned.len() == first && lived[first..].iter().all(is_bill),
            "seed {seed}, event {first}: {:?} instead of {:?}",
            planned.get(first),
            lived.get(first)
        );
        n_events += planned.len();
        n_minutes += (case.until - case.base.from).0 / 60_000;
    }
    assert!(n_rounds < n_minutes / 2 && (are_few() || n_events > 30_000), "{n_events} {n_rounds} {n_minutes}");
}

#[test]
fn a_plan_until_it_is_quiet_ends() {
    for seed in seeds(300) {
        let Case { base, variant, .. } = case(seed);
        let mut plan = Plan::new(&base, &variant, Horizon::Quiet);
        plan.finish();
        assert!(plan.state().next_wakeup().is_none(), "seed {seed}");
        // An hour later nothing has happened.
        let mut later = plan.state().clone();
        let slot = (plan.now().0 / 60_000).max(later.last_slot.unwrap_or(0));
        for ahead in 1..60 {
            let round = Command::Round(Round { slot: Some(slot + ahead) });
            let mut events = authority::step(&mut later, &round, Timestamp((slot + ahead) * 60_000)).unwrap();
            // Whoever holds instances for ever gets a bill every day.
            events.retain(|event| !matches!(event, Event::Billed { .. } | Event::Rounded { .. }));
            assert_eq!(events, [], "seed {seed}, {ahead} min");
        }
    }
}

#[test]
fn jobs_of_a_reported_cluster_end_after_their_duration() {
    let mut n_finished = 0;
    for seed in seeds(CASES) {
        let run = Run::after(seed, 60);
        if run.state.cluster.execution != Execution::Reported {
            continue;
        }
        let base = Base::new(run.state, run.now, Vec::new()).unwrap();
        let mut plan = Plan::new(&base, &Variant::default(), Horizon::Until(base.from + Millis::DAY));
        plan.finish();
        n_finished += Outcome::of(&plan).all.finished;
        let overdue = plan.state().jobs.iter().filter(|(_, job)| job.is_running() && job.spec.duration.is_some());
        for (no, job) in overdue {
            let record = plan.tally.record(no).unwrap();
            let until = record.started.unwrap_or(base.from) + job.spec.duration.unwrap().get();
            assert!(until + Millis::MINUTE >= plan.now(), "seed {seed}: {}", job.spec.id);
        }
    }
    assert!(are_few() || n_finished > 100, "{n_finished}");
}
