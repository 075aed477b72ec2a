//! Strategies side by side: what differs is the strategy, and the same seeds give the same figures.
#![expect(clippy::unwrap_used, reason = "a panic is a failed test")]

use tidegate::meter::Process;
use tidegate::replay::compare::Asked;
use tidegate::replay::compare::Comparison;
use tidegate::replay::compare::Range;
use tidegate::replay::compare::Strategy;
use tidegate::replay::compare::compare;
use tidegate::replay::jitter::JITTER_MS;
use tidegate::replay::jitter::jittered;
use tidegate::replay::run;
use trace::machines::Setting;
use trace::sheet::Source;

const QUOTAS: &str = "group,parent,gpus\nroot,,16\na,root,8\nb,root,8\n";
const HEADING: &str = "job_id,submit_s,duration_s,gpus,group,priority,idle,fault_tolerance\n";
/// A long job of a; then one of priority 1, and an hour later one of priority 9. One of b comes to take back what
/// has been lent.
const JOBS: &str = "first,200,20000,8,a,5,off,no\nlow,1000,3000,8,a,1,off,no\nhigh,4600,3000,8,a,9,off,no\n\
                    lent,300,9000,8,a,1,only,yes\nowner,3900,1000,8,b,5,off,no\n";

fn staged() -> (run::Stage, trace::jobs::Trace) {
    let source = |name: &str, text: String| Source { name: name.to_owned(), bytes: text.into_bytes() };
    let (quotas, jobs) = (source("quotas", QUOTAS.to_owned()), source("jobs", format!("{HEADING}{JOBS}")));
    let setting = Setting { quotas: &quotas, nodes: None, gpus_per_node: None, has_preemption: false };
    run::prepare(&setting, None, &jobs).unwrap()
}

fn compared(strategies: &[Strategy], seeds: u64) -> Comparison {
    let (stage, trace) = staged();
    let asked = Asked { strategies: strategies.to_vec(), seeds };
    compare(&stage, &trace, &asked, &Process::this()).unwrap()
}

fn values(comparison: &Comparison, about: &str, whose: &str) -> Vec<Range> {
    let row = comparison.rows.iter().find(|row| row.about.starts_with(about) && row.whose == whose).unwrap();
    row.values.iter().map(|range| range.unwrap()).collect()
}

#[test]
fn strategies_differ_in_who_waits() {
    let comparison = compared(&[Strategy::Balance, Strategy::StrictFifo], 5);
    let high = values(&comparison, "Mean wait", "own quota, priority 9");
    let low = values(&comparison, "Mean wait", "own quota, priority 1");
    // Balance lets the more important one go first, strict FIFO the earlier one.
    assert!(high[0].most < high[1].least, "{high:?}");
    assert!(low[1].most < low[0].least, "{low:?}");
}

#[test]
fn what_is_lost_is_told_for_each() {
    let comparison = compared(&[Strategy::Intelligent, Strategy::Balance], 3);
    for (evictions, lost) in values(&comparison, "Evictions", "").iter().zip(values(&comparison, "GPU-hours", "")) {
        assert_eq!((evictions.least, evictions.most), (1.0, 1.0));
        // 8 GPUs for an hour, a minute more or less at either end.
        assert!(lost.least > 7.7 && lost.most < 8.3 && lost.least < lost.most, "{lost:?}");
    }
}

#[test]
fn the_same_seeds_give_the_same() {
    let strategies = [Strategy::Intelligent, Strategy::RoundRobin, Strategy::StrictFifo];
    assert_eq!(compared(&strategies, 4).to_string(), compared(&strategies, 4).to_string());
    let (_, trace) = staged();
    let times = |seed| jittered(&trace, seed).arrivals.iter().map(|arrival| arrival.at).collect::<Vec<_>>();
    assert_ne!(times(0), times(1));
}

#[test]
fn nobody_is_moved_by_more_than_a_minute() {
    let (_, trace) = staged();
    let moved = |seed| {
        let jittered = jittered(&trace, seed);
        assert!(jittered.arrivals.is_sorted_by_key(|arrival| arrival.at));
        let before = |name| trace.arrivals.iter().find(|arrival| arrival.job.job == name).unwrap().at;
        jittered.arrivals.iter().map(|it| (it.at - before(it.job.job.clone())).0).collect::<Vec<_>>()
    };
    let moved: Vec<i64> = (0..50).flat_map(moved).collect();
    let most = i64::try_from(JITTER_MS).unwrap();
    assert!(moved.iter().all(|moved| moved.abs() <= most));
    assert!(moved.iter().any(|moved| *moved > most / 2) && moved.iter().any(|moved| *moved < -most / 2));
}

#[test]
fn it_fits_a_terminal() {
    let strategies = [Strategy::Intelligent, Strategy::Balance, Strategy::RoundRobin, Strategy::StrictFifo];
    let text = compared(&strategies, 2).to_string();
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    for part in ["Intelligent", "Strict FIFO", "idle only, priority 1", "Evictions", "Fairness"] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
}

#[test]
fn medians_and_ranges() {
    let range = |values: &[f64]| Range::of(values.to_vec()).map(|range| (range.least, range.median, range.most));
    assert_eq!(range(&[3.0, 1.0, 8.0]), Some((1.0, 3.0, 8.0)));
    assert_eq!(range(&[4.0, 1.0, 8.0, 2.0]), Some((1.0, 3.0, 8.0)));
    assert_eq!(range(&[]), None);
}
