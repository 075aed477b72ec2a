//! The three-team example as a state, for tests: 128 GPUs, all of them in use.

use engine::host::authority;
use engine::message::command::Command;
use engine::message::command::SubmitJob;
use engine::message::envelope::Envelope;
use engine::state::world::State;
use engine::unit::id::QuotaId;
use engine::unit::id::QuotaNo;
use engine::unit::time::Timestamp;

use crate::job_draft::JobDraft;

/// When everything in the example happens.
pub(crate) const START: Timestamp = Timestamp(1_700_000_000_000);

/// The example.
pub(crate) fn three_teams() -> State {
    let mut state = State::default();
    for line in include_str!("../../public/examples/three-teams.jsonl").lines() {
        let envelope: Envelope = serde_json::from_str(line).expect("the example can be read");
        decide(&mut state, &envelope.command);
    }
    state
}

/// Decides a command.
pub(crate) fn decide(state: &mut State, command: &Command) {
    authority::step(state, command, START).expect("the example's commands are accepted");
}

/// A job of one pod with so many GPUs.
pub(crate) fn job(state: &State, name: &str, quota: &str, gpus: u32) -> SubmitJob {
    let draft = JobDraft::new(&state.cluster, name.to_owned(), quota.to_owned());
    JobDraft { amounts: vec![gpus.to_string()], ..draft }.command(&state.cluster).expect("the form is complete")
}

/// A quota's number.
pub(crate) fn quota(state: &State, name: &str) -> QuotaNo {
    QuotaId::new(name).ok().and_then(|id| state.quota_no(&id)).expect("the quota exists")
}

/// Three nodes in two groups: `n1` with 1 of 8 GPUs free, `n2` with 3, `n10` with all of its 4.
pub(crate) fn two_machines(execution: &str) -> State {
    let dimensions = r#"[{"name":"gpu","kind":"gpu"}]"#;
    let job = |name: &str, count: u32, gpus: u32| {
        format!(
            r#"{{"submit_job":{{"job":"{name}","quota":"team","pods":[{{"count":{count},"amount":{{"gpu":{gpus}}}}}]}}}}"#
        )
    };
    let node = |name: &str, group: &str, gpus: u32, gpu_type: &str| {
        format!(r#"{{"put_node":{{"node":"{name}","group":"{group}","amount":{{"gpu":{gpus}}}{gpu_type}}}}}"#)
    };
    let commands = [
        format!(r#"{{"create_cluster":{{"dimensions":{dimensions},"execution":"{execution}"}}}}"#),
        r#"{"put_group":{"group":"m","resource_type":"lingjun"}}"#.to_owned(),
        r#"{"put_group":{"group":"old","resource_type":"lingjun"}}"#.to_owned(),
        node("n1", "m", 8_000, ""),
        node("n2", "m", 8_000, r#","gpu_type":"H100""#),
        node("n10", "old", 4_000, ""),
        r#"{"create_quota":{"quota":"team","groups":["m","old"],"min":{"gpu":20000}}}"#.to_owned(),
        job("wide", 2, 5_000),
        job("small", 1, 2_000),
    ];
    let mut state = State::default();
    for text in commands {
        decide(&mut state, &engine::message::read(text.as_bytes()).expect("the example can be read"));
    }
    state
}
