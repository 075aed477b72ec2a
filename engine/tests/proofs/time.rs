//! Time: what is due at a time happens then, whenever somebody looks (rules 3.1).
//!
//! *A look* here applies what is due and decides nothing. Whether somebody looks once after a day or every minute, the
//! same happens at the same times, and it is what an oracle finds that knows nothing of the engine's timers. With rounds
//! the same holds as long as they decide nothing in between; runs of which that is not so are left out, and counted.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use engine::host::authority;
use engine::job::phase::AfterStop;
use engine::job::phase::Outcome;
use engine::job::phase::Phase;
use engine::job::run::RunStep;
use engine::message::command::CancelJob;
use engine::message::command::Command;
use engine::message::command::Round;
use engine::message::event::Event;
use engine::message::snapshot::Snapshot;
use engine::state::cluster::Execution;
use engine::state::jobs::Job;
use engine::state::world::State;
use engine::transition;
use engine::unit::id::JobNo;
use engine::unit::time::Timestamp;

use crate::history::are_few;
use crate::history::seeds;
use crate::random::Random;
use crate::run::Run;
use crate::run::note;

const CASES: u64 = 600;
const MINUTE: i64 = 60_000;
const DAY: i64 = 86_400_000;

/// A run that is somewhere in its middle; every other one is mostly about its market.
fn in_the_middle(seed: u64) -> Run {
    let mut random = Random::new(seed ^ 0x71e3);
    let mut run = if seed.is_multiple_of(2) { Run::new(seed) } else { Run::on_market(seed) };
    for _ in 0..run.layout.setup.len() + 10 + random.index(70) {
        let _ = run.step();
    }
    // If it comes to that, somebody is waiting for victims to stop.
    let is_heir = |run: &Run| run.state.jobs.iter().any(|(_, job)| matches!(job.phase, Phase::Starting { .. }));
    for _ in 0..80 {
        if is_heir(&run) {
            break;
        }
        let _ = run.step();
    }
    run
}

/// Somebody looks, and decides nothing.
fn look(state: &mut State, now: Timestamp) -> Vec<Event> {
    let mut all = Vec::new();
    loop {
        let events = transition::elapse(state, now);
        if events.is_empty() {
            return all;
        }
        transition::apply_all(state, &events);
        all.extend(events);
    }
}

fn bytes(state: &State) -> Vec<u8> {
    Snapshot::of(state).to_bytes()
}

/// What time has done to somebody.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fate {
    Succeeded,
    Cancelled,
    Stopped {
        back_at: Option<i64>,
    },
    /// It is told to stop, with what follows.
    Halted {
        comes_back: bool,
    },
    PassedOver,
    Started,
    Returned,
    Billed {
        day: i64,
        minutes: i64,
        micros: i64,
    },
}

type Note = (i64, JobNo, Fate);

/// An event of time; nothing for what rounds and people decide.
fn note_of(event: &Event) -> Option<Note> {
    Some(match event {
        Event::Ended { job, at, outcome: Outcome::Succeeded } => (at.0, *job, Fate::Succeeded),
        Event::Ended { job, at, outcome: Outcome::Cancelled } => (at.0, *job, Fate::Cancelled),
        Event::Stopped { job, at, not_before } => (at.0, *job, Fate::Stopped { back_at: not_before.map(|at| at.0) }),
        Event::Started { job, at, .. } => (at.0, *job, Fate::Started),
        Event::Run { job, at, step } => match &**step {
            RunStep::Halted { then, .. } => (at.0, *job, Fate::Halted { comes_back: *then == AfterStop::Requeue }),
            RunStep::PassedOver { .. } => (at.0, *job, Fate::PassedOver),
            _ => return None,
        },
        Event::Returned { job, at } => (at.0, *job, Fate::Returned),
        Event::Billed { job, at, bill } => {
            let fate = Fate::Billed { day: bill.day, minutes: bill.charges.minutes, micros: bill.charges.micros };
            (at.0, *job, fate)
        }
        _ => return None,
    })
}

/// What is going to happen to a job by itself.
#[derive(Clone, Debug)]
enum Life {
    /// It runs until then.
    Runs(i64),
    /// It stops then, and is queued again or not.
    Stops(i64, bool),
    /// It starts when all of these have stopped.
    Inherits(BTreeSet<JobNo>),
    /// It really runs, and is told to stop then; it comes back if nobody had confirmed it.
    Halts(i64, bool),
    /// It may be judged again then.
    Pauses(i64),
}

