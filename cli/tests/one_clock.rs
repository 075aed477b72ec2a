//! A plan and a replay move time in the same way, so the same trace comes to the same in both.
#![expect(clippy::unwrap_used, reason = "a panic is a failed test")]

use std::fmt::Write;
use std::fs;
use std::path::Path;

use engine::host::plan::base::Base;
use engine::host::plan::record::FirstStart;
use engine::host::plan::run::Horizon;
use engine::host::plan::run::Run;
use engine::message::command::Command;
use engine::message::plan::Variant;
use engine::state::world::State;
use engine::transition;
use tidegate::meter::Process;
use tidegate::replay::run;
use trace::jobs::Supply;
use trace::jobs::Trace;
use trace::machines::Machines;
use trace::machines::Setting;
use trace::sheet::Source;

const HEADING: &str = "job_id,submit_s,duration_s,gpus,group,priority,idle,fault_tolerance\n";

/// What both say: who started and finished, the waits of those who started (median, 95 and 99 of 100), evictions and
/// the work that they undid, in GPU-milliseconds.
#[derive(Debug, PartialEq, Eq)]
struct Told {
    started: u64,
    finished: u64,
    waits_ms: [i64; 3],
    evictions: u64,
    lost_gpu_ms: i64,
}

fn source(name: &str, text: &str) -> Source {
    Source { name: name.to_owned(), bytes: text.as_bytes().to_vec() }
}

fn replayed(setting: &Setting<'_>, jobs: &Source) -> Told {
    let (machines, trace) = run::prepare(setting, None, jobs).unwrap();
    let figures = run::replay(machines, trace, &Process::this(), false).unwrap();
    let lost: f64 = figures.rules.values().map(|rule| rule.lost_gpu_hours).sum();
    #[expect(clippy::cast_possible_truncation, reason = "hours were made of whole milliseconds")]
    let lost_gpu_ms = (lost * 3_600_000.0).round() as i64;
    Told {
        started: figures.wait.started,
        finished: figures.finished,
        waits_ms: [figures.wait.p50_ms, figures.wait.p95_ms, figures.wait.p99_ms],
        evictions: figures.rules.values().map(|rule| rule.evictions).sum(),
        lost_gpu_ms,
    }
}

fn planned(setting: &Setting<'_>, jobs: &Source) -> Told {
    let machines = Machines::read(setting).unwrap();
    let mut state = State::default();
    for setup in &machines.setup {
        let events = transition::decide(&state, &setup.command, machines.begin).unwrap();
        transition::apply_all(&mut state, &events);
    }
    state.settle();
    let supply = Supply { node_gpus: machines.node_gpus, quotas: &machines.quotas, offers: None };
    let arrivals = Trace::read(jobs, &supply).unwrap().arrivals;
    let ahead = arrivals.into_iter().map(|arrival| (arrival.at, Command::SubmitJob(arrival.job))).collect();
    let base = Base::new(state, machines.begin, ahead).unwrap();
    let mut plan = Run::new(&base, &Variant::default(), Horizon::Quiet);
    plan.finish();
    let records = &plan.tally.records;
    let wait = |start: FirstStart| if let FirstStart::After(wait) = start { Some(wait.0) } else { None };
    let mut waits: Vec<i64> = records.iter().filter_map(|record| wait(record.first_start)).collect();
    waits.sort_unstable();
    let rank =
        |percent: usize| waits.get((waits.len() * percent).div_ceil(100).saturating_sub(1)).copied().unwrap_or(0);
    Told {
        started: waits.len() as u64,
        finished: records.iter().map(|record| record.account.finished).sum(),
        waits_ms: [rank(50), rank(95), rank(99)],
        evictions: records.iter().map(|record| record.account.evictions).sum(),
        lost_gpu_ms: records.iter().map(|record| record.account.lost_gpu_ms).sum(),
    }
}

/// Holds both against each other, with preemption and without it; how many jobs waited or were evicted.
#[track_caller]
fn compare(what: &str, quotas: &Source, nodes: Option<&Source>, gpus_per_node: Option<i64>, jobs: &Source) -> u64 {
    let mut n_events = 0;
    for has_preemption in [false, true] {
        let setting = Setting { quotas, nodes, gpus_per_node, has_preemption };
        let replayed = replayed(&setting, jobs);
        assert_eq!(planned(&setting, jobs), replayed, "{what}, preemption: {has_preemption}");
        n_events += replayed.evictions + u64::from(replayed.waits_ms[1] > 0);
    }
    n_events
}

/// Lines of a table, with its heading.
fn slice(text: &str, from: usize, count: usize) -> String {
    let mut lines = text.lines();
    let mut slice = format!("{}\n", lines.next().unwrap());
    for line in lines.skip(from).take(count) {
        let _ = writeln!(slice, "{line}");
    }
    slice
}

#[test]
fn real_traces_come_to_the_same_in_a_plan_and_in_a_replay() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/traces");
    let read = |name: &str| fs::read_to_string(folder.join(name));
    let Ok(philly) = read("philly_week.csv") else {
        println!("no real traces are compared: {} is not there", folder.display());
        return;
    };
    let quotas = source("philly_quotas.csv", &read("philly_quotas.csv").unwrap());
    for (from, gpus_per_node) in [(3_000, None), (9_000, Some(8))] {
        let jobs = source("philly.csv", &slice(&philly, from, 1_200));
        compare(&format!("Philly from line {from}"), &quotas, None, gpus_per_node, &jobs);
    }
    let quotas = source("openb_quotas.csv", "group,parent,gpus\nroot,,96\nonline,root,40\nbatch,root,56\n");
    let nodes = source("nodes.csv", &slice(&read("openb_nodes.csv").unwrap(), 0, 40));
    let jobs = slice(&read("openb.csv").unwrap(), 2_000, 400);
    compare("openb", &quotas, Some(&nodes), None, &source("openb.csv", &jobs));
}

#[test]
fn random_traces_come_to_the_same_in_a_plan_and_in_a_replay() {
    let quotas = source("quotas.csv", "group,parent,gpus\nroot,,32\na,root,16\nb,root,12\n");
    let mut n_events = 0;
    for seed in 1..=10_u64 {
        let mut number = seed;
        let mut below = |bound: u64| {
            number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (number >> 33) % bound
        };
        let (mut jobs, mut at) = (HEADING.to_owned(), 0);
        for job in 0..150 {
            at += below(200);
            let (duration, gpus, group) = (1 + below(3_000), 1 + below(8), pick(below(3), &["a", "b", "root"]));
            let (priority, idle) = (1 + below(9), pick(below(3), &["off", "acceptable", "only"]));
            let tolerance = pick(below(2), &["yes", "no"]);
            let _ = writeln!(jobs, "j{job},{at},{duration},{gpus},{group},{priority},{idle},{tolerance}");
        }
        let gpus_per_node = seed.is_multiple_of(2).then_some(8);
        n_events += compare(&format!("seed {seed}"), &quotas, None, gpus_per_node, &source("jobs.csv", &jobs));
    }
    assert!(n_events > 50, "only {n_events} jobs were evicted");
}

/// The word at a place.
fn pick(at: u64, words: &[&'static str]) -> &'static str {
    words[usize::try_from(at).unwrap()]
}
