//! When a service has to look by itself though nobody is in the queue.
#![expect(clippy::unwrap_used, reason = "a panic is a failed test")]

use engine::host::authority;
use engine::message;
use engine::state::world::State;
use engine::unit::time::Timestamp;

/// Two jobs of A are on loan from B, and stop 30 seconds and 50 seconds after they were evicted.
const SETTING: [&str; 7] = [
    r#"{"create_cluster":{"dimensions":[{"name":"gpu","kind":"gpu"}]}}"#,
    r#"{"put_group":{"group":"pool","resource_type":"lingjun","pool":{"gpu":8000}}}"#,
    r#"{"create_quota":{"quota":"Team","groups":["pool"],"min":{"gpu":8000}}}"#,
    r#"{"create_quota":{"quota":"Owner","parent":"Team","min":{"gpu":8000}}}"#,
    r#"{"create_quota":{"quota":"Late","parent":"Team","min":{"gpu":0},"settings":{"grace_period_ms":50000}}}"#,
    r#"{"submit_job":{"job":"soon","quota":"Owner","idle":"only","pods":[{"amount":{"gpu":4000}}]}}"#,
    r#"{"submit_job":{"job":"late","quota":"Late","idle":"only","pods":[{"amount":{"gpu":4000}}]}}"#,
];

fn after(commands: &[(i64, &str)]) -> State {
    let mut state = State::default();
    for (at, text) in SETTING.iter().map(|text| (0, *text)).chain(commands.iter().copied()) {
        authority::step(&mut state, &message::read(text.as_bytes()).unwrap(), Timestamp(at)).unwrap();
    }
    state
}

fn submit(job: &str, gpus: i64) -> String {
    format!(r#"{{"submit_job":{{"job":"{job}","quota":"Owner","pods":[{{"amount":{{"gpu":{gpus}000}}}}]}}}}"#)
}

#[test]
fn who_waits_for_victims_to_stop_is_looked_after_when_the_last_of_them_has() {
    let state = after(&[(1_000, &submit("first", 8))]);
    assert!(!state.is_waited_for());
    assert_eq!(state.next_chance(Timestamp(1_000)), Some(Timestamp(51_000)));
    // What is overdue comes at once.
    assert_eq!(state.next_chance(Timestamp(90_000)), Some(Timestamp(90_000)));
}

#[test]
fn of_several_who_wait_the_first_counts() {
    let state = after(&[(1_000, &submit("first", 4)), (2_000, &submit("second", 4))]);
    assert!(!state.is_waited_for() && state.stopping.len() == 2);
    // The job of the later start goes first, and has the longer time.
    assert_eq!(state.next_chance(Timestamp(2_000)), Some(Timestamp(32_000)));
    let state = after(&[
        (1_000, &submit("first", 4)),
        (2_000, &submit("second", 4)),
        (3_000, r#"{"cancel_job":{"job":"second"}}"#),
    ]);
    assert_eq!(state.next_chance(Timestamp(3_000)), Some(Timestamp(51_000)));
}

#[test]
fn nobody_is_looked_after_while_nobody_waits() {
    let scale = r#"{"scale_quotas":{"targets":[{"quota":"Owner","min":{"gpu":0}},{"quota":"Late","min":{"gpu":0}}],"mode":"evict"}}"#;
    let state = after(&[(1_000, scale)]);
    assert_eq!(state.next_chance(Timestamp(1_000)), None);
}
