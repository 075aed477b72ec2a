//! The planner page, `tidegate plan` and `tidegate replay` say the same of the same trace.
#![expect(clippy::unwrap_used, reason = "a panic is a failed test")]

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;

use planner::acts;
use planner::page::import;
use planner::page::message::Ask;
use planner::page::message::LookAhead;
use planner::page::message::Source as From;
use planner::page::message::Tell;
use planner::page::session::Session;
use serde_json::Value;
use tidegate::meter::Process;
use tidegate::replay::run;
use trace::machines::Setting;
use trace::sheet::Source;

const HEADING: &str = "job_id,submit_s,duration_s,gpus,group,priority,idle,fault_tolerance\n";

/// What all say: who started and finished, the waits (median, 95 of 100), evictions and the work that they undid, in
/// GPU-milliseconds.
#[derive(Debug, PartialEq, Eq)]
struct Told {
    started: i64,
    finished: i64,
    waits_ms: [i64; 2],
    evictions: i64,
    lost_gpu_ms: i64,
}

impl Told {
    /// Of the page's figures, by their labels.
    fn of(figure: impl Fn(&str) -> i64) -> Self {
        Self {
            started: figure("Jobs started"),
            finished: figure("Jobs finished"),
            waits_ms: [figure("Wait, half of the jobs at most"), figure("Wait, 95 of 100 at most")],
            evictions: figure("Evictions"),
            lost_gpu_ms: figure("GPU-hours lost"),
        }
    }
}

/// A trace, and what of it stands in files.
struct Case {
    name: String,
    jobs: Source,
    quotas: Source,
    nodes: Option<Source>,
}

fn source(name: &str, text: &str) -> Source {
    Source { name: name.to_owned(), bytes: text.as_bytes().to_vec() }
}

impl Case {
    fn setting(&self, has_preemption: bool) -> Setting<'_> {
        Setting { quotas: &self.quotas, nodes: self.nodes.as_ref(), gpus_per_node: None, has_preemption }
    }

    fn replayed(&self, has_preemption: bool) -> Told {
        let (machines, trace) = run::prepare(&self.setting(has_preemption), None, &self.jobs).unwrap();
        let figures = run::replay(machines, trace, &Process::this(), false).unwrap();
        let lost: f64 = figures.rules.values().map(|rule| rule.lost_gpu_hours).sum();
        let evictions: u64 = figures.rules.values().map(|rule| rule.evictions).sum();
        let number = |count: u64| i64::try_from(count).unwrap();
        #[expect(clippy::cast_possible_truncation, reason = "hours were made of whole milliseconds")]
        let lost_gpu_ms = (lost * 3_600_000.0).round() as i64;
        Told {
            started: number(figures.wait.started),
            finished: number(figures.finished),
            waits_ms: [figures.wait.p50_ms, figures.wait.p95_ms],
            evictions: number(evictions),
            lost_gpu_ms,
        }
    }

    /// The lines that switch on what a replay with preemption begins with.
    fn preemption(&self) -> String {
        let text = String::from_utf8(self.quotas.bytes.clone()).unwrap();
        let rows: Vec<Vec<&str>> = text.lines().skip(1).map(|line| line.split(',').collect()).collect();
        let mut lines = String::new();
        for row in &rows {
            let is_parent = rows.iter().any(|other| other[1] == row[0]);
            let policy = if is_parent { "child-level 1-4" } else { "self-level 6-9 over 1-4" };
            let _ = writeln!(lines, "update {} {policy} DLC,DSW,EAS grace 0s", row[0]);
        }
        lines
    }

    /// What the page's session tells of the trace, and of the trace with preemption.
    fn on_the_page(&self) -> [Told; 2] {
        let mut session = Session::default();
        for file in [&self.jobs, &self.quotas].into_iter().chain(&self.nodes) {
            session.attach(file.name.clone(), file.bytes.clone());
        }
        let told = session.ask(Ask::Open { plan: 1, source: From::Files, look: LookAhead::Usual });
        assert!(matches!(told.as_slice(), [Tell::Opened { .. }]), "{told:?}");
        let base = import::trace(&self.setting(false), None, &self.jobs).unwrap().base;
        let changes = acts::changes(&self.preemption(), &base).unwrap();
        session.ask(Ask::Run { plan: 1, variant: 0, ticket: 0, changes });
        let mut ended = Vec::new();
        while ended.len() < 2 {
            assert!(session.is_busy());
            for tell in session.work(1_000) {
                if let Tell::Ran { ended: one, .. } = tell {
                    ended.push(Told::of(|label| {
                        one.figures.iter().find(|figure| figure.label == label).map(|figure| figure.value).unwrap()
                    }));
                }
            }
        }
        ended.try_into().unwrap()
    }

    /// What the command prints of both.
    fn planned(&self) -> [Told; 2] {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("one_simulation").join(&self.name);
        fs::create_dir_all(&folder).unwrap();
        let write = |name: &str, bytes: &[u8]| {
            fs::write(folder.join(name), bytes).unwrap();
            folder.join(name)
        };
        let mut command = Command::new(env!("CARGO_BIN_EXE_tidegate"));
        command.arg("plan").arg(write("jobs.csv", &self.jobs.bytes));
        command.arg("--quotas").arg(write("quotas.csv", &self.quotas.bytes));
        if let Some(nodes) = &self.nodes {
            command.arg("--nodes").arg(write("nodes.csv", &nodes.bytes));
        }
        command.arg("--change").arg(write("preemption.txt", self.preemption().as_bytes()));
        let output = command.args(["--once", "--json"]).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
        [0, 1].map(|column| {
            let figures = printed["columns"][column]["figures"].as_array().unwrap();
            Told::of(|label| figures.iter().find(|figure| figure["label"] == label).unwrap()["value"].as_i64().unwrap())
        })
    }

    /// Holds all three against each other, with preemption and without it; how many jobs waited or were evicted.
    #[track_caller]
    fn compare(&self) -> i64 {
        let replayed = [self.replayed(false), self.replayed(true)];
        assert_eq!(self.on_the_page(), replayed, "{} on the page", self.name);
        assert_eq!(self.planned(), replayed, "{} by the command", self.name);
        println!("{}: {replayed:?}", self.name);
        replayed.iter().map(|told| told.evictions + i64::from(told.waits_ms[1] > 0)).sum()
    }
}

