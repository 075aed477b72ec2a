//! What is said of a gang for which there is no room on the nodes, in numbers.
#![expect(clippy::unwrap_used, reason = "a panic is a failed test")]

use engine::host::authority;
use engine::job::hold::Blocker;
use engine::job::phase::Source;
use engine::message;
use engine::message::command::Command;
use engine::schedule::judge;
use engine::schedule::trial::Trial;
use engine::state::world::State;
use engine::unit::id::JobId;
use engine::unit::time::Timestamp;

/// Two nodes. What is free of the first two dimensions is on one of them, and what is free of the others on the other.
const SETTING: &str = r#"
{"create_cluster":{"dimensions":[{"name":"cpu","kind":"cpu"},{"name":"gpu","kind":"gpu"},{"name":"memory","kind":"memory"},{"name":"rdma","kind":"other"}]}}
{"put_group":{"group":"g","resource_type":"lingjun"}}
{"put_node":{"node":"n0","group":"g","amount":{"cpu":8000,"gpu":8000,"memory":64,"rdma":8}}}
{"put_node":{"node":"n1","group":"g","amount":{"cpu":8000,"gpu":8000,"memory":64,"rdma":8}}}
{"create_quota":{"quota":"q","groups":["g"],"min":{"cpu":16000,"gpu":16000,"memory":128,"rdma":16}}}
{"submit_job":{"job":"first","quota":"q","pods":[{"count":1,"amount":{"cpu":8000,"memory":64}}],"nodes":{"only":["n0"]}}}
{"submit_job":{"job":"second","quota":"q","pods":[{"count":1,"amount":{"gpu":8000,"rdma":8}}],"nodes":{"only":["n1"]}}}
"#;

fn setting() -> State {
    let mut state = State::default();
    for line in SETTING.lines().filter(|line| !line.is_empty()) {
        let command: Command = message::read(line.as_bytes()).unwrap();
        authority::step(&mut state, &command, Timestamp(0)).unwrap();
    }
    assert!(state.jobs.iter().all(|(_, job)| job.is_running()));
    state
}

/// The dimension by which a pod is described that finds no room, and how much of it the pod asks for and a node has.
fn told(pod: &str) -> (u8, i64, i64) {
    let mut state = setting();
    let submit = format!(r#"{{"submit_job":{{"job":"next","quota":"q","pods":[{{"count":1,"amount":{pod}}}]}}}}"#);
    let command: Command = message::read(submit.as_bytes()).unwrap();
    authority::step(&mut state, &command, Timestamp(0)).unwrap();
    let no = state.jobs.find(&JobId::new("next").unwrap()).unwrap();
    let hold = judge::ask(&Trial::new(&state, Timestamp(0)), &state.jobs[no].spec).unwrap_err();
    let own = hold.attempts.iter().find(|attempt| attempt.source == Source::Own).unwrap();
    let Blocker::NoRoom { fit: 0, dimension, asked, free, unsolved: None, .. } = own.blocker else { panic!("{own:?}") };
    (dimension, asked, free)
}

/// Each node has enough of one thing and too little of another.
#[test]
fn where_no_amount_is_short_by_itself_the_gpus_stand_for_the_pod_or_what_it_asks_for_first() {
    assert_eq!(told(r#"{"cpu":1000,"gpu":8000,"memory":64}"#), (1, 8000, 8000));
    assert_eq!(told(r#"{"memory":64,"rdma":8}"#), (2, 64, 64));
}
