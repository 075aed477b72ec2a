//! The example of the seeds: 128 GPUs, a parent and two children.
#![expect(clippy::unwrap_used, reason = "a panic is a failed test")]

use engine::host::authority;
use engine::job::phase::Phase;
use engine::message;
use engine::message::command::Command;
use engine::message::event::Event;
use engine::message::snapshot::Snapshot;
use engine::state::world::State;
use engine::unit::id::JobId;
use engine::unit::time::Timestamp;

fn send(state: &mut State, at: i64, command: &str) -> Result<Vec<Event>, String> {
    let command: Command = message::read(command.as_bytes()).map_err(|rejection| rejection.to_string())?;
    let events = authority::step(state, &command, Timestamp(at)).map_err(|rejection| rejection.to_string())?;
    assert_eq!(engine::ledger::check::difference(state), None);
    Ok(events)
}

fn three_teams(child_level: &str, grace_ms: i64) -> State {
    let mut state = State::default();
    for command in [
        r#"{"create_cluster":{"dimensions":[{"name":"gpu","kind":"gpu"}]}}"#.to_owned(),
        r#"{"put_group":{"group":"pool","resource_type":"lingjun","pool":{"gpu":128000}}}"#.to_owned(),
        format!(
            r#"{{"create_quota":{{"quota":"Quota1","groups":["pool"],"min":{{"gpu":128000}},"settings":{{{child_level}}}}}}}"#
        ),
        format!(
            r#"{{"create_quota":{{"quota":"Quota1.1","parent":"Quota1","min":{{"gpu":48000}},"settings":{{"grace_period_ms":{grace_ms}}}}}}}"#
        ),
        format!(
            r#"{{"create_quota":{{"quota":"Quota1.2","parent":"Quota1","min":{{"gpu":80000}},"settings":{{"grace_period_ms":{grace_ms}}}}}}}"#
        ),
    ] {
        send(&mut state, 0, &command).unwrap();
    }
    for (quota, module, priority, count) in [("Quota1.1", "DLC", 3, 3), ("Quota1.2", "DSW", 2, 5)] {
        for at in 0..count {
            let command = format!(
                r#"{{"submit_job":{{"job":"{quota}-{at}","quota":"{quota}","module":"{module}","priority":{priority},"pods":[{{"amount":{{"gpu":16000}}}}]}}}}"#
            );
            let events = send(&mut state, 1000, &command).unwrap();
            assert!(matches!(events.last(), Some(Event::Started { .. })), "{events:?}");
        }
    }
    state
}

const SERVICE: &str =
    r#"{"submit_job":{"job":"svc","quota":"Quota1","module":"EAS","priority":6,"pods":[{"amount":{"gpu":32000}}]}}"#;
const POLICY: &str = r#""child_level":{"preemptible":[1,2,3],"modules":["DLC","DSW"]}"#;

#[test]
fn the_service_takes_the_cheapest_jobs_of_the_children() {
    let mut state = three_teams(POLICY, 0);
    let events = send(&mut state, 2000, SERVICE).unwrap();
    let evicted = events.iter().filter(|event| matches!(event, Event::Evicted { .. })).count();
    assert_eq!(evicted, 2, "{events:?}");
    let service = &state.jobs[state.jobs.find(&JobId::new("svc").unwrap()).unwrap()];
    assert!(matches!(service.phase, Phase::Running { .. }));
    let copy = Snapshot::of(&state).restore().unwrap();
    assert_eq!(Snapshot::of(&copy).to_bytes(), Snapshot::of(&state).to_bytes());
}

#[test]
fn with_a_grace_period_the_service_starts_once_its_victims_have_stopped() {
    let mut state = three_teams(POLICY, 30_000);
    let events = send(&mut state, 2000, SERVICE).unwrap();
    assert!(matches!(events.last(), Some(Event::Granted { .. })), "{events:?}");
    let events = send(&mut state, 32_000, r#"{"round":{}}"#).unwrap();
    assert!(events.iter().any(|event| matches!(event, Event::Started { .. })), "{events:?}");
}

#[test]
fn without_the_switch_the_service_waits_and_nobody_goes() {
    let mut state = three_teams("", 0);
    let events = send(&mut state, 2000, SERVICE).unwrap();
    let Some(Event::Held { hold, .. }) = events.last() else { panic!("{events:?}") };
    let binding = format!("{:?}", hold.binding().unwrap().blocker);
    assert!(binding.starts_with("ChildLevelOff"), "{binding}");
    assert_eq!(events.len(), 2);
}

#[test]
fn a_tree_that_does_not_add_up_is_refused_with_the_numbers() {
    let mut state = three_teams("", 0);
    let scale = r#"{"scale_quotas":{"targets":[{"quota":"Quota1.2","min":{"gpu":88000}}]}}"#;
    assert_eq!(send(&mut state, 0, scale), Err("Quota1.2 would need 88 GPUs, Quota1 has 80 left".to_owned()));
}
