//! Commands as members of workspace-b, a stranger and a cluster administrator send them. `USER` is whoever sends.

use engine::message::rejection::Rejection;
use engine::state::world::State;
use engine::transition::Sender;
use engine::transition::authorise;
use engine::transition::may_adopt;
use engine::transition::may_see;
use engine::unit::id::JobId;
use engine::unit::id::UserId;
use engine::unit::id::WorkspaceId;

use crate::authorisation::teams::command;
use crate::authorisation::teams::send;
use crate::authorisation::teams::teams;

const SENDERS: [&str; 7] = ["guest", "developer", "operator", "administrator", "owner", "stranger", "cluster"];

fn sender(name: &str) -> Sender {
    Sender { user: UserId::new(name).unwrap(), administers: name == "cluster" }
}

/// `+` for allowed, `-` for denied, `?` for "there is no such thing".
fn mark(outcome: Result<(), Rejection>) -> char {
    match outcome {
        Ok(()) => '+',
        Err(Rejection::Denied { .. }) => '-',
        Err(Rejection::Unknown { .. }) => '?',
        Err(other) => panic!("{other}"),
    }
}

/// What each sender is told, in the order of [`SENDERS`].
fn marks(state: &State, text: &str) -> String {
    let one = |name: &&str| mark(authorise(state, &sender(name), &command(&text.replace("USER", name))));
    SENDERS.iter().map(one).collect()
}

fn check(text: &str, expected: &str) {
    assert_eq!(marks(&teams(), text), expected, "{text}");
}

fn check_submit(quota: &str, workspace: &str, user: &str, expected: &str) {
    let text = format!(
        r#"{{"submit_job":{{"job":"new","quota":"{quota}","workspace":{workspace},"user":{user},"pods":[{{"amount":{{"gpu":1000}}}}]}}}}"#
    );
    check(&text, expected);
}

