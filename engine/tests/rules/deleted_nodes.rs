//! Nodes that are deleted: what keeps them, what goes with them, and what one of their name is that comes again (rules 1.2).
#![expect(clippy::unwrap_used, reason = "a panic is a failed test")]

use engine::explain;
use engine::host::authority;
use engine::message;
use engine::message::command::Command;
use engine::message::command::Observation;
use engine::message::command::Report;
use engine::message::snapshot::Snapshot;
use engine::state::world::State;
use engine::transition;
use engine::unit::id::JobId;
use engine::unit::id::NodeId;
use engine::unit::id::NodeNo;
use engine::unit::limit;
use engine::unit::time::Timestamp;

const NOW: Timestamp = Timestamp(1_700_000_000_000);

/// What happens, in sentences, or why it is refused.
fn send(state: &mut State, text: &str) -> Vec<String> {
    let command: Command = message::read(text.as_bytes()).unwrap();
    match authority::step(state, &command, NOW) {
        Ok(events) => events.iter().filter_map(|event| explain::event(state, event)).collect(),
        Err(rejection) => vec![rejection.to_string()],
    }
}

fn delete(state: &mut State, node: &str) -> Vec<String> {
    send(state, &format!(r#"{{"delete_node":{{"node":"{node}"}}}}"#))
}

fn submit(state: &mut State, job: &str, gpus: i64, nodes: &str) -> Vec<String> {
    let pods = format!(r#""pods":[{{"amount":{{"gpu":{gpus}}}}}]"#);
    send(state, &format!(r#"{{"submit_job":{{"job":"{job}","quota":"q",{pods},"nodes":{nodes}}}}}"#))
}

/// Two nodes of 8 GPUs, 8 of them guaranteed.
fn two(execution: &str) -> State {
    let mut state = State::default();
    let cluster =
        format!(r#"{{"create_cluster":{{"dimensions":[{{"name":"gpu","kind":"gpu"}}],"execution":"{execution}"}}}}"#);
    for text in [
        cluster.as_str(),
        r#"{"put_group":{"group":"g","resource_type":"lingjun"}}"#,
        r#"{"put_group":{"group":"h","resource_type":"lingjun"}}"#,
        r#"{"put_node":{"node":"n1","group":"g","amount":{"gpu":8000}}}"#,
        r#"{"put_node":{"node":"n2","group":"g","amount":{"gpu":8000}}}"#,
        r#"{"create_quota":{"quota":"q","groups":["g","h"],"min":{"gpu":8000}}}"#,
    ] {
        send(&mut state, text);
    }
    state
}

#[test]
fn what_is_held_there_keeps_a_node() {
    let mut state = two("simulated");
    for job in 0..7 {
        submit(&mut state, &format!("j{job}"), 1000, r#"{"only":["n1"]}"#);
    }
    assert_eq!(
        delete(&mut state, "n1"),
        ["node n1 is held by 7 jobs (j0, j1, j2, j3, j4, 2 more); cordon it and wait for them, or cancel them"]
    );
    let mut state = two("reported");
    submit(&mut state, "one", 1000, r#"{"only":["n1"]}"#);
    let refused = delete(&mut state, "n1");
    assert_eq!(
        refused,
        [
            "node n1 is held by 1 job (one); cordon it and wait for them, or cancel them; if the machine is gone, declare it \
          dead first"
        ]
    );
    // What is told to stop is there until it is reported that it has gone.
    send(&mut state, r#"{"cancel_job":{"job":"one"}}"#);
    assert_eq!(delete(&mut state, "n1"), refused);
    let job = JobId::new("one").unwrap();
    let run = state.jobs[state.jobs.find(&job).unwrap()].run_no();
    let stopped = Command::Report(Report { job, run, observed: Observation::Stopped });
    authority::step(&mut state, &stopped, NOW).unwrap();
    assert_eq!(delete(&mut state, "n1"), ["node n1 was deleted"]);
    assert_eq!(delete(&mut state, "n1"), ["there is no node n1"]);
}

#[test]
fn a_node_does_not_go_with_what_is_guaranteed() {
    let mut state = two("simulated");
    assert_eq!(delete(&mut state, "n2"), ["node n2 was deleted"]);
    assert_eq!(delete(&mut state, "n1"), ["q would need 8 GPUs, resource group g has 0 left"]);
    let revision = state.revision;
    assert_eq!(delete(&mut state, "n3"), ["there is no node n3"]);
    assert_eq!(state.revision, revision);
}

#[test]
fn nothing_of_a_deleted_node_is_left_to_give() {
    let mut state = two("simulated");
    delete(&mut state, "n1");
    assert_eq!(state.domains.list[0].amount[0], 8_000);
    assert_eq!(state.live_nodes().map(|(no, _)| no).collect::<Vec<_>>(), [NodeNo(1)]);
    assert_eq!(submit(&mut state, "named", 1000, r#"{"only":["n1"]}"#), ["there is no node n1"]);
    submit(&mut state, "first", 8_000, "{}");
    let first = state.jobs.find(&JobId::new("first").unwrap()).unwrap();
    assert_eq!(state.jobs[first].nodes().collect::<Vec<_>>(), [NodeNo(1)]);
}

#[test]
fn a_node_that_comes_again_is_the_one_that_jobs_name() {
    let mut state = two("simulated");
    submit(&mut state, "other", 8_000, r#"{"only":["n2"]}"#);
    submit(&mut state, "picky", 8_000, r#"{"only":["n1"]}"#);
    let told = delete(&mut state, "n1");
    assert!(told.iter().any(|text| text.starts_with("picky waits: ")), "{told:?}");
    send(&mut state, r#"{"cancel_job":{"job":"other"}}"#);
    let picky = state.jobs.find(&JobId::new("picky").unwrap()).unwrap();
    assert!(state.jobs[picky].is_queued());
    // It may belong to another group now, and have less.
    let told = send(&mut state, r#"{"put_node":{"node":"n1","group":"h","amount":{"gpu":8000}}}"#);
    assert_eq!(told, ["node n1 was added or changed", "picky started on 8 GPUs, in quota"]);
    assert_eq!(state.node_no(&NodeId::new("n1").unwrap()), Some(NodeNo(0)));
    assert_eq!(state.nodes.len(), 2);
}

#[test]
fn a_silent_node_that_is_deleted_is_waited_for_no_more() {
    let mut state = two("reported");
    let since = NOW.0 - 1_000;
    send(&mut state, &format!(r#"{{"node_silent":{{"node":"n1","since":{since},"stop_after_ms":60000}}}}"#));
    assert_eq!(state.silences.len(), 1);
    delete(&mut state, "n1");
    assert_eq!(state.silences.len(), 0);
    assert_eq!(transition::elapse(&state, Timestamp(NOW.0 + 3_600_000)), []);
    assert_eq!(send(&mut state, r#"{"node_heard":{"node":"n1"}}"#), ["there is no node n1"]);
    send(&mut state, r#"{"put_node":{"node":"n1","group":"g","amount":{"gpu":4000}}}"#);
    assert_eq!(state.nodes[0].silence, None);
}

#[test]
fn a_deleted_node_is_in_the_snapshot_and_holds_nothing_there() {
    let mut state = two("simulated");
    let before = serde_json::to_string(&Snapshot::of(&state).nodes).unwrap();
    assert!(!before.contains("is_deleted"), "clusters that were stored before are as they were: {before}");
    submit(&mut state, "j", 1000, r#"{"only":["n2"]}"#);
    delete(&mut state, "n1");
    let restored = Snapshot::of(&state).restore().unwrap();
    assert_eq!(Snapshot::of(&restored), Snapshot::of(&state));
    assert_eq!((&restored.floor, &restored.domains), (&state.floor, &state.domains));
    let mut damaged = Snapshot::of(&state);
    damaged.nodes[1].is_deleted = true;
    let refused = damaged.restore().unwrap_err().to_string();
    assert!(refused.ends_with("job j names a quota or node that is not there"), "{refused}");
}

#[test]
fn names_of_deleted_nodes_count() {
    let mut snapshot = Snapshot::of(&two("simulated"));
    let like = snapshot.nodes[0].clone();
    let named = |at: usize| engine::state::cluster::Node {
        id: NodeId::new(&format!("m{at}")).unwrap(),
        is_deleted: true,
        ..like.clone()
    };
    snapshot.nodes.extend((2..limit::NODES_MAX).map(named));
    let mut state = snapshot.restore().unwrap();
    let put = |name: &str| format!(r#"{{"put_node":{{"node":"{name}","group":"g","amount":{{"gpu":8000}}}}}}"#);
    assert_eq!(send(&mut state, &put("new")), ["20001 nodes, deleted ones included, are more than the 20000 allowed"]);
    assert_eq!(send(&mut state, &put("m7")), ["node m7 was added or changed"]);
}
