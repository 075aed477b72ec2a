//! What a member sees of other workspaces: amounts, and nothing that has a name.

use engine::explain;
use engine::host::authority;
use engine::host::replica::Replica;
use engine::host::replica::Taken;
use engine::host::visibility::Visibility;
use engine::message;
use engine::message::envelope::Entry;
use engine::message::envelope::Envelope;
use engine::message::envelope::Receipt;
use engine::message::event::Event;
use engine::state::world::State;
use engine::transition::Sender;
use engine::transition::apply;
use engine::transition::may_see;
use engine::unit::id::JobId;
use engine::unit::id::JobNo;
use engine::unit::id::UserId;
use engine::unit::time::Timestamp;

use crate::authorisation::teams::teams;

/// What happens while a member of workspace-b watches: others submit, wait, fail and are evicted, workspaces change.
const DAY: [(&str, &str); 13] = [
    (
        "cluster",
        r#"{"update_quota":{"quota":"Quota1","settings":{"child_level":{"preemptible":[1,2,3],"modules":["DLC"]}}}}"#,
    ),
    (
        "carol",
        r#"{"submit_job":{"job":"secret-1","quota":"Quota1.2","workspace":"workspace-c","name":"secret","pods":[{"amount":{"gpu":79000}}]}}"#,
    ),
    (
        "carol",
        r#"{"submit_job":{"job":"secret-2","quota":"Quota1.2","workspace":"workspace-c","pods":[{"amount":{"gpu":80000}}]}}"#,
    ),
    ("carol", r#"{"report":{"job":"carol-job","observed":{"failed":{"reason":"secret reason"}}}}"#),
    ("cluster", r#"{"put_workspace":{"workspace":"secret-workspace"}}"#),
    ("cluster", r#"{"attach_quota":{"workspace":"secret-workspace","quota":"Quota2"}}"#),
    ("cluster", r#"{"put_member":{"workspace":"secret-workspace","user":"secret-user","roles":["owner"]}}"#),
    ("cluster", r#"{"create_key":{"key":"secret-key","user":"carol"}}"#),
    (
        "secret-user",
        r#"{"submit_job":{"job":"secret-3","quota":"Quota2","workspace":"secret-workspace","pods":[{"amount":{"gpu":1000}}]}}"#,
    ),
    (
        "cluster",
        r#"{"submit_job":{"job":"secret-4","quota":"Quota1","workspace":"workspace-a","priority":9,"module":"EAS","pods":[{"amount":{"gpu":100000}}]}}"#,
    ),
    ("carol", r#"{"cancel_job":{"job":"secret-2"}}"#),
    ("owner", r#"{"cancel_job":{"job":"guest-job"}}"#),
    ("cluster", r#"{"round":{"slot":1}}"#),
];

fn sender(name: &str) -> Sender {
    Sender { user: UserId::new(name).unwrap(), administers: name == "cluster" }
}

/// Sends a command as its sender. The first and the last two concern everybody, or the member's own workspace.
fn entry(state: &mut State, at: usize, (by, command): (&str, &str)) -> Entry {
    let kind = if (1..=10).contains(&at) { "secret" } else { "known" };
    let run = state.jobs.find(&JobId::new("again-job").unwrap()).and_then(|no| state.jobs[no].run_no());
    let command = command.replace("CURRENT", &run.map_or_else(String::new, |run| run.to_string()));
    let text = format!(r#"{{"format":1,"id":"{kind}-id-{at}","command":{command}}}"#);
    let envelope = sender(by).sign(message::read::<Envelope>(text.as_bytes()).unwrap());
    let now = Timestamp(60_000 + i64::try_from(at).unwrap());
    let Receipt { revision, at, events, .. } = authority::handle(state, &envelope, now).unwrap();
    Entry { format: 1, revision, at, envelope, events }
}

/// The cluster of the teams, in which jobs are run by somebody who reports.
fn reported() -> State {
    let mut snapshot = message::snapshot::Snapshot::of(&teams());
    snapshot.cluster.execution = engine::state::cluster::Execution::Reported;
    snapshot.restore().unwrap()
}

#[test]
fn no_name_of_another_workspace_is_in_what_a_member_reads() {
    let (mut state, member) = (reported(), sender("developer"));
    let mut seen = String::new();
    for (at, one) in DAY.into_iter().enumerate() {
        let entry = entry(&mut state, at, one);
        let visibility = Visibility::new(&state, &member);
        seen += &serde_json::to_string(&visibility.entry(&entry)).unwrap();
        seen += &serde_json::to_string(&visibility.snapshot()).unwrap();
    }
    for name in ["carol", "secret-", "secret reason", "\"secret\"", "workspace-a", "workspace-c"] {
        assert!(!seen.contains(name), "{name} in {seen}");
    }
    for name in ["another workspace's job", "workspace-b", "developer-job", "known-id-11", "veiled", "\"by\":\"owner\""]
    {
        assert!(seen.contains(name), "{name}");
    }
}

#[test]
fn a_replica_of_what_a_member_sees_stays_that() {
    let (mut state, member) = (reported(), sender("developer"));
    let mut replica = Replica::new(Visibility::new(&state, &member).snapshot()).unwrap();
    for (at, one) in DAY.into_iter().enumerate() {
        let entry = entry(&mut state, at, one);
        let visibility = Visibility::new(&state, &member);
        assert_eq!(replica.receive(&visibility.entry(&entry)), Taken::Yes);
        let seen = visibility.snapshot().restore().unwrap();
        assert_eq!(replica.state().revision, seen.revision);
        let bytes = |state: &State| String::from_utf8(message::snapshot::Snapshot::of(state).to_bytes()).unwrap();
        assert_eq!(bytes(replica.state()), bytes(&seen), "{}", one.1);
    }
}

#[test]
fn an_administrator_of_the_cluster_sees_everything() {
    let mut state = reported();
    let root = sender("cluster");
    let entry = entry(&mut state, 0, DAY[1]);
    let visibility = Visibility::new(&state, &root);
    assert_eq!(visibility.snapshot(), message::snapshot::Snapshot::of(&state));
    let Entry { revision, events, envelope, .. } = visibility.entry(&entry);
    assert_eq!(
        (revision, &events, envelope.command.as_ref()),
        (entry.revision, &entry.events, Some(&entry.envelope.command))
    );
}

/// Quota1.1 is one strict queue of two workspaces: carol's job is at its head, and the developer's behind it.
fn shared_queue() -> State {
    let mut state = teams();
    for command in [
        r#"{"attach_quota":{"workspace":"workspace-c","quota":"Quota1.1"}}"#,
        r#"{"update_quota":{"quota":"Quota1.1","settings":{"strategy":"strict-fifo"}}}"#,
        r#"{"submit_job":{"job":"secret-head","quota":"Quota1.1","workspace":"workspace-c","user":"carol","pods":[{"amount":{"gpu":40000}}]}}"#,
        r#"{"submit_job":{"job":"waits-behind","quota":"Quota1.1","workspace":"workspace-b","user":"developer","pods":[{"amount":{"gpu":1000}}]}}"#,
    ] {
        crate::authorisation::teams::send(&mut state, command).unwrap();
    }
    state
}

#[test]
fn a_member_is_told_why_as_a_copy_of_what_they_see_would_tell() {
    let (state, member, now) = (shared_queue(), sender("developer"), Timestamp(100));
    let visibility = Visibility::new(&state, &member);
    let no = state.jobs.find(&JobId::new("waits-behind").unwrap()).unwrap();
    let told = explain::why_seen(&visibility, no, now).unwrap();
    let copy = visibility.snapshot().restore().unwrap();
    assert_eq!(Some(&told), explain::why(&copy, no, now).as_ref());
    assert_eq!(told.binding, "another workspace's job 6 is at the head of this strict queue and has to start first.");
    assert_ne!(Some(&told), explain::why(&state, no, now).as_ref());
    let cluster = sender("cluster");
    assert_eq!(explain::why_seen(&Visibility::new(&state, &cluster), no, now), explain::why(&state, no, now));
}

#[test]
fn who_holds_what_is_missing_is_named_only_to_whoever_may_know_the_job() {
    let mut state = teams();
    for command in [
        r#"{"update_quota":{"quota":"Quota1","settings":{"child_level":{"preemptible":[1],"modules":["DLC"]}}}}"#,
        r#"{"submit_job":{"job":"secret-svc","quota":"Quota1","workspace":"workspace-a","user":"alice","module":"EAS","pods":[{"amount":{"gpu":100000}}]}}"#,
        r#"{"submit_job":{"job":"waits","quota":"Quota1.2","workspace":"workspace-c","user":"carol","pods":[{"amount":{"gpu":50000}}]}}"#,
    ] {
        crate::authorisation::teams::send(&mut state, command).unwrap();
    }
    let no = state.jobs.find(&JobId::new("waits").unwrap()).unwrap();
    let told = |user: &str| {
        let sender = sender(user);
        let visibility = Visibility::new(&state, &sender);
        let told = explain::why_seen(&visibility, no, Timestamp(3_600_007)).unwrap().binding;
        let copy = visibility.snapshot().restore().unwrap();
        assert_eq!(Some(&told), explain::why(&copy, no, Timestamp(3_600_007)).map(|why| why.binding).as_ref());
        told
    };
    let holds = |name: &str| {
        format!(
            "Quota1 itself holds 100 GPUs more than it has of its own ({name}, by child-level preemption, for 1 h)."
        )
    };
    assert!(told("cluster").ends_with(&holds("secret-svc")), "{}", told("cluster"));
    assert!(told("carol").ends_with(&holds("another workspace's job 6")), "{}", told("carol"));
}

#[test]
fn what_a_tip_takes_from_others_names_their_quota_and_none_of_them() {
    let mut state = teams();
    for (workspace, quota) in [("workspace-a", "Quota2"), ("workspace-b", "Quota1.1.1")] {
        let text = format!(r#"{{"attach_quota":{{"workspace":"{workspace}","quota":"{quota}"}}}}"#);
        crate::authorisation::teams::send(&mut state, &text).unwrap();
    }
    for (job, quota, workspace, user, gpus) in [
        ("beside", "Quota2", "workspace-a", "alice", 64),
        ("below", "Quota1.1.1", "workspace-b", "developer", 8),
        ("secret-large", "Quota1.1", "workspace-b", "developer", 35),
        ("own", "Quota1.2", "workspace-c", "carol", 79),
        ("waits", "Quota1.2", "workspace-c", "carol", 1),
    ] {
        let text = format!(
            r#"{{"submit_job":{{"job":"{job}","quota":"{quota}","workspace":"{workspace}","user":"{user}","pods":[{{"amount":{{"gpu":{gpus}000}}}}]}}}}"#
        );
        crate::authorisation::teams::send(&mut state, &text).unwrap();
    }
    let (member, now) = (sender("carol"), Timestamp(3_600_007));
    let visibility = Visibility::new(&state, &member);
    let no = state.jobs.find(&JobId::new("waits").unwrap()).unwrap();
    let told = explain::why_seen(&visibility, no, now).unwrap();
    assert_eq!(Some(&told), explain::why(&visibility.snapshot().restore().unwrap(), no, now).as_ref());
    assert_eq!(
        told.help.unwrap().sentence,
        "Move 1 GPU from Quota1.1 to Quota1.2. In Quota1.1 that would evict 1 job, lose 1 GPU-hour; it starts when their \
         GPUs are free."
    );
}

/// What somebody does in a workspace of theirs.
const YESTERDAY: [(&str, &str); 6] = [
    ("cluster", r#"{"put_workspace":{"workspace":"again"}}"#),
    ("cluster", r#"{"attach_quota":{"workspace":"again","quota":"Quota1.2"}}"#),
    ("cluster", r#"{"put_member":{"workspace":"again","user":"secret-user","roles":["owner"]}}"#),
    (
        "secret-user",
        r#"{"submit_job":{"job":"again-job","quota":"Quota1.2","workspace":"again","user":"secret-user","name":"secret","pods":[{"amount":{"gpu":1000}}]}}"#,
    ),
    ("secret-user", r#"{"set_priority":{"job":"again-job","priority":9}}"#),
    (
        "secret-user",
        r#"{"report":{"job":"again-job","run":"CURRENT","observed":{"failed":{"reason":"secret reason"}}}}"#,
    ),
];

/// The workspace is deleted, and another gets its name.
const TODAY: [(&str, &str); 4] = [
    ("cluster", r#"{"delete_workspace":{"workspace":"again"}}"#),
    ("cluster", r#"{"put_workspace":{"workspace":"again"}}"#),
    ("cluster", r#"{"attach_quota":{"workspace":"again","quota":"Quota1.1"}}"#),
    ("cluster", r#"{"put_member":{"workspace":"again","user":"developer","roles":["owner"]}}"#),
];

/// A job whose name, and perhaps whose number, another one has had.
const ITS_HEIR: (&str, &str) = (
    "owner",
    r#"{"submit_job":{"job":"again-job","quota":"Quota1.1","workspace":"workspace-b","user":"owner","pods":[{"amount":{"gpu":1000}}]}}"#,
);

fn number(state: &State, job: &str) -> JobNo {
    state.jobs.find(&JobId::new(job).unwrap()).unwrap()
}

/// What a sender reads of entries.
fn read(state: &State, sender: &Sender, entries: &[Entry]) -> String {
    let visibility = Visibility::new(state, sender);
    entries.iter().map(|entry| serde_json::to_string(&visibility.entry(entry)).unwrap()).collect()
}

#[test]
fn who_gets_a_name_anew_reads_nothing_of_those_who_had_it() {
    let (mut state, member) = (reported(), sender("developer"));
    let before: Vec<Entry> = (1..).zip(YESTERDAY).map(|(at, one)| entry(&mut state, at, one)).collect();
    let no = number(&state, "again-job");
    let mut after: Vec<Entry> = (10..).zip(TODAY).map(|(at, one)| entry(&mut state, at, one)).collect();
    // The job of the workspace that was deleted is still known, and is none of the new one's.
    let known = serde_json::to_string(&Visibility::new(&state, &member).snapshot()).unwrap();
    assert!(known.contains("\"again\"") && !known.contains("again-job") && !known.contains("secret"), "{known}");
    assert!(may_see(&state, &member, &JobId::new("again-job").unwrap()).is_err());
    apply(&mut state, &Event::Forgotten { jobs: vec![no] });
    after.push(entry(&mut state, 20, ITS_HEIR));
    assert_eq!(number(&state, "again-job"), no);
    let read_before = read(&state, &member, &before);
    for name in ["secret", "again"] {
        assert!(!read_before.contains(name), "{name} in {read_before}");
    }
    let visibility = Visibility::new(&state, &member);
    assert!(before.iter().all(|entry| !visibility.shows_command(entry)));
    // The deletion concerns the workspace that was there before.
    assert!(!visibility.shows_command(&after[0]) && after[1..].iter().all(|entry| visibility.shows_command(entry)));
    assert!(read(&state, &member, &after).contains("again-job"));
}

#[test]
fn a_job_was_not_evicted_for_another_that_got_the_name_later() {
    let (mut state, member) = (reported(), sender("developer"));
    let urgent = r#"{"submit_job":{"job":"again-job","quota":"Quota1","workspace":"workspace-a","priority":9,"module":"EAS","pods":[{"amount":{"gpu":128000}}]}}"#;
    let cancelled = r#"{"cancel_job":{"job":"again-job"}}"#;
    let told = |state: &State| {
        let job = Visibility::new(state, &member).told(number(state, "developer-job")).unwrap();
        serde_json::to_string(&job).unwrap()
    };
    let before = vec![entry(&mut state, 0, DAY[0]), entry(&mut state, 1, ("cluster", urgent))];
    let no = number(&state, "again-job");
    assert!(told(&state).contains(&format!("another workspace's job {}", no.0)), "{}", told(&state));
    entry(&mut state, 2, ("cluster", cancelled));
    apply(&mut state, &Event::Forgotten { jobs: vec![no] });
    entry(&mut state, 20, ITS_HEIR);
    for text in [told(&state), read(&state, &member, &before)] {
        assert!(text.contains("another workspace's job\"") && !text.contains("again-job"), "{text}");
    }
}
