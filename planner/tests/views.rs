//! What the page is told: what it shows, and no more, however large the plan.

#![expect(clippy::unwrap_used, reason = "a panic is a failed test")]

use engine::host::authority;
use engine::message::command::Command;
use engine::message::envelope::Envelope;
use engine::message::plan::Change;
use engine::message::snapshot::Snapshot;
use engine::state::world::State;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;
use fields::change;
use fields::change::ChangeKind;
use fields::facts::Facts;
use fields::field::Value;
use planner::page::course::Courses;
use planner::page::message::Ask;
use planner::page::message::Ended;
use planner::page::message::LookAhead;
use planner::page::message::Source;
use planner::page::message::Tell;
use planner::page::session::Session;
use planner::page::timeline::Frame;
use planner::page::timeline::View;
use planner::page::whose::Whose;

const NOW: Timestamp = Timestamp(600_000);

fn send(state: &mut State, command: &str) {
    let command: Command = serde_json::from_str(command).unwrap();
    authority::step(state, &command, Timestamp(60_000)).unwrap();
}

/// The three-team example after some of its jobs, with so many of one to four GPUs for ten minutes.
fn state(jobs: usize) -> State {
    let mut state = State::default();
    for line in include_str!("../../public/examples/three-teams.jsonl").lines() {
        let envelope: Envelope = serde_json::from_str(line).unwrap();
        authority::handle(&mut state, &envelope, Timestamp(60_000)).unwrap();
    }
    let job = |at: usize| {
        let (quota, gpus) = (["Quota1.1", "Quota1.2"][at % 2], 1000 * (1 + at % 4));
        format!(
            r#"{{"submit_job":{{"job":"many-{at:05}","quota":"{quota}","pods":[{{"amount":{{"gpu":{gpus}}}}}],"duration_ms":600000}}}}"#
        )
    };
    for at in 0..jobs {
        send(&mut state, &job(at));
    }
    for job in ["training-a", "development-a", "development-b"] {
        send(&mut state, &format!(r#"{{"cancel_job":{{"job":"{job}"}}}}"#));
    }
    state
}

fn ask_open(session: &mut Session, state: &State) -> Vec<Tell> {
    session.attach("state".to_owned(), Snapshot::of(state).to_bytes());
    let source = Source::Live { cluster: "demo".to_owned(), at: NOW };
    session.ask(Ask::Open { plan: 1, source, look: LookAhead::For(Millis(6 * Millis::HOUR.0)) })
}

fn open(session: &mut Session, state: &State) -> Box<Facts> {
    match ask_open(session, state).pop() {
        Some(Tell::Opened { facts, .. }) => facts,
        other => panic!("{other:?}"),
    }
}

fn run(session: &mut Session, variant: u32, commands: Vec<Command>) -> Vec<Tell> {
    let changes = commands.into_iter().map(|command| Change { at: NOW, command, is_off: false }).collect();
    let mut told = session.ask(Ask::Run { plan: 1, variant, ticket: 1, changes });
    while session.is_busy() {
        told.extend(session.work(500));
    }
    // Ranges follow, and have tests of their own.
    told.retain(|tell| !matches!(tell, Tell::Ranges { .. }));
    told
}

fn ended(told: Vec<Tell>) -> Box<Ended> {
    match told.into_iter().next_back() {
        Some(Tell::Ran { ended, .. }) => ended,
        other => panic!("{other:?}"),
    }
}

fn frame(hours: i64) -> Frame {
    Frame { whose: None, from: NOW, until: NOW + Millis(hours * Millis::HOUR.0), width: 1000 }
}

fn timeline(session: &mut Session, variant: Option<u32>) -> Option<Box<View>> {
    match session.ask(Ask::Timeline { plan: 1, variant, frame: frame(6) }).pop() {
        Some(Tell::Timeline { view, .. }) => view,
        other => panic!("{other:?}"),
    }
}

fn courses(session: &mut Session, whose: Option<Whose>) -> Option<Box<Courses>> {
    match session.ask(Ask::Courses { plan: 1, variant: 1, whose }).pop() {
        Some(Tell::Courses { courses, .. }) => courses,
        other => panic!("{other:?}"),
    }
}

/// Quota1.1 gets nearly all, so that hardly a job of Quota1.2 runs any more.
fn scaled(facts: &Facts) -> Command {
    change::with(&ChangeKind::Amounts.begin(facts, &[]).unwrap(), facts, "min.gpu", &Value::Number(120_000)).unwrap()
}

/// The lengths of everything that the page is told of a plan, as it is sent.
fn lengths(jobs: usize) -> Vec<(&'static str, usize)> {
    let (mut session, state) = (Session::default(), state(jobs));
    let length = |told: &[Tell]| serde_json::to_string(told).unwrap().len();
    let opened = ask_open(&mut session, &state);
    let Some(Tell::Opened { facts, .. }) = opened.first() else { panic!("{opened:?}") };
    let told = run(&mut session, 1, vec![scaled(facts)]);
    let [began, base, variant] = told.as_slice() else { panic!("{} messages", told.len()) };
    let linked = session.ask(Ask::Link { plan: 1, variants: Vec::new() });
    vec![
        ("opened", length(&opened)),
        ("began", length(std::slice::from_ref(began))),
        ("the base", length(std::slice::from_ref(base))),
        ("the variant", length(std::slice::from_ref(variant))),
        ("courses", length(&session.ask(Ask::Courses { plan: 1, variant: 1, whose: None }))),
        ("the timeline", length(&session.ask(Ask::Timeline { plan: 1, variant: Some(1), frame: frame(6) }))),
        ("the link", length(&linked).saturating_sub(30_000)),
    ]
}

#[test]
fn four_times_as_many_jobs_are_told_in_as_many_words() {
    for ((what, few), (_, many)) in lengths(2_500).into_iter().zip(lengths(10_000)) {
        // Numbers have more digits, words may differ, and a link may have 30,000 letters.
        assert!(many < few + few / 4 + 1_000, "{what}: {few} bytes of 2,500 jobs, {many} of 10,000");
        assert!(many < 100_000, "{what}: {many} bytes");
    }
}

#[test]
fn what_has_not_been_run_is_not_seen() {
    let (mut session, state) = (Session::default(), state(200));
    let facts = open(&mut session, &state);
    assert_eq!((timeline(&mut session, None), courses(&mut session, None)), (None, None));
    run(&mut session, 1, vec![scaled(&facts)]);
    let (base, variant) = (timeline(&mut session, None).unwrap(), timeline(&mut session, Some(1)).unwrap());
    assert!(base.rows.iter().any(|row| row[0].starts_with("many-")), "{base:?}");
    assert_ne!(base.rows, variant.rows, "the variant has a timeline of its own");
    assert!(courses(&mut session, None).unwrap().rows.len() > 10);
    assert_eq!(timeline(&mut session, Some(2)), None);
    session.ask(Ask::Forget { plan: 1, variant: 1 });
    assert_eq!((timeline(&mut session, Some(1)), courses(&mut session, None)), (None, None));
    run(&mut session, 1, Vec::new());
    session.ask(Ask::Look { plan: 1, length: None });
    assert_eq!((timeline(&mut session, None), timeline(&mut session, Some(1))), (None, None));
}

#[test]
fn a_quota_and_an_offer_of_one_name_are_told_apart() {
    let (mut session, mut state) = (Session::default(), state(200));
    let offer = r#"{"create_offer":{"offer":"Quota1.1","resource_type":"general","instance":{"gpu":8000},"inventory":2,"price":1000000,"terms":{"original_price":2000000}}}"#;
    send(&mut state, offer);
    let facts = open(&mut session, &state);
    let ended = ended(run(&mut session, 1, vec![ChangeKind::Bid.begin(&facts, &[]).unwrap()]));
    let names: Vec<String> = ended.whose.iter().map(Whose::label).collect();
    assert!(names.contains(&"Quota1.1".to_owned()) && names.contains(&"Quota1.1 (offer)".to_owned()), "{names:?}");
    let line = |name: &str| ended.parties.iter().find(|line| line[0] == name).unwrap();
    // The job of the quota waits and the bid does not; neither is told of the other.
    assert_eq!((line("Quota1.1")[1].as_str(), line("Quota1.1 (offer)")[1].as_str()), ("same", "new"));
    assert_ne!(line("Quota1.1")[2], "0", "{ended:?}");
    assert_eq!(ended.jobs[0][..3], ["planned-1", "Quota1.1 (offer)", "new"]);
    assert_eq!((line("Quota1.1 (offer)")[2].as_str(), line("Quota1.1 (offer)")[4].as_str()), ("0", "0 → 32"));
    let mut used = |is_offer: bool| {
        let whose = Whose { name: "Quota1.1".to_owned(), is_offer };
        courses(&mut session, Some(whose)).unwrap().rows[1][1..3].to_vec()
    };
    assert_eq!(used(true), ["–", "8 GPUs"]);
    assert_eq!(used(false)[0], used(false)[1]);
    assert_ne!(used(false)[0], "8 GPUs");
}
