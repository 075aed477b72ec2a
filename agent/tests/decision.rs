//! What an agent does about one answer and one listing, case by case. Some of these the simulation's service never asks
//! for: the agent does not rely on that.
#![expect(clippy::unwrap_used, reason = "a panic is a failed test")]
use std::collections::BTreeMap;

use agent::act::Act;
use agent::act::Instead;
use agent::act::Stop;
use agent::agent::Agent;
use agent::agent::Heard;
use agent::agent::UNWANTED_GRACE_MS;
use agent::exit::Exit;
use agent::message::FORMAT;
use agent::message::NodeReport;
use agent::message::NodeStatus;
use agent::message::Pod;
use agent::message::RunState;
use agent::message::StopOrder;
use agent::message::SyncAnswer;
use agent::message::SyncRequest;
use agent::message::Want;
use agent::pods::Change;
use agent::pods::LeaveOrder;
use agent::pods::Place;
use agent::pods::Pods;
use agent::run::RunId;
use agent::run::Version;
use agent::seen::Listing;
use agent::seen::Phase;
use agent::seen::Seen;
use agent::silence::SILENCE_GRACE_MS;

const NOW: u64 = 100_000;

fn run(text: &str) -> RunId {
    RunId::parse(text).unwrap()
}

fn pods(gpus: &[u16]) -> Vec<Pod> {
    vec![Pod { rank: 0, node: "n1".to_owned(), gpus: gpus.to_vec() }]
}

fn want(id: &str, job: &str, gpus: &[u16]) -> Want {
    Want {
        run: run(id),
        job: job.to_owned(),
        pods: pods(gpus),
        world: 1,
        leader: "n1".to_owned(),
        port: 1,
        script: "d".to_owned(),
        stop_after_ms: None,
    }
}

fn answer(revision: u64, want: &[Want]) -> SyncAnswer {
    let version = Version { epoch: 0, revision };
    let (want, keep, stop, forget) = (want.to_vec(), Vec::new(), Vec::new(), Vec::new());
    let (format, interval_ms, offered) = (FORMAT, 1_000, Vec::new());
    SyncAnswer { format, incarnation: 1, version, interval_ms, want, keep, change: Vec::new(), stop, forget, offered }
}

fn seen(job: &str, gpus: &[u16], phase: Phase) -> Seen {
    let (pods, job) = (pods(gpus), job.to_owned());
    let (told_pods, gone) = (None, Vec::new());
    Seen {
        job,
        pods,
        told_pods,
        gone,
        stop_after_ms: None,
        since: 0,
        log_bytes: 0,
        checkpoint: None,
        phase,
        told: false,
    }
}

const RUNNING: Phase = Phase::Running { kill_at: None };

fn listing(runs: &[(&str, Seen)]) -> Listing {
    let node = NodeReport { node: "n1".to_owned(), gpus: 8, status: NodeStatus::Ready, reason: None };
    let runs: BTreeMap<RunId, Seen> = runs.iter().map(|(id, seen)| (run(id), seen.clone())).collect();
    Listing { nodes: vec![node], runs, offered: Vec::new(), changes: true }
}

/// An agent that has heard this at NOW.
fn told(answer: SyncAnswer) -> Agent {
    let mut agent = Agent::new(1, None);
    assert_eq!(agent.hear(answer, NOW, NOW), Ok(Heard::Newest));
    agent
}

fn stop(job: &str, kill_at: u64, instead: Instead) -> Stop {
    Stop { job: job.to_owned(), kill_at, instead }
}

#[test]
fn a_wanted_run_is_prepared_and_then_started() {
    let agent = told(answer(1, &[want("0-1", "a", &[0])]));
    assert_eq!(agent.decide(&listing(&[]), NOW), [Act::Prepare(run("0-1"))]);
    let prepared = listing(&[("0-1", seen("a", &[0], Phase::Prepared))]);
    assert_eq!(agent.decide(&prepared, NOW), [Act::Start(run("0-1"))]);
    for phase in [RUNNING, Phase::Ended(Exit::Code(0))] {
        assert_eq!(agent.decide(&listing(&[("0-1", seen("a", &[0], phase))]), NOW), []);
    }
}

