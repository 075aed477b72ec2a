//! Tables of a trace as the beginning of a plan, and what broken ones are told.

#![expect(clippy::unwrap_used, reason = "a panic is a failed test")]

use std::fmt::Write;

use planner::page::import::LINES_MAX;
use planner::page::message::Ask;
use planner::page::message::Ended;
use planner::page::message::LookAhead;
use planner::page::message::Source;
use planner::page::message::Tell;
use planner::page::session::Session;

const QUOTAS: &str = "group,parent,gpus\nroot,,16\na,root,8\nb,root,8\n";
const HEADING: &str = "job_id,submit_s,duration_s,gpus,group,priority\n";

fn open(session: &mut Session, files: &[(&str, &str)]) -> Vec<Tell> {
    for (name, text) in files {
        session.attach((*name).to_owned(), text.as_bytes().to_vec());
    }
    session.ask(Ask::Open { plan: 1, source: Source::Files, look: LookAhead::Usual })
}

fn fault(files: &[(&str, &str)]) -> String {
    match open(&mut Session::default(), files).as_slice() {
        [Tell::Failed { message, .. }] => message.clone(),
        other => panic!("{other:?}"),
    }
}

fn figure(ended: &Ended, label: &str) -> i64 {
    ended.figures.iter().find(|figure| figure.label == label).map(|figure| figure.value).unwrap()
}

fn finished(session: &mut Session) -> Box<Ended> {
    while session.is_busy() {
        for tell in session.work(100) {
            if let Tell::Ran { ended, .. } = tell {
                return ended;
            }
        }
    }
    panic!("nothing has ended");
}

#[test]
fn jobs_and_quotas_are_run_to_their_end() {
    let mut session = Session::default();
    let jobs = format!("{HEADING}x,0,100,8,a,1\ny,10,100,8,a,1\nz,20,50,8,b,9\n");
    // The order of the files says nothing.
    let told = open(&mut session, &[("jobs.csv", &jobs), ("quotas.csv", QUOTAS)]);
    let [Tell::Opened { facts, length: None, .. }] = told.as_slice() else { panic!("{told:?}") };
    assert_eq!((facts.title.as_str(), facts.n_ahead, facts.quotas.len()), ("jobs.csv", 3, 3));
    let ended = finished(&mut session);
    // What ends between two scheduled rounds is free at once.
    let told = ["Jobs finished", "Jobs waiting at the end", "Longest wait"].map(|label| figure(&ended, label));
    assert_eq!((told, ended.refusals), ([3, 0, 90_000], Vec::new()));
}

#[test]
fn jobs_without_quotas_get_some_made_to_measure() {
    let mut session = Session::default();
    let jobs = format!("{HEADING}x,0,100,8,a,1\ny,0,100,24,b,1\nz,100,100,4,b,1\n");
    let told = open(&mut session, &[("jobs.csv", &jobs)]);
    let [Tell::Opened { facts, .. }] = told.as_slice() else { panic!("{told:?}") };
    let amounts: Vec<(&str, i64)> =
        facts.quotas.iter().map(|quota| (quota.quota.as_str(), quota.min["gpu"] / 1000)).collect();
    assert_eq!(amounts, [("all", 32), ("a", 8), ("b", 24)]);
    assert!(facts.remarks[0].contains("each of the 2 groups"), "{:?}", facts.remarks);
    // Whoever is alone in their group can run.
    assert_eq!(figure(&finished(&mut session), "Jobs finished"), 3);
}

#[test]
fn groups_may_be_called_as_they_like_and_bad_names_are_those_of_the_jobs() {
    let mut session = Session::default();
    let jobs = "x,0,100,8,all,1\ny,0,100,8,all-,1\nz,0,100,8,\"a \"\"b\"\", c\",1\n";
    open(&mut session, &[("jobs.csv", &format!("{HEADING}{jobs}"))]);
    assert_eq!(figure(&finished(&mut session), "Jobs finished"), 3);
    let long = "a".repeat(1000);
    let message = fault(&[("jobs.csv", &format!("{HEADING}x,0,100,8,{long},1\n"))]);
    assert!(message.starts_with("jobs.csv, line 2, column group: the value \"aaa"), "{message}");
}

#[test]
fn times_may_count_from_anything() {
    // Seconds since 1970, and one job more than a year later.
    let (begin, late) = (1_760_000_000_i64, 1_760_000_000_i64 + 400 * 86_400);
    let jobs = format!("{HEADING}x,{begin},100,8,a,1\ny,{},100,8,a,1\nz,{late},100,8,a,1\n", begin + 10);
    let mut session = Session::default();
    let told = open(&mut session, &[("jobs.csv", &jobs), ("quotas.csv", QUOTAS)]);
    let [Tell::Opened { facts, .. }] = told.as_slice() else { panic!("{told:?}") };
    assert_eq!((facts.from.0, facts.n_ahead), (begin / 60 * 60_000, 2));
    assert!(facts.remarks.iter().any(|remark| remark.starts_with("1 lines are more than 366 days")), "{facts:?}");
    let ended = finished(&mut session);
    assert_eq!((figure(&ended, "Jobs started"), figure(&ended, "Jobs finished")), (2, 2));
    // It begins with the first of them, and not in 1970.
    assert!((ended.until - ended.from).0 < 20 * 60_000, "{ended:?}");
}

#[test]
fn a_broken_line_is_named_and_leaves_what_is_open() {
    let broken = format!("{HEADING}x,0,100,8,a,1\ny,10,soon,8,a,1\n");
    let message = fault(&[("jobs.csv", &broken), ("quotas.csv", QUOTAS)]);
    assert_eq!(
        message,
        "jobs.csv, line 3, column duration_s: the value \"soon\" cannot be used; write a decimal number with at most three digits after the point"
    );
    let mut session = Session::default();
    let good = format!("{HEADING}x,0,100,8,a,1\n");
    open(&mut session, &[("jobs.csv", &good), ("quotas.csv", QUOTAS)]);
    open(&mut session, &[("jobs.csv", &broken), ("quotas.csv", QUOTAS)]);
    assert_eq!(figure(&finished(&mut session), "Jobs finished"), 1);
}

#[test]
fn what_is_no_trace_says_so() {
    assert!(fault(&[("quotas.csv", QUOTAS)]).starts_with("there is no table of jobs"));
    assert!(fault(&[("list.csv", "name,age\nx,1\n")]).starts_with("list.csv, line 1: no table of a trace"));
    let twice = fault(&[("a.csv", HEADING), ("b.csv", HEADING)]);
    assert_eq!(twice, "a.csv and b.csv are both tables of jobs; leave out one of them");
    let cut = fault(&[("jobs.csv", &format!("{HEADING}x,0,100\n")), ("quotas.csv", QUOTAS)]);
    assert!(cut.contains("line: 2") || cut.contains("line 2"), "{cut}");
    let unknown = fault(&[("jobs.csv", &format!("{HEADING}x,0,100,8,c,1\n")), ("quotas.csv", QUOTAS)]);
    assert!(unknown.starts_with("jobs.csv, line 2, column group: the value \"c\" cannot be used"), "{unknown}");
}

#[test]
fn a_million_jobs_are_refused_with_the_limit() {
    let mut jobs = HEADING.to_owned();
    for number in 0..1_000_000 {
        let _ = writeln!(jobs, "j{number},0,1,1,a,1");
    }
    let message = fault(&[("jobs.csv", &jobs), ("quotas.csv", QUOTAS)]);
    assert!(message.starts_with(&format!("jobs.csv has 1000001 lines, a page reads at most {LINES_MAX}")), "{message}");
}
