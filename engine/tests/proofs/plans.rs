//! Plans: what is simulated is what the authority would do, and what is told of it adds up.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use engine::host::authority;
use engine::host::plan::apply::application;
use engine::host::plan::base::Base;
use engine::host::plan::difference::Difference;
use engine::host::plan::difference::Verdict;
use engine::host::plan::goal;
use engine::host::plan::goal::Goal;
use engine::host::plan::outcome::Outcome;
use engine::host::plan::record::Record;
use engine::host::plan::run::Horizon;
use engine::host::plan::run::Run as Plan;
use engine::host::plan::run::Sent;
use engine::host::plan::search::Family;
use engine::host::plan::search::Found;
use engine::host::plan::search::Search;
use engine::job::phase::Phase;
use engine::ledger;
use engine::message::FORMAT;
use engine::message::command::ApplyPlan;
use engine::message::command::Command;
use engine::message::command::Round;
use engine::message::envelope::Envelope;
use engine::message::event::Event;
use engine::message::plan::Change;
use engine::message::plan::Variant;
use engine::message::rejection::Rejection;
use engine::message::snapshot::Snapshot;
use engine::state::cluster::Execution;
use engine::state::world::State;
use engine::unit::id::CommandId;
use engine::unit::id::JobId;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;
use sha2::Digest;
use sha2::Sha256;

use crate::history::are_few;
use crate::history::seeds;
use crate::random::Random;
use crate::run::Run;

const CASES: u64 = 1_000;

/// A random base with a variant of it.
struct Case {
    base: Base,
    variant: Variant,
    until: Timestamp,
}

/// Commands that people go on sending: some become changes, the others are known to follow anyway.
fn case(seed: u64) -> Case {
    let mut random = Random::new(seed ^ 0x9a7e);
    let setup = Run::new(seed).layout.setup.len();
    let mut run = Run::after(seed, setup + 10 + random.index(50));
    let from = run.now;
    let state = run.state.clone();
    let (mut changes, mut ahead) = (Vec::new(), Vec::new());
    for _ in 0..30 {
        let (at, command, _) = run.step();
        if matches!(command, Command::Round(_) | Command::CreateCluster(_) | Command::Report(_)) {
            continue;
        }
        if random.chance(50) {
            changes.push(Change { at, command, is_off: random.chance(20) });
        } else {
            ahead.push((at, command));
        }
    }
    // A plan need not be written down in the order of time.
    if changes.len() > 2 && random.chance(50) {
        let last = changes.len() - 1;
        changes.swap(0, last);
    }
    let until = Timestamp((from + Millis(3_600_000)).0.max(run.now.0.min(from.0 + 6 * 3_600_000)));
    Case { base: Base::new(state, from, ahead).unwrap(), variant: Variant { name: String::new(), changes }, until }
}

fn bytes(state: &State) -> Vec<u8> {
    Snapshot::of(state).to_bytes()
}

fn send(state: &mut State, command: Command, now: Timestamp) -> Result<Vec<Event>, Rejection> {
    let id = CommandId::new("it").unwrap();
    let envelope = Envelope { format: FORMAT, id, by: None, base: Some(state.revision), dry_run: false, command };
    authority::handle(state, &envelope, now).map(|receipt| receipt.events)
}

/// All that people send in a case, by time; of one moment the changes first, then what follows anyway.
fn asked_for(case: &Case) -> Vec<(Timestamp, u8, Vec<usize>)> {
    let Case { base, variant, until } = case;
    let mut moments: Vec<(Timestamp, u8, Vec<usize>)> = Vec::new();
    for (at, change) in variant.changes.iter().enumerate().filter(|(_, change)| !change.is_off) {
        let when = change.at.max(base.from);
        match moments.iter_mut().find(|(time, rank, _)| (*time, *rank) == (when, 1)) {
            Some((_, _, group)) => group.push(at),
            None => moments.push((when, 1, vec![at])),
        }
    }
    moments.extend(base.ahead.iter().enumerate().map(|(at, (when, _))| (*when, 2, vec![at])));
    moments.retain(|(when, _, _)| when <= until);
    moments.sort_by_key(|(when, rank, _)| (*when, *rank));
    moments
}

fn plan_of(variant: &Variant, changes: &[usize]) -> Command {
    Command::ApplyPlan(ApplyPlan { commands: changes.iter().map(|at| variant.changes[*at].command.clone()).collect() })
}

