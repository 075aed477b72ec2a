//! A pool that becomes smaller than what runs in it.
#![expect(clippy::unwrap_used, reason = "a panic is a failed test")]

use engine::host::authority;
use engine::message;
use engine::message::command::Command;
use engine::message::snapshot::Snapshot;
use engine::state::world::State;
use engine::unit::time::Timestamp;

fn send(state: &mut State, minute: i64, command: &str) {
    let command: Command = message::read(command.as_bytes()).unwrap();
    authority::step(state, &command, Timestamp(minute * 60_000)).unwrap();
    // The books are what the facts come to.
    let restored = Snapshot::of(state).restore().unwrap();
    assert_eq!((&restored.floor, &restored.ledger), (&state.floor, &state.ledger));
}

fn running(state: &State) -> Vec<&str> {
    state.jobs.iter().filter(|(_, job)| job.is_running()).map(|(_, job)| job.spec.id.as_str()).collect()
}

/// GPUs of the pool that nobody holds, in thousandths.
fn free(state: &State) -> i64 {
    state.floor.pools[0][0]
}

/// A pool has what is guaranteed on it, at least. Whether a job runs on while machines above that go, the machines say:
/// nobody is evicted for it, and nobody starts before what is left has room.
#[test]
fn nobody_is_evicted_and_nobody_starts_until_there_is_room() {
    let mut state = State::default();
    send(&mut state, 0, r#"{"create_cluster":{"dimensions":[{"name":"gpu","kind":"gpu"}]}}"#);
    let pool =
        |gpus: i64| format!(r#"{{"put_group":{{"group":"pool","resource_type":"lingjun","pool":{{"gpu":{gpus}}}}}}}"#);
    send(&mut state, 0, &pool(64_000));
    send(&mut state, 0, r#"{"create_quota":{"quota":"q","groups":["pool"],"min":{"gpu":64000}}}"#);
    let submit = |job: &str| {
        format!(r#"{{"submit_job":{{"job":"{job}","quota":"q","pods":[{{"count":4,"amount":{{"gpu":8000}}}}]}}}}"#)
    };
    for job in ["a", "b"] {
        send(&mut state, 0, &submit(job));
    }
    assert_eq!(running(&state), ["a", "b"]);

    // Not below what is guaranteed.
    let before = state.clone();
    let command: Command = message::read(pool(32_000).as_bytes()).unwrap();
    let refused = authority::step(&mut state, &command, Timestamp(60_000)).unwrap_err();
    assert_eq!(refused.to_string(), "q would need 64 GPUs, resource group pool has 32 left");
    assert_eq!(state, before);

    send(&mut state, 1, r#"{"scale_quotas":{"targets":[{"quota":"q","min":{"gpu":32000}}]}}"#);
    send(&mut state, 1, &pool(32_000));
    send(&mut state, 2, r#"{"round":{"slot":2}}"#);
    assert_eq!((running(&state), free(&state)), (vec!["a", "b"], -32_000));
    send(&mut state, 3, &submit("c"));
    send(&mut state, 3, r#"{"cancel_job":{"job":"a"}}"#);
    for minute in 4..10 {
        send(&mut state, minute, &format!(r#"{{"round":{{"slot":{minute}}}}}"#));
    }
    assert_eq!((running(&state), free(&state)), (vec!["b"], 0));
    send(&mut state, 10, r#"{"cancel_job":{"job":"b"}}"#);
    send(&mut state, 11, r#"{"round":{"slot":11}}"#);
    assert_eq!((running(&state), free(&state)), (vec!["c"], 0));
}
