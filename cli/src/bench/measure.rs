//! The measurements. Each runs the authority's own step on a copy of the same state; the median of several runs counts.

use std::path::Path;
use std::time::Duration;
use std::time::Instant;

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

use crate::bench::figure::Figure;
use crate::replay;
use crate::session::Session;
use crate::workload::Random;
use crate::workload::Workload;

const RUNS: usize = 7;
/// What is slow is not measured so often.
const ENOUGH: Duration = Duration::from_secs(5);
const COMMANDS: usize = 3000;
const ROUNDS_TO_REST: u32 = 50;

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

/// All figures, the replay's only when the traces are in this folder.
pub fn all(traces: &Path, told: &mut dyn FnMut(&Figure)) -> Result<Vec<Figure>, String> {
    let mut figures = Vec::new();
    let mut add = |figure: Figure| {
        told(&figure);
        figures.push(figure);
    };
    for figure in large()? {
        add(figure);
    }
    let small = judged(SMALL.build()?)?;
    add(Figure::at_most("full round, 1,000 queued, 64 quotas, full", ms(full_round(&small)?), 0.5, "ms"));
    let preemptors = PREEMPTORS.build()?;
    let time = median(&preemptors.state, preemptors.now)?;
    add(Figure::at_most("round, 500 preemptors against 10,000 running jobs, depth 6", ms(time), 20.0, "ms"));
    for figure in philly(traces)? {
        add(figure);
    }
    Ok(figures)
}

/// Everything that is measured on the large cluster, memory first.
fn large() -> Result<Vec<Figure>, String> {
    let empty = Workload { queued: 0, ..LARGE }.build()?;
    let before = replay::figures::status_kib("VmRSS:");
    let session = LARGE.build()?;
    let after = replay::figures::status_kib("VmRSS:");
    drop(empty);
    let mut figures = Vec::new();
    if let (Some(before), Some(after)) = (before, after) {
        let running = Workload { queued: 0, ..LARGE }.full()?.state.jobs.len();
        let bytes = to_float(after.saturating_sub(before)) * 1024.0;
        let jobs = to_float((session.state.jobs.len()) as u64);
        let what = format!("memory of a job, 100,000 queued and {running} running");
        figures.push(Figure::at_most(&what, bytes / jobs, 400.0, "B"));
    }
    let first = median(&session.state, session.now)?;
    let known = judged(session)?;
    let what = "full round, 100,000 queued, 1,000 quotas, 1,250 nodes, full";
    figures.push(Figure::at_most(what, ms(full_round(&known)?), 100.0, "ms"));
    figures.push(Figure::at_most("the same, with every job judged for the first time", ms(first), 100.0, "ms"));
    let nothing = median(&known.state, known.now)?;
    figures.push(Figure::at_most("round, nothing changed, 100,000 jobs", ms(nothing) * 1000.0, 50.0, "us"));
    let command = ms(command_p99(&known)?) * 1000.0;
    figures.push(Figure::at_most("one command with its round at once, p99, 100,000 jobs", command, 20.0, "us"));
    Ok(figures)
}

/// A session that has come to rest: a round that judges everybody concludes nothing new.
fn judged(mut session: Session) -> Result<Session, String> {
    for _ in 0..ROUNDS_TO_REST {
        session.state.queue.is_released = true;
        if session.round().map_err(|rejection| rejection.to_string())?.is_empty() {
            break;
        }
    }
    session.log = Vec::new();
    Ok(session)
}

/// The time of a round that judges every waiting job again.
fn full_round(session: &Session) -> Result<Duration, String> {
    let mut state = session.state.clone();
    state.queue.is_released = true;
    median(&state, session.now)
}

fn round(state: &mut State, now: Timestamp) -> Result<(), String> {
    authority::step(state, &Command::Round(Round::default()), now).map(drop).map_err(|rejection| rejection.to_string())
}

