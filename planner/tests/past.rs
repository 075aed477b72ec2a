//! What happened as the beginning of a plan: without a change it happens again, with one it does not.

#![expect(clippy::unwrap_used, reason = "a panic is a failed test")]

use engine::host::authority;
use engine::host::plan::run::Horizon;
use engine::host::plan::run::Run;
use engine::message::command::Command;
use engine::message::command::Round;
use engine::message::envelope::Entry;
use engine::message::envelope::Envelope;
use engine::message::plan::Variant;
use engine::message::snapshot::Snapshot;
use engine::state::world::State;
use engine::transition;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;
use planner::page::message::Ask;
use planner::page::message::Since;
use planner::page::message::Tell;
use planner::page::past::Past;
use planner::page::past::Reading;
use planner::page::session::Session;

const MINUTE: i64 = 60_000;
const NOW: Timestamp = Timestamp(200 * MINUTE);

/// A cluster that is set up, gets a job of 48 GPUs after two minutes, one of 16 after three and one of 8 after a hundred,
/// with a round a minute.
fn log() -> (State, Vec<Entry>) {
    let mut state = State::default();
    let mut entries = Vec::new();
    let mut send = |state: &mut State, text: &str, at: i64| {
        let envelope: Envelope = serde_json::from_str(text).unwrap();
        let receipt = authority::handle(state, &envelope, Timestamp(at)).unwrap();
        let (format, revision, events) = (envelope.format, receipt.revision, receipt.events);
        entries.push(Entry { format, revision, at: Timestamp(at), envelope, events });
    };
    for line in
        include_str!("../../public/examples/three-teams.jsonl").lines().filter(|line| !line.contains("submit_job"))
    {
        send(&mut state, line, MINUTE);
    }
    for slot in 2..200 {
        let job = |name: &str, gpus: i64| {
            format!(
                r#"{{"format":1,"id":"send-{name}","command":{{"submit_job":{{"job":"{name}","quota":"Quota1.1","pods":[{{"amount":{{"gpu":{gpus}}}}}],"duration_ms":3600000}}}}}}"#
            )
        };
        let round = Envelope {
            command: Command::Round(Round { slot: Some(slot) }),
            ..serde_json::from_str(&job("x", 1)).unwrap()
        };
        send(
            &mut state,
            &serde_json::to_string(&round).unwrap().replace("send-x", &format!("slot-{slot}")),
            slot * MINUTE,
        );
        for (when, name, gpus) in [(2, "first", 48_000), (3, "second", 16_000), (100, "third", 8_000)] {
            if slot == when {
                send(&mut state, &job(name, gpus), slot * MINUTE);
            }
        }
    }
    (state, entries)
}

/// The service: a snapshot after every `each` entries, and the entries that lead on from there.
fn answer(entries: &[Entry], each: usize, address: &str) -> String {
    let value = |name: &str| {
        let (_, rest) = address.split_once(&format!("{name}="))?;
        rest.split('&').next()?.parse::<i64>().ok()
    };
    let revision = |entry: &Entry| i64::try_from(entry.revision).unwrap();
    if let Some(after) = value("after") {
        let count = usize::try_from(value("count").unwrap()).unwrap();
        let more: Vec<&Entry> = entries.iter().filter(|entry| revision(entry) > after).take(count).collect();
        return serde_json::to_string(&more).unwrap();
    }
    let is_before = |entry: &&Entry| match (value("time"), value("revision")) {
        (Some(time), _) => entry.at.0 < time,
        (None, wanted) => revision(entry) <= wanted.unwrap(),
    };
    let before = entries.iter().take_while(is_before).count() / each * each;
    serde_json::to_string(&Snapshot::of(&folded(&entries[..before]))).unwrap()
}

fn folded(entries: &[Entry]) -> State {
    let mut state = State::default();
    entries.iter().flat_map(|entry| &entry.events).for_each(|event| transition::apply(&mut state, event));
    state.settle();
    state
}

