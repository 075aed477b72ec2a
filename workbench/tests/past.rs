//! What happened as the beginning of a plan: without a change it happens again, with one it does not.

#![expect(clippy::unwrap_used, reason = "a panic is a failed test")]

use engine::host::authority;
use engine::message::command::Command;
use engine::message::command::Round;
use engine::message::envelope::Entry;
use engine::message::envelope::Envelope;
use engine::state::world::State;
use engine::unit::time::Timestamp;
use workbench::past;

const MINUTE: i64 = 60_000;

/// A cluster that is set up, gets a job of 48 GPUs after two minutes and one of 16 after three, with a round a minute.
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
        if slot == 2 {
            send(&mut state, &job("first", 48_000), slot * MINUTE);
        }
        if slot == 3 {
            send(&mut state, &job("second", 16_000), slot * MINUTE);
        }
    }
    (state, entries)
}

#[test]
fn what_happened_happens_again() {
    let (state, entries) = log();
    let text = serde_json::to_string(&entries).unwrap();
    let past = past::read(&text, Timestamp(0), Timestamp(200 * MINUTE)).unwrap();
    assert_eq!((past.base.from, past.base.ahead.len()), (Timestamp(2 * MINUTE), 2));
    assert_eq!(past.base.state.live_quotas().count(), 3);
    let variant = engine::message::plan::Variant::default();
    let horizon = engine::host::plan::run::Horizon::Until(past.base.from + past.length);
    let mut run = engine::host::plan::run::Run::new(&past.base, &variant, horizon);
    run.finish();
    let jobs = |state: &State| -> Vec<String> {
        state.jobs.iter().map(|(_, job)| format!("{} {:?}", job.spec.id, job.phase)).collect()
    };
    assert_eq!(jobs(run.state()), jobs(&state));
}

#[test]
fn a_later_beginning_has_in_it_what_was_before() {
    let (_, entries) = log();
    let text = serde_json::to_string(&entries).unwrap();
    let past = past::read(&text, Timestamp(10 * MINUTE), Timestamp(200 * MINUTE)).unwrap();
    assert_eq!((past.base.from, past.base.ahead.len(), past.base.state.jobs.len()), (Timestamp(10 * MINUTE), 0, 2));
    assert!(past::read("[]", Timestamp(0), Timestamp(0)).unwrap_err().starts_with("no job has been submitted yet"));
    assert!(past::read("[{}]", Timestamp(0), Timestamp(0)).unwrap_err().starts_with("the log cannot be read"));
}