/// The median time of a round, each run on its own copy.
fn median(state: &State, now: Timestamp) -> Result<Duration, String> {
    let mut times = Vec::new();
    while times.len() < RUNS && times.iter().sum::<Duration>() < ENOUGH {
        let mut copy = state.clone();
        let began = Instant::now();
        round(&mut copy, now)?;
        times.push(began.elapsed());
    }
    times.sort_unstable();
    Ok(times[times.len() / 2])
}

/// Submissions, changes of priority and cancellations in turn; the time that 99 of 100 do not exceed.
fn command_p99(session: &Session) -> Result<Duration, String> {
    let mut state = session.state.clone();
    let names: Vec<JobId> =
        session.state.jobs.iter().filter(|(_, job)| job.is_queued()).map(|(_, job)| job.spec.id.clone()).collect();
    let more = Workload { queued: u32::try_from(COMMANDS).unwrap_or(1), seed: 99, ..LARGE };
    let mut submissions = more.submissions("more")?.into_iter();
    let mut random = Random::of(3);
    let mut times = Vec::new();
    for at in 0..COMMANDS {
        let job = names[usize::try_from(random.below(names.len() as u64)).unwrap_or(0)].clone();
        let command = match (at % 3, submissions.next()) {
            (0, Some(submit)) => Command::SubmitJob(submit),
            (1, _) => Command::SetPriority(SetPriority { job, priority: Priority::LOWEST }),
            _ => Command::CancelJob(CancelJob { job }),
        };
        let now = session.now + Millis(i64::try_from(at).unwrap_or(0));
        let began = Instant::now();
        let answer = authority::step(&mut state, &command, now);
        times.push(began.elapsed());
        // A job that was cancelled before cannot be changed any more; that answer counts as well.
        drop(answer);
    }
    times.sort_unstable();
    Ok(times[COMMANDS * 99 / 100])
}

/// The replay in a pool, which is the figure to reach, and on nodes of 8, which is what real clusters have.
fn philly(traces: &Path) -> Result<Vec<Figure>, String> {
    let (jobs, quotas) = (traces.join("philly_week.csv"), traces.join("philly_quotas.csv"));
    if !jobs.exists() || !quotas.exists() {
        return Ok(Vec::new());
    }
    let mut figures = Vec::new();
    for (what, gpus_per_node) in [("in a pool", None), ("on 64 nodes", Some(8))] {
        let setting = replay::machines::Setting { quotas: &quotas, nodes: None, gpus_per_node, has_preemption: true };
        let machines = replay::machines::Machines::read(&setting)?;
        let trace = replay::trace::Trace::read(&jobs, machines.node_gpus, &machines.quotas)?;
        let mut speeds = Vec::new();
        for _ in 0..3 {
            let figures = replay::run::replay(machines.clone(), trace.clone(), false)?;
            speeds.push(figures.job_events_per_s);
        }
        speeds.sort_by(f64::total_cmp);
        let what = format!("replay of the Philly week with preemption, {what}");
        figures.push(Figure::at_least(&what, speeds[1], 1_000_000.0, "events/s"));
    }
    Ok(figures)
}

/// Builds a cluster, and runs exactly one round that judges every waiting job for the first time, in a function of its
/// own that a profiler can single out. On a cluster at rest most reasons are only confirmed, which is not a full round.
pub fn growth_step(jobs: u32, quotas: u32) -> Result<usize, String> {
    let mut session = Workload { quotas, queued: jobs, ..LARGE }.build()?;
    one_full_round(&mut session.state, session.now)
}

/// The round that is counted: `valgrind --tool=callgrind --toggle-collect='*one_full_round*'`.
#[inline(never)]
fn one_full_round(state: &mut State, now: Timestamp) -> Result<usize, String> {
    let events = authority::step(state, &Command::Round(Round::default()), now);
    events.map(|events| events.len()).map_err(|rejection| rejection.to_string())
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

#[expect(clippy::cast_precision_loss, reason = "for people to read")]
fn to_float(value: u64) -> f64 {
    value as f64
}