fn read(entries: &[Entry], each: usize, since: Since, length: Option<Millis>) -> Result<Past, String> {
    let mut reading = Reading::new("demo".to_owned(), since, length, NOW);
    while let Some(address) = reading.wanted() {
        reading.take(&answer(entries, each, &address))?;
        assert!(reading.entries <= entries.len() as u64, "no entry is read twice");
    }
    reading.finish()
}

fn jobs(state: &State) -> Vec<String> {
    state.jobs.iter().map(|(_, job)| format!("{} {:?}", job.spec.id, job.phase)).collect()
}

/// What a plan comes to that changes nothing.
fn replayed(past: &Past) -> Vec<String> {
    let mut run = Run::new(&past.base, &Variant::default(), Horizon::Until(past.base.from + past.length));
    run.finish();
    jobs(run.state())
}

#[test]
fn what_happened_happens_again() {
    let (state, entries) = log();
    let past = read(&entries, 10_000, Since::Time(Timestamp(0)), None).unwrap();
    assert_eq!((past.base.from, past.base.ahead.len()), (Timestamp(2 * MINUTE), 3));
    assert_eq!(past.base.state.live_quotas().count(), 3);
    assert_eq!(replayed(&past), jobs(&state));
}

#[test]
fn from_any_moment_and_any_snapshot_on_it_happens_again() {
    let (state, entries) = log();
    for each in [1, 7, 50] {
        for minute in [3, 4, 64, 100, 101] {
            let past = read(&entries, each, Since::Time(Timestamp(minute * MINUTE)), None).unwrap();
            assert_eq!(past.base.from, Timestamp(minute * MINUTE));
            let before = entries.iter().take_while(|entry| entry.at < past.base.from).count();
            let due = Snapshot::of(&folded(&entries[..before])).to_bytes();
            assert!(Snapshot::of(&past.base.state).to_bytes() == due, "minute {minute}, a snapshot each {each}");
            assert_eq!(replayed(&past), jobs(&state), "minute {minute}, a snapshot each {each}");
            let Entry { revision, at, .. } = entries[before - 1];
            let past = read(&entries, each, Since::Revision(revision), None).unwrap();
            let from = past.base.from;
            assert!(at <= from && from <= entries[before].at, "revision {revision}: {from:?}");
            assert!(Snapshot::of(&past.base.state).to_bytes() == due, "revision {revision}, a snapshot each {each}");
            assert_eq!(replayed(&past), jobs(&state), "revision {revision}, a snapshot each {each}");
        }
    }
}

#[test]
fn it_is_read_as_far_as_it_is_looked_at() {
    let (_, entries) = log();
    let past = read(&entries, 7, Since::Time(Timestamp(10 * MINUTE)), Some(Millis::HOUR)).unwrap();
    assert_eq!((past.base.ahead.len(), past.base.state.jobs.len(), past.length), (0, 2, Millis::HOUR));
    let past = read(&entries, 7, Since::Time(Timestamp(40 * MINUTE)), Some(Millis::HOUR)).unwrap();
    assert_eq!((past.base.ahead.len(), past.length), (1, Millis::HOUR));
    let past = read(&entries, 7, Since::Time(Timestamp(190 * MINUTE)), Some(Millis::HOUR)).unwrap();
    assert_eq!((past.base.ahead.len(), past.length), (0, Millis(10 * MINUTE)), "until now");
}