#[test]
fn a_plan_is_what_the_authority_does() {
    let (mut n_refused, mut n_events) = (0, 0);
    for seed in seeds(CASES) {
        let case = case(seed);
        let Case { base, variant, until } = &case;
        let before = bytes(&base.state);
        let mut plan = Plan::new(base, variant, Horizon::Until(*until));
        let mut real = Snapshot::of(&base.state).restore().unwrap();
        let mut asked_for = asked_for(&case).into_iter();
        while let Some(step) = plan.step() {
            let command = match &step.sent {
                Sent::Round(slot) => Command::Round(Round { slot: *slot }),
                Sent::Changes(sent) => {
                    let (when, rank, what) = asked_for.next().unwrap();
                    assert_eq!((step.at, 1), (when, rank), "seed {seed}");
                    if *sent != what {
                        // The whole is refused, and all that is left of it is what was not refused.
                        let refused = send(&mut real.clone(), plan_of(variant, &what), when);
                        assert!(matches!(refused, Err(Rejection::InPlan { .. })), "seed {seed}: {refused:?}");
                        let lost: Vec<usize> = what.iter().copied().filter(|at| !sent.contains(at)).collect();
                        let told: Vec<usize> = plan.refused.iter().map(|refusal| refusal.change).collect();
                        assert!(lost.iter().all(|at| told.contains(at)), "seed {seed}");
                        n_refused += lost.len();
                    }
                    plan_of(variant, sent)
                }
                Sent::Ahead(at) => {
                    assert_eq!(asked_for.next(), Some((step.at, 2, vec![*at])), "seed {seed}");
                    base.ahead[*at].1.clone()
                }
            };
            let answer = send(&mut real, command, step.at);
            assert_eq!(step.answer, answer, "seed {seed} at {}", step.at.0);
            n_events += answer.map_or(0, |events| events.len());
        }
        assert_eq!(asked_for.next(), None, "seed {seed}");
        assert_eq!(bytes(plan.state()), bytes(&real), "seed {seed}");
        assert_eq!(ledger::check::difference(plan.state()), None, "seed {seed}");
        assert_eq!(bytes(&base.state), before, "seed {seed}");
    }
    // The cases are not empty. Rounds of minutes in which there is nothing to do are none of them.
    assert!(are_few() || n_refused > 500 && n_events > 30_000, "{n_refused} {n_events}");
}

