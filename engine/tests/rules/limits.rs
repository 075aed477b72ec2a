//! How many of everything there may be: as many as the limit says, and none more.
#![expect(clippy::unwrap_used, reason = "a panic is a failed test")]

use engine::host::authority;
use engine::message;
use engine::message::command::Command;
use engine::message::event::Event;
use engine::message::rejection::Rejection;
use engine::message::snapshot::Snapshot;
use engine::state::world::State;
use engine::unit::id::GroupId;
use engine::unit::id::NodeId;
use engine::unit::id::QuotaId;
use engine::unit::id::UserId;
use engine::unit::id::WorkspaceId;
use engine::unit::limit;
use engine::unit::time::Timestamp;

type Answer = Result<Vec<Event>, Rejection>;

fn send(state: &mut State, command: &str) -> Answer {
    let command: Command = message::read(command.as_bytes()).unwrap();
    authority::step(state, &command, Timestamp(0))
}

/// One of each.
fn small() -> State {
    let mut state = State::default();
    for command in [
        r#"{"create_cluster":{"dimensions":[{"name":"gpu","kind":"gpu"},{"name":"other","kind":"gpu"}]}}"#,
        r#"{"put_group":{"group":"machines","resource_type":"lingjun","pool":null}}"#,
        r#"{"put_node":{"node":"node","group":"machines","amount":{"gpu":8000},"status":"ready"}}"#,
        r#"{"create_quota":{"quota":"root","groups":["machines"],"min":{"gpu":0}}}"#,
        r#"{"put_workspace":{"workspace":"team"}}"#,
        r#"{"put_member":{"workspace":"team","user":"lead","roles":["administrator"]}}"#,
    ] {
        send(&mut state, command).unwrap();
    }
    state
}

/// The same with something else in it.
fn with(change: impl FnOnce(&mut Snapshot)) -> State {
    let mut snapshot = Snapshot::of(&small());
    change(&mut snapshot);
    snapshot.restore().unwrap()
}

/// With one less than the limit there is room for one, and then for none.
fn one_more(mut state: State, first: &str, second: &str, what: &str, limit: usize) {
    send(&mut state, first).unwrap();
    refuses(&mut state, second, what, limit + 1, limit);
}

fn refuses(state: &mut State, command: &str, what: &str, count: usize, limit: usize) {
    let expected = Rejection::Limit { what: what.to_owned(), count: count as u64, limit: limit as u64 };
    assert_eq!(send(state, command), Err(expected));
}