#[test]
fn reports_are_left_out_and_jobs_of_a_plan_that_was_applied_count() {
    let (mut state, mut entries) = (State::default(), Vec::new());
    let lines = include_str!("../../public/examples/three-teams.jsonl").lines();
    let setting: Vec<Command> = lines
        .filter(|line| !line.contains("submit_job"))
        .map(|line| serde_json::from_str::<Envelope>(line).unwrap().command)
        .collect();
    let job = r#"{"submit_job":{"job":"first","quota":"Quota1.1","pods":[{"amount":{"gpu":8000}}]}}"#;
    let applied = format!(r#"{{"apply_plan":{{"commands":[{job}]}}}}"#);
    let applied: Command = serde_json::from_str(&applied).unwrap();
    let report: Command = serde_json::from_str(r#"{"report":{"job":"first","observed":"checkpointed"}}"#).unwrap();
    for (at, command) in (1..).zip(setting.into_iter().chain([applied, report])) {
        let text = serde_json::json!({ "format": 1, "id": format!("send-{at}"), "command": command });
        let envelope: Envelope = serde_json::from_value(text).unwrap();
        let receipt = authority::handle(&mut state, &envelope, Timestamp(at * MINUTE)).unwrap();
        let (format, revision, events) = (envelope.format, receipt.revision, receipt.events);
        entries.push(Entry { format, revision, at: Timestamp(at * MINUTE), envelope, events });
    }
    let past = read(&entries, 10_000, Since::Time(Timestamp(0)), None).unwrap();
    // It begins with the first job, which came in a plan.
    assert_eq!(past.base.ahead.len(), 1);
    assert!(
        past.remarks.iter().any(|remark| remark.starts_with("1 reports of what jobs did are left out")),
        "{past:?}"
    );
}

#[test]
fn what_cannot_be_read_says_why() {
    let (_, entries) = log();
    let nothing = "no job has been submitted since; there is nothing to vary";
    assert_eq!(read(&entries[..5], 2, Since::Time(Timestamp(0)), None).unwrap_err(), nothing);
    let late = read(&entries, 7, Since::Revision(1_000_000), None).unwrap();
    assert_eq!(
        (late.base.ahead.len(), late.base.from),
        (0, Timestamp(199 * MINUTE)),
        "what is now is the past by then"
    );
    let mut reading = Reading::new("demo".to_owned(), Since::Revision(0), None, NOW);
    assert!(reading.take("{}").unwrap_err().starts_with("the snapshot of demo cannot be read"));
    reading.take(&answer(&entries, 7, "past?revision=0")).unwrap();
    assert!(reading.take("[{}]").unwrap_err().starts_with("the log of demo cannot be read"));
    let mut hidden = serde_json::to_value(&entries[..1]).unwrap();
    hidden[0]["envelope"]["command"] = serde_json::Value::Null;
    assert!(reading.take(&hidden.to_string()).unwrap_err().starts_with("the log has commands that you may not see"));
}

#[test]
fn the_bench_asks_for_a_log_portion_by_portion_until_it_is_cancelled() {
    let (_, entries) = log();
    let mut session = Session::default();
    let ask = |plan| Ask::OpenPast {
        plan,
        cluster: "demo".to_owned(),
        since: Since::Time(Timestamp(64 * MINUTE)),
        length: None,
        now: NOW,
    };
    assert_eq!(session.ask(ask(1)), []);
    let first = session.wanted().unwrap();
    assert_eq!(first, format!("/v1/clusters/demo/past?time={}", 64 * MINUTE));
    let told = session.take(&first, Ok(&answer(&entries, 7, &first)));
    assert!(matches!(told.as_slice(), [Tell::Reading { plan: 1, entries: 0, .. }]), "{told:?}");
    assert_eq!(session.ask(Ask::Cancel { plan: 1 }), [Tell::Cancelled { plan: 1 }]);
    assert_eq!((session.wanted(), session.take(&first, Ok("[]"))), (None, Vec::new()), "nobody wants it any more");

    session.ask(ask(2));
    let stale = "/v1/clusters/demo/past?time=1";
    assert_eq!(session.take(stale, Err("it is gone".to_owned())), [], "that is for another plan");
    assert_eq!(session.wanted(), Some(first));
    let mut told = Vec::new();
    while let Some(address) = session.wanted() {
        told = session.take(&address, Ok(&answer(&entries, 7, &address)));
    }
    let [Tell::Opened { plan: 2, facts, .. }] = told.as_slice() else { panic!("{told:?}") };
    assert_eq!((facts.title.as_str(), facts.n_ahead), ("What happened in demo", 1));

    session.ask(ask(3));
    let failed = session.take(&session.wanted().unwrap(), Err("it is gone".to_owned()));
    assert_eq!(failed, [Tell::Failed { plan: 3, message: "it is gone".to_owned() }]);
    assert_eq!(session.wanted(), None);
    assert!(session.is_busy(), "what was open before is still there");
}