/// When a service has to look by itself: something is due, and somebody waits whom it could serve.
fn alarm(state: &State, now: Timestamp) -> Option<Timestamp> {
    let queued = |not_yet: bool| {
        let pause = |phase: &Phase| if let Phase::Queued { not_before } = phase { Some(*not_before) } else { None };
        state.jobs.iter().filter_map(move |(_, job)| pause(&job.phase)).filter(move |pause| pause.is_some() == not_yet)
    };
    let pauses = queued(true).flatten();
    if queued(false).next().is_none() {
        return pauses.min();
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
    for seed in seeds(CASES) {
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

/// The same in the stored form that e2e/determinism.test.mjs runs in Wasm.
#[test]
fn plans_are_stored_for_the_other_targets() {
    let mut text = String::new();
    for seed in 0..CASES {
        let Case { base, variant, until } = case(seed);
        let mut plan = Plan::new(&base, &variant, Horizon::Until(until));
        let mut digest = Sha256::new();
        while let Some(step) = plan.step() {
            digest.update(serde_json::to_vec(&step.answer).unwrap());
        }
        digest.update(serde_json::to_vec(&Outcome::of(&plan)).unwrap());
        let sha256 = digest.finalize().iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        });
        let input = serde_json::json!({
            "snapshot": Snapshot::of(&base.state),
            "from": base.from,
            "until": until,
            "ahead": &base.ahead[..],
            "variant": variant,
        });
        writeln!(text, "{}", serde_json::json!({ "seed": seed, "sha256": sha256, "input": input.to_string() }))
            .unwrap();
    }
    fs::write(Path::new(env!("CARGO_TARGET_TMPDIR")).join("plans.jsonl"), text).unwrap();
}

#[test]
fn an_applied_plan_is_its_first_step_and_is_refused_when_the_world_has_moved_on() {
    let mut n_applied = 0;
    for seed in seeds(CASES) {
        let Case { base, mut variant, until } = case(seed);
        // Half of the changes are for now.
        for change in variant.changes.iter_mut().step_by(2) {
            change.at = Timestamp(0);
        }
        let application = application(&base, &variant, CommandId::new("plan").unwrap());
        let mut plan = Plan::new(&base, &variant, Horizon::Until(until));
        let Some(step) = plan.step().filter(|step| matches!(step.sent, Sent::Changes(_))) else { continue };
        let mut real = State::clone(&base.state);
        match authority::handle(&mut real, &application.envelope, base.from) {
            Ok(receipt) => {
                assert_eq!(Ok(receipt.events), step.answer, "seed {seed}");
                assert_eq!(bytes(&real), bytes(plan.state()), "seed {seed}");
                n_applied += 1;
            }
            Err(Rejection::InPlan { .. }) => {
                assert!(!plan.refused.is_empty(), "seed {seed}");
                assert_eq!(bytes(&real), bytes(&base.state), "seed {seed}");
            }
            Err(other) => panic!("seed {seed}: {other}"),
        }
        real.revision += 1;
        let again = authority::handle(&mut real, &application.envelope, base.from);
        assert!(matches!(again, Err(Rejection::MovedOn { .. })), "seed {seed}");
    }
    assert!(are_few() || n_applied > 200, "{n_applied}");
}

#[test]
fn what_is_told_of_a_plan_adds_up() {
    for seed in seeds(CASES) {
        let Case { base, variant, until } = case(seed);
        let mut plan = Plan::new(&base, &variant, Horizon::Until(until));
        let (mut evictions, mut lost, mut saved, mut n_events) = (0, 0, 0, 0);
        while let Some(step) = plan.step() {
            for event in step.answer.into_iter().flatten() {
                n_events += 1;
                if let Event::Evicted { lost_gpu_ms, saved_gpu_ms, .. } = event {
                    evictions += 1;
                    lost += lost_gpu_ms;
                    saved += saved_gpu_ms;
                }
            }
        }
        let outcome = Outcome::of(&plan);
        let all = outcome.all;
        assert_eq!((all.evictions, all.lost_gpu_ms, all.saved_gpu_ms), (evictions, lost, saved), "seed {seed}");
        assert_eq!(outcome.events, n_events, "seed {seed}");
        assert!(all.used_gpu_ms <= outcome.offered_gpu_ms, "seed {seed}: {outcome:?}");
        let queued = plan.state().jobs.iter().filter(|(_, job)| job.is_queued()).count() as u64;
        let starting = plan.tally.records.iter().filter(|record| record.waits_since.is_some()).count() as u64 - queued;
        assert_eq!(all.waiting, queued + starting, "seed {seed}");
        // The timeline and the courses hold the same work as the accounts, but for what rounding takes.
        let spans =
            plan.tally.spans.iter().map(|span| Record::work(span.holding.gpus, span.until - span.holding.since));
        assert_eq!(spans.sum::<i64>(), all.used_gpu_ms, "seed {seed}");
        let work = |courses: &[i64]| {
            let end = (outcome.until - outcome.from).0;
            let length = |at: i64| outcome.interval.0.min(end - at * outcome.interval.0);
            (0..).zip(courses).map(|(at, gpus)| Record::work(*gpus, Millis(length(at)))).sum::<i64>()
        };
        let (used, waited) = outcome
            .courses
            .iter()
            .fold((0, 0), |(used, waited), course| (used + work(&course.used), waited + work(&course.waited)));
        let rounding =
            i64::try_from(outcome.courses.len() * 256 + plan.tally.records.len()).unwrap() * outcome.interval.0 / 1000;
        assert!((used - all.used_gpu_ms).abs() <= rounding, "seed {seed}: {used} {}", all.used_gpu_ms);
        assert!((waited - all.waited_gpu_ms).abs() <= rounding, "seed {seed}: {waited} {}", all.waited_gpu_ms);
    }
}

#[test]
fn nothing_changes_by_not_changing_anything() {
    for seed in seeds(100) {
        let Case { base, mut variant, until } = case(seed);
        variant.changes.iter_mut().for_each(|change| change.is_off = true);
        let run = |variant: &Variant| {
            let mut plan = Plan::new(&base, variant, Horizon::Until(until));
            plan.finish();
            plan
        };
        let difference = Difference::of(&run(&Variant::default()), &run(&variant), 10);
        assert_eq!((difference.changed, difference.winners, difference.losers), (0, 0, 0), "seed {seed}");
        assert!(difference.parties.iter().all(|party| party.verdict == Verdict::Same), "seed {seed}");
    }
}

#[test]
fn steps_can_be_taken_in_any_portions() {
    for seed in seeds(100) {
        let Case { base, variant, until } = case(seed);
        let mut whole = Plan::new(&base, &variant, Horizon::Until(until));
        whole.finish();
        let mut portions = Plan::new(&base, &variant, Horizon::Until(until));
        let mut done = 0;
        while !portions.is_over() {
            portions.advance(7);
            assert!(portions.done() >= done, "seed {seed}");
            done = portions.done();
        }
        assert_eq!((portions.done(), Outcome::of(&portions)), (1000, Outcome::of(&whole)), "seed {seed}");
    }
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

/// What a search finds works, and nothing smaller of its family does.
#[test]
fn a_search_finds_the_smallest_change() {
    let (mut n_found, mut n_nothing, mut n_already) = (0, 0, 0);
    for seed in seeds(CASES) {
        let Case { base, until, .. } = case(seed);
        let waiting = base.state.jobs.iter().find(|(_, job)| job.is_queued() && !job.bids());
        let Some((_, job)) = waiting else { continue };
        let quota = base.state.quotas[job.spec.quota.at()].id.clone();
        let dimension = base.state.cluster.dimensions[0].name.clone();
        let family = if seed % 2 == 0 {
            Family::Amount { quota, from: None, dimension, step: 1_000, at_most: 12_000 }
        } else {
            Family::Priority { job: job.spec.id.clone() }
        };
        let goal = Goal::StartsBy { job: job.spec.id.clone(), by: base.from + Millis(600_000) };
        let none = Variant::default();
        let horizon = Horizon::Until(until);
        let Ok(mut search) = Search::new(&base, &none, horizon, goal.clone(), family) else { continue };
        let mut tried = Vec::new();
        while search.found().is_none() {
            search.advance(50);
            tried.extend(search.member(i64::from(search.tried())));
        }
        tried.dedup();
        let reaches = |command: Option<&Command>| {
            let changes = command.map(|command| Change { at: base.from, command: command.clone(), is_off: false });
            let variant = Variant { name: String::new(), changes: changes.into_iter().collect() };
            let mut plan = Plan::new(&base, &variant, horizon);
            plan.finish();
            goal.verdict(&plan) == goal::Verdict::Met && plan.refused.is_empty()
        };
        match search.found().unwrap() {
            Found::Already => {
                assert!(reaches(None), "seed {seed}");
                n_already += 1;
            }
            Found::Change { command, .. } => {
                assert!(!reaches(None) && reaches(Some(command)), "seed {seed}");
                assert_eq!(tried.last(), Some(command), "seed {seed}");
                let smaller = &tried[..tried.len() - 1];
                assert!(smaller.iter().all(|command| !reaches(Some(command))), "seed {seed}");
                n_found += 1;
            }
            Found::Nothing { .. } => {
                assert!(!reaches(None) && tried.iter().all(|command| !reaches(Some(command))), "seed {seed}");
                n_nothing += 1;
            }
        }
    }
    assert!(are_few() || n_found > 20 && n_nothing > 20 && n_already > 20, "{n_found} {n_nothing} {n_already}");
}

#[test]
fn what_a_search_cannot_look_for_is_refused() {
    let Case { base, until, .. } = case(1);
    let nobody = JobId::new("nobody").unwrap();
    let quota = base.state.live_quotas().next().unwrap().1.id.clone();
    let new = |goal: Goal, family: Family| {
        Search::new(&base, &Variant::default(), Horizon::Until(until), goal, family).err().map(|it| it.to_string())
    };
    let waits = || Goal::WaitsAtMost { quota: quota.clone(), at_most: Millis::HOUR };
    let more = |dimension: &str, step| Family::Amount {
        quota: quota.clone(),
        from: None,
        dimension: dimension.to_owned(),
        step,
        at_most: 10,
    };
    let starts = Goal::StartsBy { job: nobody.clone(), by: until };
    assert_eq!(new(starts, more("gpu", 1)).as_deref(), Some("there is no job nobody"));
    assert_eq!(new(waits(), more("tpu", 1)).as_deref(), Some("there is no dimension tpu"));
    assert_eq!(new(waits(), Family::Priority { job: nobody }).as_deref(), Some("there is no job nobody"));
    let step = new(waits(), more(&base.state.cluster.dimensions[0].name, 0)).unwrap();
    assert!(step.starts_with("the step of the search is 0"), "{step}");
    let largest = new(waits(), more(&base.state.cluster.dimensions[0].name, 11)).unwrap();
    assert!(largest.starts_with("the largest change of the search is 10"), "{largest}");
}

/// A plan of a state is the plan of what is stored of it.
#[test]
fn a_plan_of_a_restored_state_is_the_same() {
    for seed in seeds(CASES) {
        let Case { base, variant, until } = case(seed);
        let restored = Snapshot::of(&base.state).restore().unwrap();
        let restored = Base::new(restored, base.from, base.ahead.to_vec()).unwrap();
        let mut plan = Plan::new(&base, &variant, Horizon::Until(until));
        let mut again = Plan::new(&restored, &variant, Horizon::Until(until));
        while let Some(step) = plan.step() {
            assert_eq!(again.step(), Some(step), "seed {seed}");
        }
        assert_eq!(again.step(), None, "seed {seed}");
    }
}