#[test]
fn who_has_heard_nothing_does_nothing() {
    let agent = Agent::new(1, Some(5));
    let all = [("0-1", seen("a", &[0], RUNNING)), ("0-2", seen("b", &[1], Phase::Prepared))];
    assert_eq!(agent.decide(&listing(&all), NOW), []);
}

#[test]
fn an_older_answer_and_one_for_somebody_else_are_dropped() {
    let mut agent = told(answer(5, &[]));
    assert_eq!(agent.hear(answer(4, &[want("0-1", "a", &[0])]), NOW, NOW), Ok(Heard::Dropped));
    let other = SyncAnswer { incarnation: 2, ..answer(9, &[want("0-1", "a", &[0])]) };
    assert_eq!(agent.hear(other, NOW, NOW), Ok(Heard::Dropped));
    assert_eq!(agent.decide(&listing(&[]), NOW), []);
    let restored = SyncAnswer { version: Version { epoch: 1, revision: 2 }, ..answer(2, &[]) };
    assert_eq!(agent.hear(restored, NOW, NOW), Ok(Heard::Newest));
}

#[test]
fn a_gpu_that_another_run_holds_is_waited_for() {
    let agent = told(answer(1, &[want("0-1", "a", &[0, 1]), want("0-2", "b", &[1, 2])]));
    let prepared = || ("0-2", seen("b", &[1, 2], Phase::Prepared));
    assert_eq!(agent.decide(&listing(&[("0-1", seen("a", &[0, 1], RUNNING)), prepared()]), NOW), []);
    let both = listing(&[("0-1", seen("a", &[0, 1], Phase::Prepared)), prepared()]);
    assert_eq!(agent.decide(&both, NOW), [Act::Start(run("0-1"))]);
}

#[test]
fn a_run_waits_for_the_end_of_an_earlier_one_of_its_job() {
    let agent = told(SyncAnswer {
        stop: vec![StopOrder { run: run("0-1"), job: "a".to_owned(), kill_in_ms: 10 }],
        ..answer(1, &[want("0-2", "a", &[1])])
    });
    let living = seen("a", &[0], Phase::Running { kill_at: Some(NOW + 10) });
    let both = |first: Seen| listing(&[("0-1", first), ("0-2", seen("a", &[1], Phase::Prepared))]);
    assert_eq!(agent.decide(&both(living), NOW), []);
    let ended = seen("a", &[0], Phase::Ended(Exit::Code(0)));
    assert_eq!(agent.decide(&both(ended), NOW), [Act::Start(run("0-2"))]);
}

#[test]
fn a_deadline_only_comes_nearer() {
    let order = |kill_in_ms| StopOrder { run: run("0-1"), job: "a".to_owned(), kill_in_ms };
    let mut agent = told(SyncAnswer { stop: vec![order(500)], ..answer(1, &[]) });
    let expected = |kill_at| [Act::Stop(run("0-1"), stop("a", kill_at, Instead::Unstarted))];
    let running = listing(&[("0-1", seen("a", &[0], RUNNING))]);
    assert_eq!(agent.decide(&running, NOW), expected(NOW + 500));
    let later = SyncAnswer { stop: vec![order(900)], ..answer(2, &[]) };
    assert_eq!(agent.hear(later, NOW, NOW), Ok(Heard::Newest));
    assert_eq!(agent.decide(&running, NOW), expected(NOW + 500));
    let told_already = listing(&[("0-1", seen("a", &[0], Phase::Running { kill_at: Some(NOW + 500) }))]);
    assert_eq!(agent.decide(&told_already, NOW), []);
}

#[test]
fn a_stop_order_for_a_run_that_is_not_there_leaves_a_tombstone() {
    let order = StopOrder { run: run("0-1"), job: "a".to_owned(), kill_in_ms: 0 };
    let agent = told(SyncAnswer { stop: vec![order], ..answer(1, &[]) });
    assert_eq!(agent.decide(&listing(&[]), NOW), [Act::Stop(run("0-1"), stop("a", NOW, Instead::Unstarted))]);
}