/// When what really runs is told to stop by itself.
fn halts(state: &State, job: &Job) -> Option<Life> {
    let run = job.run.as_ref()?;
    let left = job.spec.duration.map(|duration| (duration.get().0 - job.progress.saved_ms.0).max(0));
    match run.confirmed {
        None => Some(Life::Halts((run.told + state.cluster.start_within).0, true)),
        Some(confirmed) => left.map(|left| Life::Halts(confirmed.0 + left, false)),
    }
}

/// A run is told to stop. With a service that has done its time go its parts: what runs of them is told to stop as well,
/// and what does not run has ended.
fn halted(state: &State, no: JobNo, comes_back: bool, now: i64, lives: &mut BTreeMap<JobNo, Life>) -> Vec<Note> {
    let mut notes = vec![(now, no, Fate::Halted { comes_back })];
    if comes_back {
        notes.push((now, no, Fate::PassedOver));
        return notes;
    }
    for (part, job) in state.jobs.iter().filter(|(_, job)| job.spec.part_of == no) {
        let life = lives.remove(&part);
        notes.extend(match (&job.phase, life) {
            (Phase::Ended { .. }, _) => None,
            (Phase::Stopping(stopping), _) if stopping.then == AfterStop::End(Outcome::Cancelled) => None,
            (Phase::Stopping(_), _) | (Phase::Running { .. }, Some(Life::Halts(..)) | None) => {
                Some((now, part, Fate::Halted { comes_back: false }))
            }
            (Phase::Queued { .. } | Phase::Starting { .. } | Phase::Running { .. }, _) => {
                Some((now, part, Fate::Cancelled))
            }
        });
    }
    notes
}

