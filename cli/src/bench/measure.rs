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

use crate::bench::figure::Figure;
use crate::bench::market;
use crate::meter::Meter;
use crate::meter::Place;
use crate::replay;
use crate::workload::Random;
use crate::workload::Workload;
use trace::sheet::Source;

const RUNS: usize = 7;
/// What is slow is not measured so often.
const ENOUGH: Duration = Duration::from_secs(5);
const COMMANDS: usize = 3000;
const ROUNDS_TO_REST: u32 = 50;
const BIDS: u32 = 10_000;
const OFFERS: u32 = 50;

const SMALL: Workload = Workload {
    quotas: 64,
    depth: 3,
    nodes: 125,
    pool_gpus: 0,
    running_gpus_max: 8,
    queued: 1000,
    has_preemption: false,
    seed: 1,
};
const LARGE: Workload = Workload { quotas: 1000, depth: 4, nodes: 1250, queued: 100_000, ..SMALL };
const PREEMPTORS: Workload =
    Workload { quotas: 364, depth: 6, nodes: 1250, running_gpus_max: 1, queued: 500, has_preemption: true, ..SMALL };

/// The trace that is replayed.
#[derive(Clone, Debug)]
pub struct Philly {
    pub jobs: Source,
    pub quotas: Source,
}

/// All figures, the replay's only with the trace.
pub fn all(meter: &dyn Meter, philly: Option<&Philly>, told: &mut dyn FnMut(&Figure)) -> Result<Vec<Figure>, String> {
    let mut figures = Vec::new();
    let mut add = |figure: Figure| {
        told(&figure);
        figures.push(figure);
    };
    let before = meter.held_bytes();
    let session = LARGE.build()?;
    if let (Some(before), Some(after)) = (before, meter.held_bytes()) {
        add(memory(meter.place(), before, after, session.state.jobs.len()));
    }
    let first = median(meter, &session.state, session.now)?;
    let known = judged(session)?;
    let what = "full round, 100,000 queued, 1,000 quotas, 1,250 nodes, full";
    add(Figure::at_most(what, ms(full_round(meter, &known)?), meter.target(100.0, 180.0), "ms"));
    let what = "the same, with every job judged for the first time";
    add(Figure::at_most(what, ms(first), meter.target(100.0, 180.0), "ms"));
    let nothing = median(meter, &known.state, known.now)?;
    add(Figure::at_most("round, nothing changed, 100,000 jobs", us(nothing), meter.target(50.0, 100.0), "us"));
    let command = us(command_p99(meter, &known)?);
    let what = "one command with its round at once, p99, 100,000 jobs";
    add(Figure::at_most(what, command, meter.target(20.0, 40.0), "us"));
    drop(known);
    let small = ms(full_round(meter, &judged(SMALL.build()?)?)?);
    add(Figure::at_most("full round, 1,000 queued, 64 quotas, full", small, meter.target(0.5, 1.0), "ms"));
    let preemptors = PREEMPTORS.build()?;
    let time = ms(median(meter, &preemptors.state, preemptors.now)?);
    let what = "round, 500 preemptors against 10,000 running jobs, depth 6";
    add(Figure::at_most(what, time, meter.target(20.0, 35.0), "ms"));
    let what = "scheduled round, 10,000 bids on 50 offers, each with a new price";
    let time = ms(scheduled_round(meter, &market::busy(BIDS, OFFERS)?)?);
    add(Figure::at_most(what, time, meter.target(100.0, 180.0), "ms"));
    for (what, gpus_per_node) in [("in a pool", None), ("on 64 nodes", Some(8))] {
        let Some(philly) = philly else { continue };
        let what = format!("replay of the Philly week with preemption, {what}");
        let speed = replayed(meter, philly, gpus_per_node)?;
        add(Figure::at_least(&what, speed, meter.target(1_000_000.0, 500_000.0), "events/s"));
    }
    Ok(figures)
}

/// Natively what a job adds; in Wasm the whole module, since that is what a browser's tab has to hold.
fn memory(place: Place, before: u64, after: u64, jobs: usize) -> Figure {
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
fn full_round(meter: &dyn Meter, session: &Session) -> Result<Duration, String> {
    let mut state = session.state.clone();
    state.queue.open.everybody = true;
    median(meter, &state, session.now)
}

/// The median time of a round at once.
fn median(meter: &dyn Meter, state: &State, now: Timestamp) -> Result<Duration, String> {
    median_of(meter, state, now, Round::default())
}

/// The median time of the next scheduled round.
fn scheduled_round(meter: &dyn Meter, session: &Session) -> Result<Duration, String> {
    median_of(meter, &session.state, session.now, next_slot(session))
}

fn next_slot(session: &Session) -> Round {
    Round { slot: session.state.last_slot.map(|last| last + 1) }
}

/// The median time of a round, each run on its own copy.
fn median_of(meter: &dyn Meter, state: &State, now: Timestamp, round: Round) -> Result<Duration, String> {
    let mut times = Vec::new();
    while times.len() < RUNS && times.iter().sum::<Duration>() < ENOUGH {
        let mut copy = state.clone();
        let began = meter.now();
        let events = authority::step(&mut copy, &Command::Round(round), now);
        times.push(meter.since(began));
        events.map_err(|rejection| rejection.to_string())?;
    }
    times.sort_unstable();
    Ok(times[times.len() / 2])
}

/// Submissions, changes of priority and cancellations in turn; the time that 99 of 100 do not exceed.
fn command_p99(meter: &dyn Meter, session: &Session) -> Result<Duration, String> {
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
        let began = meter.now();
        let answer = authority::step(&mut state, &command, now);
        times.push(meter.since(began));
        // A job that was cancelled before cannot be changed any more; that answer counts as well.
        drop(answer);
    }
    times.sort_unstable();
    Ok(times[COMMANDS * 99 / 100])
}

/// Job events a second: in a pool, which is the figure to reach, or on nodes, which is what real clusters have.
fn replayed(meter: &dyn Meter, philly: &Philly, gpus_per_node: Option<i64>) -> Result<f64, String> {
    let setting = trace::machines::Setting { quotas: &philly.quotas, nodes: None, gpus_per_node, has_preemption: true };
    let (machines, trace) = replay::run::prepare(&setting, None, &philly.jobs)?;
    let mut speeds = Vec::new();
    for _ in 0..3 {
        let figures = replay::run::replay(machines.clone(), trace.clone(), meter, false)?;
        speeds.push(figures.job_events_per_s);
    }
    speeds.sort_by(f64::total_cmp);
    Ok(speeds[1])
}

/// What grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Growing {
    /// Waiting jobs, and quotas.
    Jobs,
    /// Bids, and offers.
    Bids,
}

/// A cluster of a size whose next round has everything to do: judge every waiting job for the first time, since on a
/// cluster at rest most reasons are only confirmed; or move every offer's price.
pub fn growth_cluster(growing: Growing, count: u32, among: u32) -> Result<Session, String> {
    match growing {
        Growing::Jobs => Workload { quotas: among, queued: count, ..LARGE }.build(),
        Growing::Bids => market::busy(count, among),
    }
}

/// That round, in a function of its own that a counter of instructions can single out; tells how many events it made.
/// Where there are offers it is a scheduled one: no other moves a price.
#[inline(never)]
pub fn one_full_round(session: &mut Session) -> Result<usize, String> {
    let round = Command::Round(next_slot(session));
    let events = authority::step(&mut session.state, &round, session.now);
    events.map(|events| events.len()).map_err(|rejection| rejection.to_string())
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
