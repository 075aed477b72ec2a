//! What is told of the spot market follows from what a round would do.
#![expect(clippy::unwrap_used, reason = "a panic is a failed test")]

use engine::explain;
use engine::host::authority;
use engine::job::hold::Blocker;
use engine::message;
use engine::message::command::Command;
use engine::state::world::State;
use engine::unit::id::JobId;
use engine::unit::time::Timestamp;

fn send(state: &mut State, at: i64, command: &str) {
    let command: Command = message::read(command.as_bytes()).unwrap();
    authority::step(state, &command, Timestamp(at)).unwrap();
}

fn bid(state: &mut State, at: i64, job: &str, price_limit: i64, pods: u32) {
    let network = r#"{"vpc":"v","vswitch":"s","security_group":"g"}"#;
    let spot = format!(
        r#"{{"offer":"gn7","strategy":"with_price_limit","price_limit":{price_limit},"framework":"pytorch","network":{network}}}"#
    );
    send(
        state,
        at,
        &format!(r#"{{"submit_job":{{"job":"{job}","spot":{spot},"pods":[{{"count":{pods},"amount":{{}}}}]}}}}"#),
    );
}

fn reason(state: &State, at: i64, job: &str) -> Blocker {
    let no = state.jobs.find(&JobId::new(job).unwrap()).unwrap();
    explain::why(state, no, Timestamp(at)).unwrap().hold.binding().unwrap().blocker.clone()
}

/// Three instances, of which one is held by a job that has been released and takes ten minutes to stop.
fn leaving() -> State {
    let mut state = State::default();
    send(&mut state, 0, r#"{"create_cluster":{"dimensions":[{"name":"gpu","kind":"gpu"}]}}"#);
    let terms = r#"{"original_price":20000,"protection_ms":60000,"grace_period_ms":600000}"#;
    send(
        &mut state,
        0,
        &format!(
            r#"{{"create_offer":{{"offer":"gn7","resource_type":"general","instance":{{"gpu":8000}},"inventory":3,"price":10000,"terms":{terms}}}}}"#
        ),
    );
    bid(&mut state, 0, "leaves", 10_000, 1);
    send(&mut state, 60_000, r#"{"round":{"slot":1}}"#);
    send(&mut state, 120_000, r#"{"publish_price":{"offer":"gn7","price":15000}}"#);
    send(&mut state, 120_000, r#"{"round":{"slot":2}}"#);
    state
}

#[test]
fn instances_that_are_kept_for_a_higher_bid_are_not_free_for_a_lower_one() {
    let mut state = leaving();
    bid(&mut state, 121_000, "higher", 20_000, 3);
    bid(&mut state, 122_000, "lower", 16_000, 1);
    send(&mut state, 180_000, r#"{"round":{"slot":3}}"#);
    let short = |asked, free| Blocker::InventoryShort {
        offer: "gn7".to_owned().try_into().unwrap(),
        asked,
        free,
        inventory: 3,
    };
    assert_eq!(reason(&state, 181_000, "higher"), short(3, 2));
    assert_eq!(reason(&state, 181_000, "lower"), short(1, 0));
    // With fewer instances it would wait as well; with another bid its turn comes first.
    let lower = state.jobs.find(&JobId::new("lower").unwrap()).unwrap();
    bid(&mut state, 181_000, "three", 16_000, 3);
    let three = state.jobs.find(&JobId::new("three").unwrap()).unwrap();
    for no in [lower, three] {
        let hold = explain::why(&state, no, Timestamp(181_000)).unwrap().hold;
        assert_eq!(explain::remedy(&state, no, &hold, Timestamp(181_000)).filter(explain::Help::works), None);
    }
    // Without the higher bid they are.
    send(&mut state, 182_000, r#"{"cancel_job":{"job":"higher"}}"#);
    assert!(state.jobs[lower].is_running());
}

#[test]
fn a_price_is_published_within_a_minute_of_its_time() {
    let state = leaving();
    let published = |at: i64| {
        let command = format!(r#"{{"publish_price":{{"offer":"gn7","price":16000,"at":{at}}}}}"#);
        let command: Command = message::read(command.as_bytes()).unwrap();
        authority::step(&mut state.clone(), &command, Timestamp(200_000)).err().map(|refused| refused.to_string())
    };
    assert_eq!((published(140_000), published(260_000)), (None, None));
    let (early, late) = (published(139_999).unwrap(), published(260_001).unwrap());
    assert!(early.contains("gn7") && late.contains("gn7") && early != late, "{early}\n{late}");
}
