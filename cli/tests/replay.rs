//! Traces: what a small one comes to, and what a broken one is told.
#![expect(clippy::unwrap_used, reason = "a panic is a failed test")]

use std::fs;
use std::path::PathBuf;

use tidegate::meter::Process;
use tidegate::replay::figures::Figures;
use tidegate::replay::run;
use trace::machines::Setting;
use trace::sheet::Source;

const QUOTAS: &str = "group,parent,gpus\nroot,,16\na,root,8\nb,root,8\n";
const HEADING: &str = "job_id,submit_s,duration_s,gpus,group,priority,idle,fault_tolerance\n";

/// A folder of its own for each test.
fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn replay(name: &str, quotas: &str, jobs: &str, gpus_per_node: Option<i64>) -> Result<Figures, String> {
    let folder = folder(name);
    let (quota_file, job_file) = (folder.join("quotas.csv"), folder.join("jobs.csv"));
    fs::write(&quota_file, quotas).unwrap();
    fs::write(&job_file, jobs).unwrap();
    let (quotas, jobs) = (Source::open(&quota_file)?, Source::open(&job_file)?);
    let setting = Setting { quotas: &quotas, nodes: None, gpus_per_node, has_preemption: true };
    let (machines, trace) = run::prepare(&setting, None, &jobs)?;
    run::replay(machines, trace, &Process::this(), false)
}

#[track_caller]
fn check_complaint(name: &str, row: &str, expected: &[&str]) {
    let problem = replay(name, QUOTAS, &format!("{HEADING}{row}\n"), None).unwrap_err();
    for part in expected {
        assert!(problem.contains(part), "{part:?} is not in {problem:?}");
    }
}

#[test]
fn jobs_run_one_after_the_other() {
    let jobs = format!("{HEADING}x,0,100,8,a,1,off,no\ny,10,100,8,a,1,off,no\n");
    let figures = replay("in_turn", QUOTAS, &jobs, None).unwrap();
    assert_eq!((figures.started, figures.finished, figures.waiting_at_end), (2, 2, 0));
    assert_eq!((figures.wait.p50_ms, figures.wait.p99_ms), (0, 90_000));
    assert_eq!(figures.span_s, 200);
    assert!((figures.gpu_use - 0.5).abs() < 0.001, "{}", figures.gpu_use);
}

#[test]
fn a_lender_takes_its_gpus_back() {
    let jobs = format!("{HEADING}x,0,3600,8,b,1,only,yes\nz,0,7200,8,b,1,off,no\ny,1800,60,8,a,1,off,no\n");
    let figures = replay("reclaim", QUOTAS, &jobs, Some(8)).unwrap();
    let rule = &figures.rules["reclaim"];
    assert_eq!(rule.evictions, 1);
    assert!((rule.lost_gpu_hours - 4.0).abs() < 0.001, "{}", rule.lost_gpu_hours);
    assert_eq!(figures.finished, 3);
}

#[test]
fn a_large_job_takes_whole_nodes() {
    let jobs = format!("{HEADING}x,0,60,16,root,1,off,no\n");
    let figures = replay("large", "group,parent,gpus\nroot,,16\n", &jobs, Some(8)).unwrap();
    assert_eq!(figures.finished, 1);
}

#[test]
fn a_bad_number_is_named() {
    check_complaint(
        "number",
        "x,0,1e3,8,a,1,off,no",
        &["jobs.csv, line 2, column duration_s", "\"1e3\"", "decimal number"],
    );
    check_complaint("negative", "x,-5,10,8,a,1,off,no", &["line 2, column submit_s", "\"-5\"", "not negative"]);
}

#[test]
fn a_bad_priority_is_named() {
    check_complaint("priority", "x,0,10,8,a,12,off,no", &["line 2, column priority", "\"12\"", "1 to 9"]);
}

#[test]
fn a_bad_word_is_named() {
    check_complaint("word", "x,0,10,8,a,1,maybe,no", &["column idle", "\"maybe\"", "off, acceptable, only"]);
}

#[test]
fn an_unknown_group_is_named() {
    check_complaint("group", "x,0,10,8,c,1,off,no", &["column group", "\"c\"", "quota file"]);
}

#[test]
fn a_repeated_job_is_named() {
    check_complaint(
        "repeated",
        "x,0,10,8,a,1,off,no\nx,1,10,8,a,1,off,no",
        &["line 3, column job_id", "line 2 has it already"],
    );
}

#[test]
fn a_short_line_is_named() {
    check_complaint("short", "x,0,10", &["jobs.csv", "line: 2"]);
}

#[test]
fn a_missing_column_is_named() {
    let problem = replay("column", QUOTAS, "job_id,submit_s\nx,0\n", None).unwrap_err();
    assert!(problem.contains("there is no column duration_s"), "{problem}");
}

#[test]
fn quotas_that_do_not_add_up_are_named() {
    let quotas = "group,parent,gpus\nroot,,16\na,root,8\nb,root,9\n";
    let problem = replay("sum", quotas, HEADING, None).unwrap_err();
    assert!(problem.contains("quotas.csv, line 4, column gpus: b would need 9 GPUs, root has 8 left"), "{problem}");
}

#[test]
fn a_missing_parent_is_named() {
    let problem = replay("parent", "group,parent,gpus\na,root,8\n", HEADING, None).unwrap_err();
    assert!(problem.contains("line 2, column parent"), "{problem}");
}