#[test]
fn submitting() {
    check_submit("Quota1.1", r#""workspace-b""#, "null", "-++++?+");
    check_submit("Quota1.1", r#""workspace-b""#, r#""USER""#, "-++++?+");
    check_submit("Quota1.1", r#""workspace-b""#, r#""somebody""#, "------+");
    check_submit("Quota1.1", "null", "null", "------+");
}

#[test]
fn submitting_to_a_quota_that_is_not_the_workspaces_own() {
    for quota in ["Quota1", "Quota1.2", "Quota1.1.1", "Quota2", "no-such-quota"] {
        check_submit(quota, r#""workspace-b""#, "null", "-----?+");
    }
}

#[test]
fn bidding_for_ones_workspace() {
    let bid = |workspace: &str, expected| {
        let text = r#"{"submit_job":{"job":"new","workspace":W,"spot":{"offer":"o"},"pods":[]}}"#;
        check(&text.replace('W', workspace), expected);
    };
    bid(r#""workspace-b""#, "-++++?+");
    bid(r#""workspace-c""#, "??????+");
    bid("null", "------+");
}

#[test]
fn another_workspace_does_not_exist() {
    for workspace in ["workspace-a", "workspace-c", "no-such-workspace"] {
        check_submit("Quota1.2", &format!("{workspace:?}"), "null", "??????+");
        for text in [
            r#"{"delete_workspace":{"workspace":"W"}}"#,
            r#"{"attach_quota":{"workspace":"W","quota":"Quota1.1"}}"#,
            r#"{"detach_quota":{"workspace":"W","quota":"Quota1.2"}}"#,
            r#"{"put_member":{"workspace":"W","user":"USER","roles":["guest"]}}"#,
            r#"{"remove_member":{"workspace":"W","user":"carol"}}"#,
        ] {
            check(&text.replace('W', workspace), "??????+");
        }
        // Whether it exists shows in nothing: who may not create one is told the same.
        check(&r#"{"put_workspace":{"workspace":"W"}}"#.replace('W', workspace), "------+");
    }
}

#[test]
fn ones_own_job_and_those_of_others() {
    for text in [
        r#"{"cancel_job":{"job":"JOB"}}"#,
        r#"{"set_priority":{"job":"JOB","priority":9}}"#,
        r#"{"resize_job":{"job":"JOB","pods":9}}"#,
    ] {
        let on = |job: &str, expected| check(&text.replace("JOB", job), expected);
        on("USER-job", "-++++?+");
        on("guest-job", "--+++?+");
        on("owner-job", "--+++?+");
        on("carol-job", "??????+");
        on("no-such-job", "??????+");
    }
    check(r#"{"report":{"job":"USER-job","observed":"finished"}}"#, "-----?+");
}

#[test]
fn seeing_a_job() {
    let state = teams();
    let seen = |job: &str| -> String {
        let one = |name: &&str| mark(may_see(&state, &sender(name), &JobId::new(job).unwrap()));
        SENDERS.iter().map(one).collect()
    };
    assert_eq!(seen("guest-job"), "+++++?+");
    assert_eq!(seen("carol-job"), "??????+");
}

#[test]
fn settings_of_quotas() {
    let on = |quota: &str, expected| {
        check(&format!(r#"{{"update_quota":{{"quota":"{quota}","settings":{{}}}}}}"#), expected);
    };
    on("Quota1.1", "---++-+");
    for other in ["Quota1", "Quota1.2", "Quota1.1.1", "Quota2", "no-such-quota"] {
        on(other, "------+");
    }
}

#[test]
fn the_tree_and_the_machines() {
    for text in [
        r#"{"create_quota":{"quota":"new","parent":"Quota1.1","min":{"gpu":1000}}}"#,
        r#"{"create_quota":{"quota":"new","groups":["pool"],"min":{"gpu":1000}}}"#,
        r#"{"scale_quotas":{"targets":[{"quota":"Quota1.1","min":{"gpu":56000}}]}}"#,
        r#"{"scale_quotas":{"targets":[]}}"#,
        r#"{"delete_quota":{"quota":"Quota1.1"}}"#,
        r#"{"create_cluster":{"dimensions":[]}}"#,
        r#"{"put_group":{"group":"pool","resource_type":"lingjun","pool":{"gpu":1}}}"#,
        r#"{"put_node":{"node":"n","group":"pool","amount":{}}}"#,
        r#"{"delete_node":{"node":"n"}}"#,
        r#"{"create_offer":{"offer":"o","resource_type":"lingjun","instance":{"gpu":1},"inventory":1,"terms":{"original_price":10}}}"#,
        r#"{"update_offer":{"offer":"o","terms":{"original_price":10}}}"#,
        r#"{"delete_offer":{"offer":"o"}}"#,
        r#"{"publish_price":{"offer":"o","price":1}}"#,
        r#"{"set_inventory":{"offer":"o","inventory":1}}"#,
        r#"{"round":{}}"#,
    ] {
        check(text, "------+");
    }
}

#[test]
fn the_workspace() {
    check(r#"{"put_workspace":{"workspace":"workspace-b","name":"B"}}"#, "---++-+");
    check(r#"{"delete_workspace":{"workspace":"workspace-b"}}"#, "----+?+");
    check(r#"{"attach_quota":{"workspace":"workspace-b","quota":"Quota1"}}"#, "-----?+");
    check(r#"{"detach_quota":{"workspace":"workspace-b","quota":"Quota1.1"}}"#, "-----?+");
}

#[test]
fn members_get_no_role_above_that_of_the_giver() {
    let put = |user: &str, roles: &str, expected| {
        check(&format!(r#"{{"put_member":{{"workspace":"workspace-b","user":"{user}","roles":{roles}}}}}"#), expected);
    };
    put("new", r#"["developer"]"#, "---++?+");
    put("new", r#"["administrator"]"#, "---++?+");
    put("new", r#"["owner"]"#, "----+?+");
    put("operator", r#"["guest"]"#, "---++?+");
    put("owner", r#"["guest"]"#, "----+?+");
    put("owner", r#"["owner","guest"]"#, "---++?+");
}

#[test]
fn nobody_raises_their_own_role() {
    let put = |roles: &str, expected| {
        check(&format!(r#"{{"put_member":{{"workspace":"workspace-b","user":"USER","roles":{roles}}}}}"#), expected);
    };
    put(r#"["owner"]"#, "----+?+");
    put(r#"["guest","developer","operator","administrator"]"#, "---++?+");
    put(r#"["guest"]"#, "---++?+");
}

#[test]
fn everybody_may_leave_and_send_away_who_is_not_above_them() {
    let remove = |user: &str, expected| {
        check(&format!(r#"{{"remove_member":{{"workspace":"workspace-b","user":"{user}"}}}}"#), expected);
    };
    remove("USER", "+++++?+");
    remove("developer", "-+-++?+");
    remove("owner", "----+?+");
}

#[test]
fn roles_of_two_workspaces_are_not_added_up() {
    let mut state = teams();
    send(&mut state, r#"{"put_member":{"workspace":"workspace-c","user":"guest","roles":["owner"]}}"#).unwrap();
    let marks = |text: &str| marks(&state, text);
    assert_eq!(marks(r#"{"cancel_job":{"job":"owner-job"}}"#), "--+++?+");
    assert_eq!(marks(r#"{"cancel_job":{"job":"carol-job"}}"#), "+?????+");
    assert_eq!(marks(r#"{"update_quota":{"quota":"Quota1.1","settings":{}}}"#), "---++-+");
    assert_eq!(marks(r#"{"update_quota":{"quota":"Quota1.2","settings":{}}}"#), "+-----+");
}

#[test]
fn several_roles_allow_what_one_of_them_allows() {
    let mut state = teams();
    let roles = r#"{"put_member":{"workspace":"workspace-b","user":"guest","roles":["guest","developer"]}}"#;
    send(&mut state, roles).unwrap();
    assert_eq!(marks(&state, r#"{"cancel_job":{"job":"USER-job"}}"#), "+++++?+");
    assert_eq!(marks(&state, r#"{"cancel_job":{"job":"owner-job"}}"#), "--+++?+");
}

#[test]
fn keys_are_ones_own() {
    let mut state = teams();
    let create = |user: &str, administers: bool| {
        format!(r#"{{"create_key":{{"key":"new","user":"{user}","administers":{administers}}}}}"#)
    };
    assert_eq!(marks(&state, &create("USER", false)), "+++++-+");
    assert_eq!(marks(&state, &create("carol", false)), "------+");
    assert_eq!(marks(&state, &create("USER", true)), "------+");
    let agent = r#"{"create_key":{"key":"gpu-1","user":"owner","serves":["nodes"]}}"#;
    assert_eq!(marks(&state, agent), "------+", "what an agent reports counts as seen");
    send(&mut state, r#"{"put_group":{"group":"nodes","resource_type":"lingjun"}}"#).unwrap();
    send(&mut state, agent).unwrap();
    for (key, user, administers) in
        [("owner-key", "owner", false), ("carol-key", "carol", false), ("root", "owner", true)]
    {
        let text = format!(r#"{{"create_key":{{"key":"{key}","user":"{user}","administers":{administers}}}}}"#);
        send(&mut state, &text).unwrap();
    }
    for deed in ["rotate_key", "revoke_key"] {
        let marks = |key: &str| marks(&state, &format!(r#"{{"{deed}":{{"key":"{key}"}}}}"#));
        assert_eq!(marks("owner-key"), "????+?+");
        assert_eq!(marks("carol-key"), "??????+");
        assert_eq!(marks("no-such-key"), "??????+");
        assert_eq!(marks("gpu-1"), "??????+", "the key of an agent, also to the one whose name it has");
        // Whoever got at its secret would administer the cluster.
        assert_eq!(marks("root"), "????-?+");
    }
}

#[test]
fn a_plan_needs_what_each_of_its_commands_needs() {
    let plan = |commands: &str| format!(r#"{{"apply_plan":{{"commands":[{commands}]}}}}"#);
    let (own, anybodys) = (r#"{"cancel_job":{"job":"USER-job"}}"#, r#"{"cancel_job":{"job":"owner-job"}}"#);
    let quotas = r#"{"update_quota":{"quota":"Quota1.1","settings":{}}}"#;
    check(&plan(own), &marks(&teams(), own));
    check(&plan(&format!("{own},{anybodys}")), &marks(&teams(), anybodys));
    check(&plan(&format!("{anybodys},{quotas}")), "---++?+");
}

/// What is said when an agent that adopts for these workspaces sends a command in a user's name.
fn adopted(state: &State, adopts: &[&str], user: &str, text: &str) -> char {
    let adopts: Vec<WorkspaceId> = adopts.iter().map(|workspace| WorkspaceId::new(workspace).unwrap()).collect();
    mark(may_adopt(state, &adopts, &UserId::new(user).unwrap(), &command(text)))
}

#[test]
fn an_agent_adopts_for_its_workspaces_what_their_members_may_send() {
    let state = teams();
    let submit = |workspace: &str, quota: &str, user: &str| {
        format!(
            r#"{{"submit_job":{{"job":"new","quota":"{quota}","workspace":"{workspace}","user":"{user}","pods":[{{"amount":{{"gpu":1000}}}}]}}}}"#
        )
    };
    let own = submit("workspace-b", "Quota1.1", "developer");
    assert_eq!(adopted(&state, &["workspace-b"], "developer", &own), '+');
    assert_eq!(adopted(&state, &["workspace-a", "workspace-b"], "developer", &own), '+');
    assert_eq!(adopted(&state, &["workspace-a"], "developer", &own), '-', "its key does not name the workspace");
    assert_eq!(adopted(&state, &[], "developer", &own), '-');
    assert_eq!(adopted(&state, &["workspace-b"], "owner", &own), '-', "in the name of one for another");
    assert_eq!(adopted(&state, &["workspace-b"], "guest", &submit("workspace-b", "Quota1.1", "guest")), '-');
    assert_eq!(adopted(&state, &["workspace-b"], "stranger", &submit("workspace-b", "Quota1.1", "stranger")), '?');
    assert_eq!(adopted(&state, &["workspace-b"], "developer", &submit("workspace-b", "Quota1.2", "developer")), '-');
    let cancel = |job: &str| format!(r#"{{"cancel_job":{{"job":"{job}"}}}}"#);
    assert_eq!(adopted(&state, &["workspace-b"], "developer", &cancel("developer-job")), '+');
    assert_eq!(adopted(&state, &["workspace-b"], "developer", &cancel("owner-job")), '-');
    assert_eq!(adopted(&state, &["workspace-a"], "developer", &cancel("developer-job")), '-');
    assert_eq!(adopted(&state, &["workspace-b"], "developer", &cancel("no-such-job")), '-');
    // Nothing else, whatever its user may do.
    for text in [
        r#"{"update_quota":{"quota":"Quota1.1","settings":{}}}"#,
        r#"{"set_priority":{"job":"owner-job","priority":2}}"#,
        r#"{"create_key":{"key":"k","user":"owner"}}"#,
        r#"{"apply_plan":{"commands":[]}}"#,
    ] {
        assert_eq!(adopted(&state, &["workspace-b"], "owner", text), '-', "{text}");
    }
}

#[test]
fn the_key_of_an_agent_and_no_other_adopts() {
    let mut state = teams();
    send(&mut state, r#"{"put_group":{"group":"nodes","resource_type":"lingjun"}}"#).unwrap();
    let create = |more: &str| format!(r#"{{"create_key":{{"key":"gpu-1","user":"owner"{more}}}}}"#);
    assert_eq!(
        send(&mut state, &create(r#","adopts":["workspace-b"]"#)),
        Err("only the key of an agent adopts jobs; name the groups that it serves".to_owned())
    );
    assert_eq!(
        send(&mut state, &create(r#","serves":["nodes"],"adopts":["nowhere"]"#)),
        Err("there is no workspace nowhere".to_owned())
    );
    let made = create(r#","serves":["nodes"],"adopts":["workspace-b","workspace-a","workspace-b"]"#);
    assert_eq!(send(&mut state, &made), Ok(1));
    assert_eq!(send(&mut state, &made), Ok(0), "asking again changes nothing");
    assert!(send(&mut state, &create(r#","serves":["nodes"]"#)).is_err(), "it is another key");
}