#[test]
fn what_nobody_wants_is_stopped_and_what_nobody_watches_is_cleared() {
    let agent = told(answer(1, &[want("0-2", "b", &[1])]));
    let all = listing(&[("0-1", seen("a", &[0], RUNNING)), ("0-2", seen("b", &[1], Phase::Orphaned))]);
    let unwanted = stop("a", NOW + UNWANTED_GRACE_MS, Instead::Unstarted);
    let orphan = stop("b", NOW, Instead::Lost);
    assert_eq!(agent.decide(&all, NOW), [Act::Stop(run("0-1"), unwanted), Act::Stop(run("0-2"), orphan)]);
}

#[test]
fn what_goes_on_is_named_and_nothing_more() {
    let running = listing(&[("0-1", seen("a", &[0], RUNNING))]);
    let agent = told(SyncAnswer { keep: vec![run("0-1")], ..answer(1, &[]) });
    assert_eq!(agent.decide(&running, NOW), []);
    let other = told(SyncAnswer { keep: vec![run("0-2")], ..answer(1, &[]) });
    assert_eq!(other.decide(&running, NOW).len(), 1, "it is not wanted, and the other one is asked for again");
}

#[test]
fn a_kept_run_without_news_is_said_by_its_number_alone() {
    let says = |keep: &[&str], change: fn(&mut Seen)| {
        let mut one = seen("a", &[0], RUNNING);
        change(&mut one);
        let agent = told(SyncAnswer { keep: keep.iter().map(|id| run(id)).collect(), ..answer(1, &[]) });
        let request = agent.request(&listing(&[("0-1", one), ("0-2", seen("b", &[1], RUNNING))]), NOW);
        assert_eq!(request.check(), Ok(()));
        let names = |runs: &[RunId]| runs.iter().map(RunId::to_string).collect::<Vec<_>>().join(" ");
        (names(&request.lives), names(&request.runs.iter().map(|report| report.run).collect::<Vec<_>>()))
    };
    let brief = ("0-1".to_owned(), "0-2".to_owned());
    let full = (String::new(), "0-1 0-2".to_owned());
    assert_eq!(says(&["0-1"], |_| ()), brief);
    assert_eq!(says(&[], |_| ()), full, "nobody has said that it is known");
    assert_eq!(says(&["0-1"], |seen| seen.checkpoint = Some(NOW)), full);
    assert_eq!(says(&["0-1"], |seen| seen.phase = Phase::Running { kill_at: Some(NOW) }), full);
    assert_eq!(says(&["0-1"], |seen| seen.phase = Phase::Orphaned), full);
    assert_eq!(says(&["0-1"], |seen| seen.gone = vec![run("0-8")]), full);
    assert_eq!(says(&["0-1"], |seen| seen.told_pods = Some(Pods { pods: seen.pods.clone(), leave: Vec::new() })), full);
    assert_eq!(says(&["0-1"], |seen| seen.pods.push(seen.pods[0].clone())), full, "as many as it has pods");
}