/// What has to happen until a time if nobody decides anything, from the phases of the jobs alone.
fn expected(state: &State, until: i64) -> Vec<Note> {
    let is_simulated = state.cluster.execution == Execution::Simulated;
    let end = |no: JobNo, started: i64| {
        let work = state.jobs[no].spec.duration.filter(|_| is_simulated)?.get().0;
        Some(started + work - state.jobs[no].progress.saved_ms.0)
    };
    let mut lives: BTreeMap<JobNo, Life> = BTreeMap::new();
    for (no, job) in state.jobs.iter() {
        let life = match &job.phase {
            Phase::Queued { not_before } => not_before.map(|at| Life::Pauses(at.0)),
            Phase::Starting { waits_for, .. } => Some(Life::Inherits(waits_for.iter().copied().collect())),
            Phase::Running { .. } if !is_simulated && !job.bids() => halts(state, job),
            Phase::Running { started, .. } => end(no, started.0).map(Life::Runs),
            // What really runs has stopped when that is reported.
            Phase::Stopping(_) if !is_simulated && !job.bids() => None,
            Phase::Stopping(stopping) => Some(Life::Stops(stopping.until.0, stopping.then == AfterStop::Requeue)),
            Phase::Ended { .. } => None,
        };
        lives.extend(life.map(|life| (no, life)));
    }
    let mut notes = Vec::new();
    let mut gone: BTreeMap<JobNo, i64> = BTreeMap::new();
    let due = |life: &Life| match life {
        Life::Runs(at) | Life::Stops(at, _) | Life::Halts(at, _) | Life::Pauses(at) => Some(*at),
        Life::Inherits(_) => None,
    };
    while let Some(now) = lives.values().filter_map(due).min().filter(|at| *at <= until) {
        let those: Vec<JobNo> = lives.iter().filter(|(_, life)| due(life) == Some(now)).map(|(no, _)| *no).collect();
        let mut stopped = BTreeSet::new();
        // A service that ends takes its parts along, whatever they were about to do.
        let ends = |no: &&JobNo| matches!(lives.get(*no), Some(Life::Runs(_)));
        let ending: BTreeSet<JobNo> = those.iter().filter(ends).copied().collect();
        for (no, part) in state.jobs.iter().filter(|(_, job)| ending.contains(&job.spec.part_of)) {
            notes.push((now, no, Fate::Cancelled));
            match lives.remove(&no) {
                Some(Life::Pauses(at)) if at == now => notes.push((now, no, Fate::Returned)),
                Some(Life::Runs(_) | Life::Stops(..) | Life::Halts(..) | Life::Inherits(_) | Life::Pauses(_))
                | None => {}
            }
            if matches!(part.phase, Phase::Stopping(_)) && !gone.contains_key(&no) {
                stopped.insert(no);
            }
            gone.insert(no, now);
        }
        for no in those {
            let job = &state.jobs[no];
            match lives.remove(&no) {
                Some(Life::Runs(_)) => {
                    notes.push((now, no, Fate::Succeeded));
                    gone.insert(no, now);
                }
                Some(Life::Stops(_, comes_back)) => {
                    stopped.insert(no);
                    gone.insert(no, now);
                    // 1, 2, 4, ... minutes, and an hour at most; who bids does not pause.
                    let pause = (1..job.progress.evictions).fold(MINUTE, |pause, _| (pause * 2).min(60 * MINUTE));
                    let back_at = (comes_back && job.spec.spot.is_none()).then_some(now + pause);
                    lives.extend(back_at.map(|at| (no, Life::Pauses(at))));
                    notes.push((now, no, Fate::Stopped { back_at }));
                }
                Some(Life::Halts(_, comes_back)) => notes.extend(halted(state, no, comes_back, now, &mut lives)),
                Some(Life::Pauses(_)) => notes.push((now, no, Fate::Returned)),
                Some(Life::Inherits(_)) | None => {}
            }
        }
        let heirs: Vec<JobNo> = lives.keys().copied().collect();
        for heir in heirs {
            let Some(Life::Inherits(waits_for)) = lives.get_mut(&heir) else { continue };
            let before = waits_for.len();
            waits_for.retain(|victim| !stopped.contains(victim));
            if waits_for.is_empty() && before > 0 {
                lives.remove(&heir);
                lives.extend(end(heir, now).map(|at| (heir, Life::Runs(at))));
                notes.push((now, heir, Fate::Started));
            }
        }
    }
    for (no, account) in &state.market.accounts {
        let Some(grant) = account.grant else { continue };
        let (spot, spec) = (state.jobs[*no].spec.spot.as_ref().unwrap(), &state.jobs[*no].spec);
        let offer = &state.market.offers[spot.offer.at()];
        let minute_price = offer.course.price() * i64::from(spec.shape.gang_pods());
        let end = gone.get(no).copied().unwrap_or(i64::MAX);
        // Minute by minute, each on the day on which it begins.
        let mut days: BTreeMap<i64, (i64, i64)> = BTreeMap::new();
        let begin = |minute: i64| grant.started.0 + minute * MINUTE;
        if grant.open.minutes > 0 {
            days.insert(begin(grant.counted - 1).div_euclid(DAY), (grant.open.minutes, grant.open.micros));
        }
        let mut minute = grant.counted;
        while begin(minute) < end.min(until + DAY) {
            let day = days.entry(begin(minute).div_euclid(DAY)).or_default();
            *day = (day.0 + 1, day.1 + minute_price);
            minute += 1;
        }
        let bills = days
            .into_iter()
            .map(|(day, (minutes, micros))| (end.min((day + 1) * DAY), *no, Fate::Billed { day, minutes, micros }));
        notes.extend(bills.filter(|(at, _, _)| *at <= until));
    }
    notes.sort();
    notes
}

/// Whether nodes are silent, so that time may take what runs there. What that comes to has an oracle of its own: `runs`.
fn loses_nodes(state: &State) -> bool {
    state.nodes.iter().any(|node| node.silence.is_some() && !node.is_lost())
}

