//! What people read: why they may not, and why a workspace is not as they want it.

use engine::transition::Sender;
use engine::transition::authorise;
use engine::unit::id::UserId;

use crate::authorisation::teams::command;
use crate::authorisation::teams::send;
use crate::authorisation::teams::teams;

fn told(user: &str, text: &str) -> String {
    let sender = Sender { user: UserId::new(user).unwrap(), administers: false };
    authorise(&teams(), &sender, &command(text)).unwrap_err().to_string()
}

#[test]
fn who_may_not_reads_why_and_who_may() {
    assert_eq!(
        told("developer", r#"{"cancel_job":{"job":"owner-job"}}"#),
        "developer may not cancel another member's job; that takes the role operator, administrator, owner or cluster \
         administrator, and theirs is developer"
    );
    assert_eq!(
        told("administrator", r#"{"scale_quotas":{"targets":[{"quota":"Quota1.1","min":{"gpu":56000}}]}}"#),
        "administrator may not create, scale or delete a quota of the workspace; that takes the role cluster \
         administrator, and theirs is administrator"
    );
    assert_eq!(
        told("owner", r#"{"update_quota":{"quota":"Quota1","settings":{}}}"#),
        "owner may not change the settings of a parent of the workspace's quota; that takes the role cluster \
         administrator, and theirs is owner"
    );
    assert_eq!(
        told("stranger", r#"{"round":{}}"#),
        "stranger may not change machines or offers, or run rounds; that takes the role cluster administrator, and they have none"
    );
    assert_eq!(
        told("administrator", r#"{"put_member":{"workspace":"workspace-b","user":"administrator","roles":["owner"]}}"#),
        "administrator may neither give nor take the role owner, which is above theirs, administrator"
    );
    assert_eq!(
        told("owner", r#"{"submit_job":{"job":"j","quota":"Quota1.1","pods":[]}}"#),
        "owner may submit jobs only in a workspace; name one of theirs"
    );
}

#[test]
fn what_is_elsewhere_reads_as_what_does_not_exist() {
    assert_eq!(told("owner", r#"{"cancel_job":{"job":"carol-job"}}"#), "there is no job carol-job");
    assert_eq!(
        told("owner", r#"{"delete_workspace":{"workspace":"workspace-c"}}"#),
        "there is no workspace workspace-c"
    );
}

/// What the engine answers, with each refused command leaving everything as it was.
fn refused(text: &str) -> String {
    let mut state = teams();
    let before = state.clone();
    let refusal = send(&mut state, text).unwrap_err();
    assert_eq!(state, before);
    refusal
}

#[test]
fn a_job_runs_in_a_quota_of_its_workspace() {
    let submit = |workspace: &str, quota: &str| {
        refused(&format!(
            r#"{{"submit_job":{{"job":"j","quota":"{quota}","workspace":"{workspace}","pods":[{{"amount":{{"gpu":1000}}}}]}}}}"#
        ))
    };
    assert_eq!(submit("workspace-x", "Quota1.1"), "there is no workspace workspace-x");
    assert_eq!(
        submit("workspace-b", "Quota1.2"),
        "quota Quota1.2 is not attached to workspace workspace-b; attach it, or submit to a quota that is"
    );
}

#[test]
fn what_is_in_use_stays() {
    assert_eq!(
        refused(r#"{"detach_quota":{"workspace":"workspace-c","quota":"Quota1.2"}}"#),
        "quota Quota1.2 has the job carol-job of workspace workspace-c, which has not ended; cancel it or wait for it"
    );
    assert_eq!(
        refused(r#"{"delete_workspace":{"workspace":"workspace-c"}}"#),
        "workspace workspace-c has the job carol-job, which has not ended; cancel it or wait for it"
    );
    let mut state = teams();
    send(&mut state, r#"{"cancel_job":{"job":"carol-job"}}"#).unwrap();
    assert_eq!(
        send(&mut state, r#"{"delete_quota":{"quota":"Quota1.2"}}"#),
        Err("quota Quota1.2 is attached to workspace workspace-c; detach it first".to_owned())
    );
    for text in [
        r#"{"detach_quota":{"workspace":"workspace-c","quota":"Quota1.2"}}"#,
        r#"{"delete_quota":{"quota":"Quota1.2"}}"#,
        r#"{"delete_workspace":{"workspace":"workspace-c"}}"#,
    ] {
        assert_eq!(send(&mut state, text), Ok(1), "{text}");
    }
}

#[test]
fn members_have_roles_of_a_workspace() {
    let put =
        |roles: &str| refused(&format!(r#"{{"put_member":{{"workspace":"workspace-b","user":"u","roles":{roles}}}}}"#));
    assert_eq!(put("[]"), "u would have no role in workspace workspace-b; give at least one, or remove the member");
    assert_eq!(
        put(r#"["owner","cluster_administrator"]"#),
        "the role cluster administrator is nobody's in a workspace; give another one"
    );
    assert_eq!(refused(r#"{"remove_member":{"workspace":"workspace-b","user":"u"}}"#), "there is no member u");
}

#[test]
fn a_command_that_changes_nothing_is_accepted() {
    let mut state = teams();
    for text in [
        r#"{"put_workspace":{"workspace":"workspace-b"}}"#,
        r#"{"attach_quota":{"workspace":"workspace-b","quota":"Quota1.1"}}"#,
        r#"{"detach_quota":{"workspace":"workspace-b","quota":"Quota2"}}"#,
        r#"{"put_member":{"workspace":"workspace-b","user":"guest","roles":["guest"]}}"#,
    ] {
        assert_eq!(send(&mut state, text), Ok(0), "{text}");
    }
}

#[test]
fn a_key_that_has_ended_stays_so() {
    let mut state = teams();
    let create = |key: &str, more: &str| format!(r#"{{"create_key":{{"key":"{key}","user":"owner"{more}}}}}"#);
    assert_eq!(send(&mut state, &create("k", "")), Ok(1));
    assert_eq!(send(&mut state, &create("k", "")), Ok(0));
    assert_eq!(
        send(&mut state, &create("k", r#","administers":true"#)),
        Err("key k exists and is different; choose another name, or repeat exactly what was sent first".to_owned())
    );
    assert_eq!(send(&mut state, r#"{"rotate_key":{"key":"k"}}"#), Ok(1));
    assert_eq!(send(&mut state, r#"{"revoke_key":{"key":"k"}}"#), Ok(1));
    assert_eq!(send(&mut state, r#"{"revoke_key":{"key":"k"}}"#), Ok(0));
    let over = "key k has been revoked or has expired; create another one";
    assert_eq!(send(&mut state, r#"{"rotate_key":{"key":"k"}}"#), Err(over.to_owned()));
    assert!(send(&mut state, &create("k", "")).is_err());
    assert!(send(&mut state, &create("late", r#","expires":7"#)).is_err());
    for at in 0..20 {
        assert_eq!(send(&mut state, &create(&format!("k{at}"), "")), Ok(1));
    }
    assert_eq!(
        send(&mut state, &create("k20", "")),
        Err("21 keys of owner (revoke one that is not needed) are more than the 20 allowed".to_owned())
    );
}