#[test]
fn pods_join_and_leave_a_run_that_goes_on() {
    let change = |left: u64, gpus: &[&[u16]]| {
        let place = Place { node: "n1".to_owned(), gpus: vec![1] };
        let order = LeaveOrder { order: run("0-8"), places: vec![place], kill_in_ms: left };
        let pods = gpus.iter().flat_map(|gpus| pods(gpus)).collect();
        Change { run: run("0-1"), pods, leave: vec![order] }
    };
    let answered =
        |revision, change| SyncAnswer { keep: vec![run("0-1")], change: vec![change], ..answer(revision, &[]) };
    let mut agent = told(answered(9, change(500, &[&[0], &[2]])));
    let acts = agent.decide(&listing(&[("0-1", seen("a", &[0], RUNNING))]), NOW);
    let [Act::Change(id, told)] = &acts[..] else { panic!("{acts:?}") };
    assert_eq!((*id, told.pods.len(), told.leave[0].kill_at), (run("0-1"), 2, NOW + 500));
    assert_eq!(told.with(&pods(&[1])).len(), 3, "what has not left is held");
    assert_eq!(told.with(&pods(&[2])).len(), 2);

    // What it has been told already it is not told again, unless less time is left or other pods are wanted.
    let knows = |phase| listing(&[("0-1", Seen { told_pods: Some(told.clone()), ..seen("a", &[0], phase) })]);
    assert_eq!(agent.decide(&knows(RUNNING), NOW), []);
    assert_eq!(agent.hear(answered(9, change(400, &[&[0], &[2]])), NOW + 200, NOW + 200), Ok(Heard::Newest));
    assert_eq!(agent.decide(&knows(RUNNING), NOW + 200), [], "the deadline only comes nearer");
    assert_eq!(agent.hear(answered(10, change(100, &[&[0], &[2]])), NOW + 200, NOW + 200), Ok(Heard::Newest));
    assert_eq!(agent.decide(&knows(RUNNING), NOW + 200).len(), 1);
    assert_eq!(agent.hear(answered(11, change(300, &[&[0]])), NOW + 200, NOW + 200), Ok(Heard::Newest));
    assert_eq!(agent.decide(&knows(RUNNING), NOW + 200).len(), 1);
    assert_eq!(agent.decide(&knows(Phase::Running { kill_at: Some(NOW) }), NOW + 200), [], "all of it ends");

    // Nobody starts on a GPU that has not been left.
    let other = SyncAnswer { keep: vec![run("0-1")], ..answer(12, &[want("0-9", "b", &[1])]) };
    assert_eq!(agent.hear(other, NOW + 300, NOW + 300), Ok(Heard::Newest));
    let both = |held: &[u16]| {
        let pods = held.iter().flat_map(|gpu| pods(&[*gpu])).collect();
        let first = Seen { told_pods: Some(told.clone()), pods, ..seen("a", &[0], RUNNING) };
        listing(&[("0-1", first), ("0-9", seen("b", &[1], Phase::Prepared))])
    };
    assert_eq!(agent.decide(&both(&[0, 1, 2]), NOW + 300), []);
    assert_eq!(agent.decide(&both(&[0, 2]), NOW + 300), [Act::Start(run("0-9"))]);
}

#[test]
fn a_told_run_with_no_pods_left_is_said_to_have_none() {
    let told_pods = |pods: Vec<Pod>| Some(Pods { pods, leave: Vec::new() });
    let empty = Seen { pods: Vec::new(), told_pods: told_pods(Vec::new()), ..seen("a", &[0], RUNNING) };
    let leaving = Seen { pods: pods(&[0]), ..empty.clone() };
    let regrown = Seen { pods: pods(&[2]), told_pods: told_pods(pods(&[2])), ..empty.clone() };
    for (seen, n_pods, gpus) in [(empty, 0, None), (leaving, 0, Some(0)), (regrown, 1, Some(2))] {
        let request = told(answer(1, &[])).request(&listing(&[("0-1", seen)]), NOW);
        // Most runs have one pod, of which nothing is said.
        let heard: SyncRequest = serde_json::from_str(&serde_json::to_string(&request).unwrap()).unwrap();
        let places = gpus.map(|gpu| Place { node: "n1".to_owned(), gpus: vec![gpu] });
        let [report] = &heard.runs[..] else { panic!("{heard:?}") };
        assert_eq!((report.pods, &report.places), (n_pods, &Vec::from_iter(places)));
    }
}

#[test]
fn an_end_is_kept_until_it_may_be_forgotten() {
    let ended = listing(&[("0-1", seen("a", &[0], Phase::Ended(Exit::Code(0))))]);
    assert_eq!(told(answer(1, &[])).decide(&ended, NOW), []);
    let agent = told(SyncAnswer { forget: vec![run("0-1")], ..answer(1, &[]) });
    assert_eq!(agent.decide(&ended, NOW), [Act::Forget(run("0-1"))]);
    let running = listing(&[("0-1", seen("a", &[0], RUNNING))]);
    assert!(!agent.decide(&running, NOW).contains(&Act::Forget(run("0-1"))));
}

