//! The example of the seeds with people in it.

use engine::host::authority;
use engine::message;
use engine::message::command::Command;
use engine::state::world::State;
use engine::unit::time::Timestamp;

/// `Quota1` with two children, one of which has a child of its own; another root; a workspace for each team. In
/// workspace-b there is one member for each role, and two of each have a job there.
pub(crate) fn teams() -> State {
    let mut state = State::default();
    for command in [
        r#"{"create_cluster":{"dimensions":[{"name":"gpu","kind":"gpu"}]}}"#,
        r#"{"put_group":{"group":"pool","resource_type":"lingjun","pool":{"gpu":192000}}}"#,
        r#"{"create_quota":{"quota":"Quota1","groups":["pool"],"min":{"gpu":128000}}}"#,
        r#"{"create_quota":{"quota":"Quota1.1","parent":"Quota1","min":{"gpu":48000}}}"#,
        r#"{"create_quota":{"quota":"Quota1.2","parent":"Quota1","min":{"gpu":80000}}}"#,
        r#"{"create_quota":{"quota":"Quota1.1.1","parent":"Quota1.1","min":{"gpu":8000}}}"#,
        r#"{"create_quota":{"quota":"Quota2","groups":["pool"],"min":{"gpu":64000}}}"#,
    ] {
        send(&mut state, command).unwrap();
    }
    for (workspace, quota) in [("workspace-a", "Quota1"), ("workspace-b", "Quota1.1"), ("workspace-c", "Quota1.2")] {
        send(&mut state, &format!(r#"{{"put_workspace":{{"workspace":"{workspace}"}}}}"#)).unwrap();
        send(&mut state, &format!(r#"{{"attach_quota":{{"workspace":"{workspace}","quota":"{quota}"}}}}"#)).unwrap();
    }
    for role in ["guest", "developer", "operator", "administrator", "owner"] {
        put_member(&mut state, "workspace-b", role, role);
        submit(&mut state, "workspace-b", "Quota1.1", role);
    }
    put_member(&mut state, "workspace-c", "carol", "owner");
    submit(&mut state, "workspace-c", "Quota1.2", "carol");
    state
}

pub(crate) fn command(text: &str) -> Command {
    message::read(text.as_bytes()).unwrap()
}

pub(crate) fn send(state: &mut State, text: &str) -> Result<usize, String> {
    let events = authority::step(state, &command(text), Timestamp(7)).map_err(|rejection| rejection.to_string())?;
    assert_eq!(engine::ledger::check::difference(state), None);
    Ok(events.len())
}

fn put_member(state: &mut State, workspace: &str, user: &str, role: &str) {
    let text = format!(r#"{{"put_member":{{"workspace":"{workspace}","user":"{user}","roles":["{role}"]}}}}"#);
    send(state, &text).unwrap();
}

fn submit(state: &mut State, workspace: &str, quota: &str, user: &str) {
    let text = format!(
        r#"{{"submit_job":{{"job":"{user}-job","quota":"{quota}","workspace":"{workspace}","user":"{user}","pods":[{{"amount":{{"gpu":1000}}}}]}}}}"#
    );
    send(state, &text).unwrap();
}