/// As many nodes of 8 GPUs.
fn nodes_of_eight(count: usize) -> Source {
    let mut table = "sn,gpu\n".to_owned();
    for at in 0..count {
        let _ = writeln!(table, "n{at},8");
    }
    source("nodes.csv", &table)
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
fn real_traces_come_to_the_same_on_the_page_by_the_command_and_in_a_replay() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/traces");
    let read = |name: &str| fs::read_to_string(folder.join(name));
    let (Ok(philly), Ok(openb)) = (read("philly_week.csv"), read("openb.csv")) else {
        println!("skipped: philly_week.csv and openb.csv are not both in {}", folder.display());
        return;
    };
    let case = |name: &str, jobs: &str, quotas: &str, nodes: Option<Source>| {
        let (jobs, quotas) = (source("jobs.csv", jobs), source("quotas.csv", quotas));
        Case { name: name.to_owned(), jobs, quotas, nodes }.compare()
    };
    let quotas = read("philly_quotas.csv").unwrap();
    assert!(case("philly", &philly, &quotas, None) > 1_000);
    case("philly_on_nodes", &slice(&philly, 3_000, 1_200), &quotas, Some(nodes_of_eight(64)));
    let nodes = read("openb_nodes.csv").unwrap();
    let all = source("nodes.csv", &nodes);
    case("openb", &openb, &read("openb_quotas.csv").unwrap(), Some(all));
    // All of them have room at once; on fewer machines they wait.
    let few = nodes_of_eight(2);
    let quotas = "group,parent,gpus\nroot,,16\nonline,root,8\nbatch,root,8\n";
    assert!(case("openb_on_fewer", &slice(&openb, 2_000, 400), quotas, Some(few)) > 0);
}

#[test]
fn random_traces_come_to_the_same_on_the_page_by_the_command_and_in_a_replay() {
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
        let nodes = seed.is_multiple_of(2).then(|| nodes_of_eight(4));
        let (jobs, quotas) = (source("jobs.csv", &jobs), quotas.clone());
        n_events += Case { name: format!("seed_{seed}"), jobs, quotas, nodes }.compare();
    }
    assert!(n_events > 50, "only {n_events} jobs were evicted");
}

/// The word at a place.
fn pick(at: u64, words: &[&'static str]) -> &'static str {
    words[usize::try_from(at).unwrap()]
}
