//! What an exchange costs: it follows what has changed, and not what goes on.

use agent::message::FORMAT;
use agent::message::RunReport;
use agent::message::RunState;
use agent::message::SyncAnswer;
use agent::message::SyncRequest;
use agent::run::RunId;

use crate::desk::Desk;
use crate::desk::run;
use crate::desk::who;

/// Jobs of one GPU each: one machine has room for one more.
const JOBS: u64 = 7;

#[test]
fn what_goes_on_is_not_read_and_told_again() {
    let mut desk = Desk::new();
    let incarnation = desk.hello("of-n1", "store").expect("it is welcome");
    for job in 0..JOBS {
        desk.submit_of(&format!("job-{job}"), 1, 1, &["sleep", &job.to_string()]);
    }
    let asked = desk.disk.n_asked();
    let (answer, _) = desk.sync("of-n1", Vec::new());
    let begins = desk.disk.n_asked() - asked;
    assert_eq!((answer.want.len() as u64, answer.keep.len(), begins), (JOBS, 0, 2 * JOBS));
    let mut runs: Vec<RunReport> = answer.want.iter().map(|want| run(want.run, &want.job, RunState::Running)).collect();
    desk.sync("of-n1", runs.clone());

    let said = serde_json::to_string(&runs).expect("it is JSON").len() as u64;
    assert!(said <= 100 * JOBS, "{said} bytes");
    let asked = desk.disk.n_asked();
    let (answer, rows) = desk.sync("of-n1", runs.clone());
    assert_eq!((answer.want.len(), answer.keep.len() as u64, rows), (0, JOBS, 0));
    assert_eq!(desk.disk.n_asked() - asked, 0, "nothing that runs is read");
    let told = serde_json::to_string(&answer.keep).expect("it is JSON").len() as u64;
    assert!(told <= 20 * JOBS, "{told} bytes");

    let backwards = desk.sync("of-n1", runs.iter().rev().cloned().collect()).0;
    assert_eq!(backwards.keep, answer.keep, "the order in which runs are named says nothing");

    // What a run executes is looked for first where it has yet to begin.
    desk.submit_of("next", 1, 1, &["sleep", "next"]);
    let next = desk.sync("of-n1", runs.clone()).0.want[0].clone();
    let asked = desk.disk.n_asked();
    let script = desk.cluster.script(&desk.contacts, &who("of-n1"), &next.script).expect("it is read");
    assert_eq!((script.is_some(), desk.disk.n_asked() - asked), (true, 1));
    runs.push(run(next.run, "next", RunState::Running));
    desk.sync("of-n1", runs.clone());

    // One that is not reported as begun is told with everything, the others as before.
    let first = runs.remove(0);
    let (answer, _) = desk.sync("of-n1", runs.clone());
    assert_eq!((answer.want[0].run, answer.keep.len() as u64), (first.run, JOBS));
    runs.insert(0, run(first.run, &first.job, RunState::Prepared));
    let (answer, _) = desk.sync("of-n1", runs.clone());
    assert_eq!((answer.want[0].run, answer.want.len()), (first.run, 1), "it has yet to begin");

    // What only goes on may be named by its number alone, wherever it stands among the others.
    let lives: Vec<RunId> = runs.iter().skip(1).step_by(2).map(|report| report.run).collect();
    let others = || runs.iter().filter(|report| !lives.contains(&report.run)).cloned().collect();
    let brief = SyncRequest { lives: lives.clone(), ..request(incarnation, others()) };
    let (answer, full) = (heard(&mut desk, &brief), heard(&mut desk, &request(incarnation, runs.clone())));
    assert_eq!(answer, full);
    assert_eq!((answer.keep.len() as u64, answer.want.len()), (JOBS, 1));
    let text = serde_json::to_string(&brief.lives).expect("it is JSON").len();
    assert!(text <= 20 * lives.len(), "{text} bytes");

    // An agent of before is told all of it each time.
    let answer = heard(&mut desk, &SyncRequest { keeps: false, ..request(incarnation, runs) });
    assert_eq!((answer.want.len() as u64, answer.keep.len()), (JOBS + 1, 0));
}

fn request(incarnation: u64, runs: Vec<RunReport>) -> SyncRequest {
    SyncRequest {
        format: FORMAT,
        incarnation,
        answered: None,
        nodes: Vec::new(),
        runs,
        lives: Vec::new(),
        keeps: true,
        changes: false,
        offered: Vec::new(),
    }
}

fn heard(desk: &mut Desk, request: &SyncRequest) -> SyncAnswer {
    desk.cluster.sync(&mut desk.contacts, &who("of-n1"), request, desk.now).expect("it is heard").answer
}
