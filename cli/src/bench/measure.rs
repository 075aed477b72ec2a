//! The measurements. Each runs the authority's own step on a copy of the same state; the median of several runs counts.

use std::time::Duration;

use engine::host::authority;
use engine::message::command::CancelJob;
use engine::message::command::Command;
use engine::message::command::Round;
use engine::message::command::SetPriority;
use engine::state::world::State;
use engine::unit::id::JobId;
use engine::unit::priority::Priority;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;
use script::session::Session;

use crate::bench::backlog;
use crate::bench::backlog::Trace;
use crate::bench::busy;
use crate::bench::figure::Figure;
use crate::bench::market;
use crate::bench::timing::Bench;
use crate::bench::timing::ENOUGH;
use crate::bench::victims;
use crate::meter::Place;
use crate::workload::Random;
use crate::workload::Workload;

/// Of what is far too slow only a part is measured.
const TOO_LONG: Duration = Duration::from_secs(20);
const COMMANDS: usize = 3000;
const ROUNDS_TO_REST: u32 = 50;
const RELEASES: usize = 1000;
const RELEASES_COUNTED: usize = 100;
const NODES: u32 = 20_000;
const QUOTAS: u32 = 4096;
/// How many registrations are timed together.
const PART: usize = 64;
/// How much less is counted of what is long.
const COUNTED_PART: u32 = 10;
const BIDS: u32 = 10_000;
const OFFERS: u32 = 50;

pub(super) const SMALL: Workload = Workload {
    quotas: 64,
    depth: 3,
    nodes: 125,
    pool_gpus: 0,
    running_gpus_max: 8,
    queued: 1000,
    has_preemption: false,
    seed: 1,
};
pub(super) const LARGE: Workload = Workload { quotas: 1000, depth: 4, nodes: 1250, queued: 100_000, ..SMALL };
const PREEMPTORS: Workload =
    Workload { quotas: 364, depth: 6, nodes: 1250, running_gpus_max: 1, queued: 500, has_preemption: true, ..SMALL };