#[test]
fn one_look_after_a_day_is_a_look_every_minute() {
    let (mut n_fates, mut n_heirs, mut n_bills) = (0, 0, 0);
    for seed in seeds(CASES) {
        let run = in_the_middle(seed);
        let end = Timestamp(run.now.0 + DAY + 12_345);
        let (mut once, mut often) = (run.state.clone(), run.state.clone());
        let at_once = look(&mut once, end);
        let mut one_by_one = Vec::new();
        let mut now = run.now.0 / MINUTE * MINUTE;
        while now < end.0 {
            now = (now + MINUTE).min(end.0);
            one_by_one.extend(look(&mut often, Timestamp(now)));
        }
        assert_eq!(at_once, one_by_one, "seed {seed}");
        assert_eq!(bytes(&once), bytes(&often), "seed {seed}");
        if loses_nodes(&run.state) {
            continue;
        }
        let mut notes: Vec<Note> = at_once.iter().map(|event| note_of(event).unwrap()).collect();
        assert!(notes.is_sorted_by_key(|(at, _, _)| *at), "seed {seed}: {notes:?}");
        notes.sort();
        assert_eq!(notes, expected(&run.state, end.0), "seed {seed}");
        n_fates += notes.len();
        n_heirs += notes.iter().filter(|(_, _, fate)| *fate == Fate::Started).count();
        n_bills += notes.iter().filter(|(_, _, fate)| matches!(fate, Fate::Billed { .. })).count();
    }
    assert!(are_few() || n_fates > 1_500 && n_heirs > 50 && n_bills > 500, "{n_fates} {n_heirs} {n_bills}");
}

/// Everybody who waits is cancelled, so that most rounds find nothing to decide.
#[test]
fn one_round_after_a_day_is_a_round_every_minute_that_decides_nothing() {
    let (mut n_compared, mut n_fates) = (0, 0);
    for seed in seeds(CASES) {
        let mut run = in_the_middle(seed);
        let waiting = run.state.jobs.iter().filter(|(_, job)| job.is_queued());
        let waiting: Vec<_> = waiting.map(|(_, job)| job.spec.id.clone()).collect();
        for job in waiting {
            authority::step(&mut run.state, &Command::CancelJob(CancelJob { job }), run.now).unwrap();
        }
        let slot = (run.now.0 / MINUTE).max(run.state.last_slot.unwrap_or(0)) + 1;
        let round = |state: &mut State, slot: i64| {
            let command = Command::Round(Round { slot: Some(slot) });
            authority::step(state, &command, Timestamp((slot * MINUTE).max(run.now.0))).unwrap()
        };
        let mut often = run.state.clone();
        let one_by_one: Vec<Event> = (0..=1_440).flat_map(|minute| round(&mut often, slot + minute)).collect();
        let is_decided = |event: &Event| note_of(event).is_none() && !matches!(event, Event::Rounded { .. });
        let is_start = |event: &Event| matches!(event, Event::Started { .. });
        let heirs = run.state.jobs.iter().filter(|(_, job)| matches!(job.phase, Phase::Starting { .. })).count();
        if one_by_one.iter().any(is_decided) || one_by_one.iter().filter(|event| is_start(event)).count() > heirs {
            continue;
        }
        let at_once = round(&mut run.state, slot + 1_440);
        let fates = |events: &[Event]| events.iter().filter_map(note_of).collect::<Vec<_>>();
        assert_eq!(fates(&at_once), fates(&one_by_one), "seed {seed}");
        n_compared += 1;
        n_fates += fates(&at_once).len();
    }
    assert!(are_few() || n_compared > 150 && n_fates > 300, "{n_compared} {n_fates}");
}

/// Whatever is due has happened before a command is looked at, and a refused one leaves it due.
#[test]
fn a_late_command_comes_after_what_was_due() {
    let (mut n_late, mut n_refused) = (0, 0);
    for seed in seeds(CASES) {
        let mut random = Random::new(seed ^ 0x1a7e);
        let mut run = in_the_middle(seed);
        for _ in 0..20 {
            let (at, command) = run.next();
            let now = Timestamp(at.0 + random.pick(&[0, 1_000, 40_000, 400_000, 7_300_000, DAY]));
            run.now = now;
            let before = run.state.clone();
            let mut caught_up = run.state.clone();
            let mut elapsed = look(&mut caught_up, now);
            n_late += elapsed.len();
            let outcome = authority::step(&mut run.state, &command, now);
            match authority::step(&mut caught_up, &command, now) {
                Ok(events) => {
                    elapsed.extend(events);
                    assert_eq!(outcome, Ok(elapsed), "{}", note(&run, &command));
                    assert!(run.state == caught_up, "{}", note(&run, &command));
                }
                Err(rejection) => {
                    n_refused += usize::from(!elapsed.is_empty());
                    assert_eq!(outcome, Err(rejection), "{}", note(&run, &command));
                    assert!(run.state == before, "{}", note(&run, &command));
                }
            }
        }
    }
    assert!(are_few() || n_late > 5_000 && n_refused > 200, "{n_late} {n_refused}");
}