#[test]
fn nodes() {
    let node = |name: &str| {
        format!(r#"{{"put_node":{{"node":"{name}","group":"machines","amount":{{"gpu":8000}},"status":"ready"}}}}"#)
    };
    let state = with(|snapshot| {
        let like = snapshot.nodes[0].clone();
        let name = |at: usize| NodeId::new(&format!("node-{at}")).unwrap();
        snapshot.nodes =
            (1..limit::NODES_MAX).map(|at| engine::state::cluster::Node { id: name(at), ..like.clone() }).collect();
    });
    one_more(state, &node("last"), &node("too-many"), "nodes", limit::NODES_MAX);
}

#[test]
fn a_gpu_that_was_meant_whole_is_told_its_unit() {
    let commands = |gpus: i64| {
        let amount = format!(r#"{{"gpu":{gpus}}}"#);
        [
            format!(r#"{{"put_group":{{"group":"pool","resource_type":"general","pool":{amount}}}}}"#),
            format!(r#"{{"create_quota":{{"quota":"q","parent":"root","min":{amount}}}}}"#),
            format!(r#"{{"scale_quotas":{{"targets":[{{"quota":"root","min":{amount}}}]}}}}"#),
            format!(r#"{{"submit_job":{{"job":"j","quota":"root","pods":[{{"amount":{amount}}}]}}}}"#),
            format!(
                r#"{{"create_offer":{{"offer":"o","resource_type":"lingjun","instance":{amount},"inventory":1,
                "price":1000,"terms":{{"original_price":2000}}}}}}"#
            ),
        ]
    };
    for command in commands(8) {
        let told = send(&mut small(), &command).unwrap_err().to_string();
        let expected =
            "is 8 thousandths of a GPU, and the smallest share is 10; amounts are in thousandths; did you mean 8000?";
        assert!(told.ends_with(expected), "{command}: {told}");
    }
    let unit = |gpus: i64| {
        let told = commands(gpus).map(|command| send(&mut small(), &command).err().map(|told| told.to_string()));
        told.into_iter().flatten().filter(|told| told.contains("did you mean")).count()
    };
    assert_eq!([0, 1, 9, 10, 500].map(unit), [0, 5, 5, 0, 0]);
}

#[test]
fn a_node_has_gpus_of_one_type() {
    let node =
        r#"{"put_node":{"node":"mixed","group":"machines","amount":{"gpu":1000,"other":1000},"status":"ready"}}"#;
    let refused = send(&mut small(), node).unwrap_err().to_string();
    assert_eq!(refused, "node mixed has GPUs in gpu and in other; a node has GPUs of one type");
}

#[test]
fn groups() {
    let group = |name: &str| format!(r#"{{"put_group":{{"group":"{name}","resource_type":"lingjun","pool":null}}}}"#);
    let state = with(|snapshot| {
        let like = snapshot.groups[0].clone();
        let name = |at: usize| GroupId::new(&format!("group-{at}")).unwrap();
        let more = (2..limit::GROUPS_MAX).map(|at| engine::state::cluster::Group { id: name(at), ..like.clone() });
        snapshot.groups.extend(more);
    });
    one_more(state, &group("last"), &group("too-many"), "resource groups", limit::GROUPS_MAX);
}

#[test]
fn quotas() {
    let quota = |name: &str| format!(r#"{{"create_quota":{{"quota":"{name}","parent":"root","min":{{"gpu":0}}}}}}"#);
    let mut like = small();
    send(&mut like, &quota("child")).unwrap();
    let mut snapshot = Snapshot::of(&like);
    let child = snapshot.quotas[1].clone();
    let name = |at: usize| QuotaId::new(&format!("child-{at}")).unwrap();
    let more = (3..limit::QUOTAS_MAX).map(|at| engine::quota::tree::Quota { id: name(at), ..child.clone() });
    snapshot.quotas.extend(more);
    one_more(snapshot.restore().unwrap(), &quota("last"), &quota("too-many"), "quotas", limit::QUOTAS_MAX);
}

#[test]
fn levels_of_quotas() {
    let mut state = small();
    let mut parent = "root".to_owned();
    let create = |quota: &str, parent: &str| {
        format!(r#"{{"create_quota":{{"quota":"{quota}","parent":"{parent}","min":{{"gpu":0}}}}}}"#)
    };
    for level in 2..=limit::DEPTH_MAX {
        let quota = format!("level-{level}");
        send(&mut state, &create(&quota, &parent)).unwrap();
        parent = quota;
    }
    refuses(&mut state, &create("too-deep", &parent), "levels of quotas", limit::DEPTH_MAX + 1, limit::DEPTH_MAX);
}

#[test]
fn workspaces_and_members() {
    let workspace = |name: &str| format!(r#"{{"put_workspace":{{"workspace":"{name}"}}}}"#);
    let member =
        |name: &str| format!(r#"{{"put_member":{{"workspace":"team","user":"{name}","roles":["developer"]}}}}"#);
    let team = WorkspaceId::new("team").unwrap();
    let many = with(|snapshot| {
        let like = snapshot.workspaces[&team].clone();
        let name = |at: usize| WorkspaceId::new(&format!("team-{at}")).unwrap();
        for at in 2..limit::WORKSPACES_MAX {
            snapshot.workspaces.insert(name(at), like.clone());
        }
    });
    one_more(many, &workspace("last"), &workspace("too-many"), "workspaces", limit::WORKSPACES_MAX);
    let large = with(|snapshot| {
        let members = &mut snapshot.workspaces.get_mut(&team).unwrap().members;
        let (_, like) = members.iter().next().unwrap();
        let (like, name) = (*like, |at: usize| UserId::new(&format!("user-{at}")).unwrap());
        for at in 2..limit::MEMBERS_MAX {
            members.insert(name(at), like);
        }
    });
    one_more(large, &member("last"), &member("too-many"), "members of workspace team", limit::MEMBERS_MAX);
}

#[test]
fn slots_without_a_round_are_counted() {
    let mut state = small();
    let round = |slot: i64| format!(r#"{{"round":{{"slot":{slot}}}}}"#);
    for (slot, missed) in [(7, 0), (8, 0), (12, 3), (14, 4)] {
        send(&mut state, &round(slot)).unwrap();
        assert_eq!(state.missed_slots, missed, "after slot {slot}");
    }
    assert_eq!(send(&mut state, &round(14)), Err(Rejection::SlotDone { slot: 14, last: 14 }));
}