/// Figures that are measured together, under a name by which they can be chosen.
pub struct Case {
    pub name: &'static str,
    measure: fn(Bench<'_>) -> Result<Vec<Figure>, String>,
}

/// All of them; what they are called does not change.
pub const CASES: [Case; 15] = [
    Case { name: "memory", measure: memory },
    Case { name: "first-round", measure: first_round },
    Case { name: "full-round", measure: large_round },
    Case { name: "nothing", measure: nothing },
    Case { name: "commands", measure: commands },
    Case { name: "releases", measure: releases },
    Case { name: "small-round", measure: small_round },
    Case { name: "preemptors", measure: preemptors },
    Case { name: "market", measure: of_market },
    Case { name: "replay-pool", measure: |bench| backlog::replayed(bench, Trace::Week, None) },
    Case { name: "replay-nodes", measure: |bench| backlog::replayed(bench, Trace::Week, Some(8)) },
    Case { name: "backlog-pool", measure: |bench| backlog::replayed(bench, Trace::Backlog, None) },
    Case {
        name: "backlog-nodes",
        measure: |bench| backlog::replayed(bench, Trace::Backlog, Some(backlog::GPUS_PER_NODE)),
    },
    Case { name: "registration", measure: registration },
    Case { name: "victims", measure: of_victims },
];

/// The figures of the cases of these names, or of all.
pub fn all(bench: Bench<'_>, names: &[String], told: &mut dyn FnMut(&Figure)) -> Result<Vec<Figure>, String> {
    if let Some(unknown) = names.iter().find(|name| !CASES.iter().any(|case| case.name == *name)) {
        let known: Vec<&str> = CASES.iter().map(|case| case.name).collect();
        return Err(format!("{unknown} is not measured; name some of {}", known.join(", ")));
    }
    let mut figures = Vec::new();
    for case in CASES.iter().filter(|case| names.is_empty() || names.iter().any(|name| name == case.name)) {
        for figure in (case.measure)(bench)? {
            told(&figure);
            figures.push(figure);
        }
    }
    Ok(figures)
}

fn memory(bench: Bench<'_>) -> Result<Vec<Figure>, String> {
    let before = bench.meter.held_bytes();
    let session = LARGE.build()?;
    let (Some(before), Some(after)) = (before, bench.meter.held_bytes()) else { return Ok(Vec::new()) };
    Ok(vec![memory_of(bench.meter.place(), before, after, session.state.jobs.len())])
}

fn first_round(bench: Bench<'_>) -> Result<Vec<Figure>, String> {
    let session = LARGE.build()?;
    let what = "the same, with every job judged for the first time";
    let time = median(bench, &session.state, session.now)?;
    Ok(vec![Figure::at_most(what, ms(time), bench.target(100.0, 180.0), "ms")])
}

fn large_round(bench: Bench<'_>) -> Result<Vec<Figure>, String> {
    let what = "full round, 100,000 queued, 1,000 quotas, 1,250 nodes, full";
    let time = full_round(bench, &judged(LARGE.build()?)?)?;
    Ok(vec![Figure::at_most(what, ms(time), bench.target(100.0, 180.0), "ms")])
}

fn nothing(bench: Bench<'_>) -> Result<Vec<Figure>, String> {
    let known = judged(LARGE.build()?)?;
    let time = median(bench, &known.state, known.now)?;
    Ok(vec![Figure::at_most("round, nothing changed, 100,000 jobs", us(time), bench.target(50.0, 100.0), "us")])
}

fn commands(bench: Bench<'_>) -> Result<Vec<Figure>, String> {
    let times = command_times(bench, &judged(LARGE.build()?)?)?;
    let what = "one command with its round at once, p99, 100,000 jobs";
    Ok(vec![Figure::at_most(what, us(rank(&times, 99)), bench.target(20.0, 40.0), "us").of(times.len())])
}

fn releases(bench: Bench<'_>) -> Result<Vec<Figure>, String> {
    let times = release_times(bench, judged(LARGE.build()?)?)?;
    let figure = |percent: usize| {
        let what = format!("an end beside submissions with its round, p{percent}, 100,000 queued, 1,000 quotas");
        Figure::at_most(&what, us(rank(&times, percent)), bench.target(100.0, 200.0), "us").of(times.len())
    };
    Ok(vec![figure(50), figure(99)])
}

fn small_round(bench: Bench<'_>) -> Result<Vec<Figure>, String> {
    let time = full_round(bench, &judged(SMALL.build()?)?)?;
    Ok(vec![Figure::at_most("full round, 1,000 queued, 64 quotas, full", ms(time), bench.target(0.5, 1.0), "ms")])
}

fn preemptors(bench: Bench<'_>) -> Result<Vec<Figure>, String> {
    let session = PREEMPTORS.build()?;
    let time = median(bench, &session.state, session.now)?;
    let what = "round, 500 preemptors against 10,000 running jobs, depth 6";
    Ok(vec![Figure::at_most(what, ms(time), bench.target(20.0, 35.0), "ms")])
}

fn of_market(bench: Bench<'_>) -> Result<Vec<Figure>, String> {
    let time = scheduled_round(bench, &market::busy(BIDS, OFFERS)?)?;
    let what = "scheduled round, 10,000 bids on 50 offers, each with a new price";
    Ok(vec![Figure::at_most(what, ms(time), bench.target(100.0, 180.0), "ms")])
}

fn registration(bench: Bench<'_>) -> Result<Vec<Figure>, String> {
    let (nodes, quotas) = if bench.is_once { (NODES / COUNTED_PART, QUOTAS / COUNTED_PART) } else { (NODES, QUOTAS) };
    let machines = [busy::empty_group()?, busy::nodes(quotas)?].concat();
    Ok(vec![
        registered(bench, "registering 20,000 nodes", &busy::empty_group()?, &busy::nodes(nodes)?)?,
        registered(bench, "registering 4,096 quotas", &machines, &busy::quotas(quotas)?)?,
    ])
}

/// The same in every place, and long: once is enough.
fn of_victims(bench: Bench<'_>) -> Result<Vec<Figure>, String> {
    match bench.meter.place() {
        Place::Native if !bench.is_once => victims::figures(),
        Place::Native | Place::Wasm => Ok(Vec::new()),
    }
}

/// Natively what a job adds; in Wasm the whole module, since that is what a browser's tab has to hold.
fn memory_of(place: Place, before: u64, after: u64, jobs: usize) -> Figure {
    let running = jobs.saturating_sub(usize::try_from(LARGE.queued).unwrap_or(0));
    let jobs_in_words = format!("100,000 queued and {running} running");
    match place {
        Place::Native => {
            let each = to_float(after.saturating_sub(before)) / to_float(jobs as u64);
            Figure::at_most(&format!("memory of a job, {jobs_in_words}"), each, 400.0, "B")
        }
        Place::Wasm => {
            let all = to_float(after) / 1_000_000.0;
            Figure::at_most(&format!("memory of the module, {jobs_in_words}"), all, 48.0, "MB")
        }
    }
}

/// A session that has come to rest: a round that judges everybody concludes nothing new.
fn judged(mut session: Session) -> Result<Session, String> {
    for _ in 0..ROUNDS_TO_REST {
        session.state.queue.open.everybody = true;
        if session.round().map_err(|rejection| rejection.to_string())?.is_empty() {
            break;
        }
    }
    session.log = Vec::new();
    Ok(session)
}

/// The time of a round that judges every waiting job again.
fn full_round(bench: Bench<'_>, session: &Session) -> Result<Duration, String> {
    let mut state = session.state.clone();
    state.queue.open.everybody = true;
    median(bench, &state, session.now)
}

/// The median time of a round at once.
fn median(bench: Bench<'_>, state: &State, now: Timestamp) -> Result<Duration, String> {
    median_of(bench, state, now, Round::default())
}

/// The median time of the next scheduled round.
fn scheduled_round(bench: Bench<'_>, session: &Session) -> Result<Duration, String> {
    median_of(bench, &session.state, session.now, next_slot(session))
}

pub(super) fn next_slot(session: &Session) -> Round {
    Round { slot: session.state.last_slot.map(|last| last + 1) }
}

/// The median time of a round, each run on its own copy.
fn median_of(bench: Bench<'_>, state: &State, now: Timestamp, round: Round) -> Result<Duration, String> {
    let mut times = Vec::new();
    while times.len() < bench.runs() && times.iter().sum::<Duration>() < ENOUGH {
        let mut copy = state.clone();
        let (events, time) = bench.timed(|| authority::step(&mut copy, &Command::Round(round), now));
        times.push(time);
        events.map_err(|rejection| rejection.to_string())?;
    }
    Ok(rank(&times, 50))
}

/// The time that so many of 100 do not exceed.
fn rank(times: &[Duration], percent: usize) -> Duration {
    let mut times = times.to_vec();
    times.sort_unstable();
    times.get(times.len() * percent / 100).copied().unwrap_or_default()
}

/// Submissions, changes of priority and cancellations in turn.
fn command_times(bench: Bench<'_>, session: &Session) -> Result<Vec<Duration>, String> {
    let mut state = session.state.clone();
    let names: Vec<JobId> =
        session.state.jobs.iter().filter(|(_, job)| job.is_queued()).map(|(_, job)| job.spec.id.clone()).collect();
    let more = Workload { queued: u32::try_from(COMMANDS).unwrap_or(1), seed: 99, ..LARGE };
    let mut submissions = more.submissions("more");
    let mut random = Random::of(3);
    let mut times = Vec::new();
    for at in 0..COMMANDS {
        let job = names[usize::try_from(random.below(names.len() as u64)).unwrap_or(0)].clone();
        let command = match (at % 3, submissions.next().transpose()?) {
            (0, Some(submit)) => Command::SubmitJob(submit),
            (1, _) => Command::SetPriority(SetPriority { job, priority: Priority::LOWEST }),
            _ => Command::CancelJob(CancelJob { job }),
        };
        let now = session.now + Millis(i64::try_from(at).unwrap_or(0));
        let (answer, time) = bench.timed(|| authority::step(&mut state, &command, now));
        times.push(time);
        // A job that was cancelled before cannot be changed any more; that answer counts as well.
        drop(answer);
    }
    Ok(times)
}

/// Ends of running jobs, each with the round that gives away what it held.
fn release_times(bench: Bench<'_>, session: Session) -> Result<Vec<Duration>, String> {
    let Session { mut state, mut now, .. } = session;
    let more = Workload { queued: u32::try_from(RELEASES).unwrap_or(1), seed: 98, ..LARGE };
    let mut times = Vec::new();
    let count = if bench.is_once { RELEASES_COUNTED } else { RELEASES };
    for (command, is_end) in busy::releases(&state, count, more)? {
        if times.iter().sum::<Duration>() > TOO_LONG {
            break;
        }
        now = now + Millis(1);
        let answer = if is_end {
            let (answer, time) = bench.timed(|| authority::step(&mut state, &command, now));
            times.push(time);
            answer
        } else {
            authority::step(&mut state, &command, now)
        };
        answer.map_err(|rejection| rejection.to_string())?;
    }
    Ok(times)
}

/// How long the second commands take, each with its round at once, after the first ones. If that is far too long, it is
/// at least what the first part of them took.
fn registered(bench: Bench<'_>, what: &str, first: &[Command], second: &[Command]) -> Result<Figure, String> {
    let mut session = Session::at(Timestamp(0));
    let mut send = |command: &Command| {
        session.log.clear();
        session.act(command).map_err(|rejection| rejection.to_string())
    };
    first.iter().try_for_each(&mut send)?;
    let (mut spent, mut done) = (Duration::ZERO, 0);
    while done < second.len() && spent < TOO_LONG {
        let part = &second[done..second.len().min(done + PART)];
        let (answer, time) = bench.timed(|| part.iter().try_for_each(&mut send));
        answer?;
        (spent, done) = (spent + time, done + part.len());
    }
    let what = if done < second.len() { format!("{what}, after the first {done}") } else { what.to_owned() };
    Ok(Figure::at_most(&what, spent.as_secs_f64(), bench.target(0.5, 1.0), "s").of(done))
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

fn us(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000_000.0
}

#[expect(clippy::cast_precision_loss, reason = "for people to read")]
fn to_float(value: u64) -> f64 {
    value as f64
}