#[test]
fn a_run_from_before_a_restore_is_not_begun() {
    let agent = told(SyncAnswer { version: Version { epoch: 1, revision: 3 }, ..answer(3, &[want("0-1", "a", &[0])]) });
    assert_eq!(agent.decide(&listing(&[]), NOW), [Act::Stop(run("0-1"), stop("a", NOW, Instead::Lost))]);
    assert_eq!(agent.decide(&listing(&[("0-1", seen("a", &[0], RUNNING))]), NOW), []);
}

#[test]
fn a_node_that_came_back_with_fewer_gpus_begins_nothing_on_the_missing_ones() {
    let agent = told(answer(1, &[want("0-1", "a", &[7])]));
    let mut few = listing(&[]);
    few.nodes[0].gpus = 4;
    let reason = "node n1 has 4 GPUs now; GPU 7 is not one of them".to_owned();
    assert_eq!(agent.decide(&few, NOW), [Act::Stop(run("0-1"), stop("a", NOW, Instead::Start(reason)))]);
    few.runs = listing(&[("0-1", seen("a", &[7], RUNNING))]).runs;
    assert_eq!(agent.decide(&few, NOW), [], "what runs goes on");
}

#[test]
fn a_run_that_may_not_live_in_silence_ends_in_it_and_is_not_begun() {
    let leased = Want { stop_after_ms: Some(1_000), ..want("0-1", "a", &[0]) };
    let agent = told(answer(1, &[leased]));
    let all = |phase| listing(&[("0-1", Seen { stop_after_ms: Some(1_000), ..seen("a", &[0], phase) })]);
    assert_eq!(agent.decide(&all(RUNNING), NOW + 999), []);
    let late = NOW + 1_000;
    let silenced = stop("a", late + SILENCE_GRACE_MS, Instead::Unstarted);
    assert_eq!(agent.decide(&all(RUNNING), late), [Act::Stop(run("0-1"), silenced)]);
    assert!(!agent.decide(&all(Phase::Prepared), late).contains(&Act::Start(run("0-1"))));
    let forever = told(answer(1, &[want("0-1", "a", &[0])]));
    assert_eq!(forever.decide(&listing(&[("0-1", seen("a", &[0], RUNNING))]), NOW * 1_000), []);
}

#[test]
fn who_leaves_ends_everything_and_begins_nothing() {
    let told_already = |kill_at| Phase::Running { kill_at: Some(kill_at) };
    let all = listing(&[
        ("0-1", seen("a", &[0], RUNNING)),
        ("0-2", seen("b", &[1], Phase::Prepared)),
        ("0-3", seen("c", &[2], Phase::Orphaned)),
        ("0-4", seen("d", &[3], told_already(NOW + 60_000))),
        ("0-5", seen("e", &[4], told_already(NOW))),
        ("0-6", seen("f", &[5], Phase::Ended(Exit::Code(0)))),
    ]);
    let end = NOW + 10_000;
    let expected = [
        ("0-1", "a", Instead::Unstarted),
        ("0-2", "b", Instead::Unstarted),
        ("0-3", "c", Instead::Lost),
        ("0-4", "d", Instead::Unstarted),
    ];
    let expected = expected.map(|(id, job, instead)| Act::Stop(run(id), stop(job, end, instead)));
    assert_eq!(Agent::leave(&all, end), expected);
}

#[test]
fn a_request_tells_everything() {
    let agent = told(answer(4, &[]));
    let stopping = seen("b", &[1], Phase::Running { kill_at: Some(NOW) });
    let all = listing(&[("0-1", seen("a", &[0], RUNNING)), ("0-2", stopping)]);
    let request = agent.request(&all, NOW);
    assert_eq!(request.check(), Ok(()));
    assert_eq!(request.answered, Some(Version { epoch: 0, revision: 4 }));
    let states: Vec<&RunState> = request.runs.iter().map(|report| &report.state).collect();
    assert_eq!(states, [&RunState::Running, &RunState::Stopping]);
    assert!(request.runs.iter().all(|report| report.since_ms == NOW));
}
