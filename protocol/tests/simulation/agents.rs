//! What agents say becomes rows of the log, or nothing; what they are told follows from the log.

use agent::exit::Exit;
use agent::message::FORMAT;
use agent::message::Hello;
use agent::message::NodeReport;
use agent::message::NodeStatus;
use agent::message::RunReport;
use agent::message::RunState;
use agent::message::SyncRequest;
use agent::message::Tail;
use agent::output::Output;
use agent::run::RunId;
use protocol::agents::contact;
use protocol::agents::contact::Contacts;
use protocol::agents::contact::Identity;
use protocol::profile::Profile;
use serde_json::json;

use crate::desk::Desk;
use crate::desk::exited;
use crate::desk::id;
use crate::desk::run;
use crate::desk::who;
use crate::desk::words;
use crate::disk::Plan;
use crate::memory::START;
use crate::world::name;

#[test]
fn a_job_starts_runs_and_ends_and_whoever_says_nothing_new_writes_nothing() {
    let mut desk = Desk::new();
    desk.hello("of-n1", "store").expect("it is welcome");
    desk.submit("job", 1);
    let (answer, rows) = desk.sync("of-n1", Vec::new());
    let [want] = answer.want.as_slice() else { panic!("{answer:?}") };
    assert_eq!((want.job.as_str(), want.pods[0].gpus.len(), want.world, rows), ("job", 8, 1, 0));
    assert_eq!(desk.phase("job"), "starting");
    let script = desk.cluster.script(&desk.contacts, &who("of-n1"), &want.script).expect("it is read");
    assert_eq!(script.as_deref(), Some(r#"{"command":["true"],"format":1}"#));
    assert_eq!(desk.cluster.script(&desk.contacts, &who("of-n2"), &want.script), Ok(None), "it runs elsewhere");

    assert_eq!(desk.sync("of-n1", vec![run(want.run, "job", RunState::Prepared)]).1, 0);
    assert_eq!(desk.sync("of-n1", vec![run(want.run, "job", RunState::Running)]).1, 1);
    assert_eq!(desk.phase("job"), "running");
    assert_eq!(desk.sync("of-n1", vec![run(want.run, "job", RunState::Running)]).1, 0);
    let (answer, rows) = desk.sync("of-n1", vec![exited(want.run, "job", 0, false)]);
    assert_eq!((answer.forget.as_slice(), answer.want.len(), rows), ([want.run].as_slice(), 0, 1));
    assert_eq!(desk.phase("job"), "succeeded");
    assert_eq!(desk.sync("of-n1", vec![exited(want.run, "job", 0, false)]).1, 0, "it may come again");
    assert_eq!(desk.sync("of-n1", Vec::new()).1, 0);
}

#[test]
fn what_has_been_told_to_stop_has_stopped_whatever_it_says() {
    let mut desk = Desk::new();
    desk.hello("of-n1", "store").expect("it is welcome");
    desk.submit("job", 1);
    let run_id = desk.sync("of-n1", Vec::new()).0.want[0].run;
    desk.sync("of-n1", vec![run(run_id, "job", RunState::Running)]);
    desk.send(&json!({ "cancel_job": { "job": "job" } }));
    let (answer, _) = desk.sync("of-n1", vec![run(run_id, "job", RunState::Running)]);
    assert_eq!((answer.want.len(), answer.stop.len(), answer.stop[0].run), (0, 1, run_id));
    desk.submit("next", 2);
    desk.round();
    assert_eq!((desk.phase("job"), desk.phase("next")), ("stopping".into(), "queued".into()), "it holds its GPUs");
    let (answer, rows) = desk.sync("of-n1", vec![exited(run_id, "job", 0, true)]);
    assert_eq!((answer.forget, rows, desk.phase("job")), (vec![run_id], 1, "cancelled".into()));
    desk.round();
    assert_eq!(desk.phase("next"), "starting");

    // Another one finishes by itself before the order reaches it.
    let mut desk = Desk::new();
    desk.hello("of-n1", "store").expect("it is welcome");
    desk.submit("job", 1);
    let run_id = desk.sync("of-n1", Vec::new()).0.want[0].run;
    desk.send(&json!({ "cancel_job": { "job": "job" } }));
    desk.sync("of-n1", vec![exited(run_id, "job", 0, false)]);
    assert_eq!(desk.phase("job"), "succeeded");
}

#[test]
fn an_end_says_whose_fault_it_is() {
    for (exit, phase) in [
        (Exit::Code(3), "failed: exit code 3"),
        (Exit::Signal(9), "failed: signal 9"),
        (Exit::Command("no-such: not found".into()), "failed: the command cannot be executed: no-such: not found"),
        (Exit::Start("disk full".into()), "queued"),
        (Exit::Lost("gone".into()), "starting"),
        (Exit::Unstarted, "starting"),
    ] {
        let mut desk = Desk::new();
        desk.hello("of-n1", "store").expect("it is welcome");
        desk.submit("job", 1);
        let run_id = desk.sync("of-n1", Vec::new()).0.want[0].run;
        desk.sync("of-n1", vec![run(run_id, "job", RunState::Ended(exit.clone()))]);
        assert_eq!(desk.phase("job"), phase, "{exit}");
    }
}

#[test]
fn a_run_on_two_machines_ends_when_nothing_of_it_lives_on_either() {
    let mut desk = Desk::with_both();
    desk.submit("job", 2);
    let (answer, _) = desk.sync("of-n1", Vec::new());
    let [want] = answer.want.as_slice() else { panic!("{answer:?}") };
    assert_eq!((want.pods.len(), want.world, want.leader.as_str()), (1, 2, "n1"));
    let run_id = want.run;
    assert_eq!(desk.sync("of-n1", vec![run(run_id, "job", RunState::Running)]).1, 0);
    assert_eq!(desk.phase("job"), "starting", "half of it is not there");
    assert_eq!(desk.sync("of-n2", Vec::new()).0.want[0].pods[0].rank, 1);
    let (answer, rows) = desk.sync("of-n2", vec![run(run_id, "job", RunState::Running)]);
    assert_eq!((answer.keep, rows, desk.phase("job")), (vec![run_id], 1, "running".into()));

    let (answer, rows) = desk.sync("of-n1", vec![exited(run_id, "job", 7, false)]);
    assert_eq!((answer.want.len(), answer.stop.len(), answer.forget.len(), rows), (0, 0, 0, 0), "it is not over");
    let (answer, _) = desk.sync("of-n2", vec![run(run_id, "job", RunState::Running)]);
    assert_eq!((answer.want.len(), answer.stop[0].run), (0, run_id), "the rest has to go");
    let (answer, rows) = desk.sync("of-n2", vec![exited(run_id, "job", 0, true)]);
    assert_eq!((answer.forget.len(), rows, desk.phase("job")), (1, 1, "failed: exit code 7".into()));
    let (answer, rows) = desk.sync("of-n1", vec![exited(run_id, "job", 7, false)]);
    assert_eq!((answer.forget, rows), (vec![run_id], 0));
}

#[test]
fn the_pods_that_a_service_gives_up_hold_their_gpus_until_their_agent_has_ended_them() {
    let mut desk = Desk::with_both();
    desk.submit_as("EAS", "chat", 2);
    let run_id = desk.sync("of-n1", Vec::new()).0.want[0].run;
    let runs = || vec![run(run_id, "chat", RunState::Running)];
    desk.sync("of-n1", runs());
    desk.sync("of-n2", runs());
    assert_eq!(desk.phase("chat"), "running");

    let told = desk.send(&json!({ "resize_job": { "job": "chat", "pods": 1 } }));
    assert_eq!(told, ["of-n1", "of-n2"]);
    let (answer, _) = desk.sync("of-n2", runs());
    assert_eq!((answer.want.len(), answer.stop[0].run), (0, run_id), "all that it has is to go");
    let (answer, _) = desk.sync("of-n1", runs());
    assert_eq!((answer.keep.len(), answer.stop.len()), (1, 0), "the rest serves");
    desk.submit("next", 1);
    desk.round();
    assert_eq!(desk.phase("next"), "queued", "the pod holds its GPUs");

    assert_eq!(desk.sync("of-n2", vec![exited(run_id, "chat", 0, true)]).1, 1);
    desk.round();
    assert_eq!(desk.phase("next"), "starting");
    assert_eq!(desk.sync("of-n1", runs()).0.stop.len(), 0);
    // The service ends by itself, whatever the one that left has said.
    desk.sync("of-n1", vec![exited(run_id, "chat", 0, false)]);
    assert_eq!(desk.phase("chat"), "succeeded");
    assert_eq!(desk.sync("of-n2", vec![exited(run_id, "chat", 0, true)]).0.forget, [run_id]);

    // One that ends while a pod is still leaving is over when that has gone as well.
    let mut desk = Desk::with_both();
    desk.submit_as("EAS", "chat", 2);
    let run_id = desk.sync("of-n1", Vec::new()).0.want[0].run;
    desk.sync("of-n1", vec![run(run_id, "chat", RunState::Running)]);
    desk.sync("of-n2", vec![run(run_id, "chat", RunState::Running)]);
    desk.send(&json!({ "resize_job": { "job": "chat", "pods": 1 } }));
    desk.sync("of-n1", vec![exited(run_id, "chat", 0, false)]);
    assert_eq!(desk.phase("chat"), "running");
    desk.sync("of-n2", vec![exited(run_id, "chat", 0, true)]);
    assert_eq!(desk.phase("chat"), "succeeded");
}

#[test]
fn the_reports_of_one_request_are_one_row() {
    let mut desk = Desk::new();
    desk.hello("of-n1", "store").expect("it is welcome");
    for job in 0..8 {
        desk.n_commands += 1;
        let name = format!("job-{job}");
        let pods = json!([{ "amount": { "gpu": 1000 } }]);
        desk.send(&json!({ "submit_job": { "job": name, "quota": "q", "pods": pods } }));
    }
    // Nobody has said what they execute.
    let (answer, rows) = desk.sync("of-n1", Vec::new());
    assert_eq!((answer.want.len(), rows), (0, 1));
    assert_eq!(desk.phase("job-7"), "failed: it has no command; submit it with a script");
}

#[test]
fn a_command_that_cannot_be_read_now_fails_no_job() {
    let mut desk = Desk::new();
    desk.hello("of-n1", "store").expect("it is welcome");
    desk.submit("job", 1);
    desk.disk.plan(Plan::FailNotes);
    let incarnation = desk.contacts["of-n1"].incarnation;
    let told = desk.try_sync("of-n1", incarnation, Vec::new()).expect_err("nobody knows what it executes");
    assert_eq!(told, "failed: the log's storage failed: planned, notes");
    desk.disk.plan(Plan::Work);
    assert_eq!(desk.phase("job"), "starting");
    assert_eq!(desk.sync("of-n1", Vec::new()).0.want.len(), 1);
}

#[test]
fn another_process_another_store_and_another_node_are_refused() {
    let mut desk = Desk::new();
    assert!(desk.try_sync_unknown().starts_with("say_hello: agent of-n1 has not said hello"));
    let first = desk.hello("of-n1", "store").expect("it is welcome");
    let second = desk.hello("of-n1", "store").expect("it is welcome");
    assert!(second > first);
    let told = desk.try_sync("of-n1", first, Vec::new()).expect_err("it is older");
    assert!(told.starts_with("superseded: another process has said hello as agent of-n1 since"), "{told}");
    desk.sync("of-n1", Vec::new());
    desk.hello("of-n1", "other").expect("nothing has run, so any store will do");
    desk.submit("job", 1);
    let told = desk.hello("of-n1", "store").expect_err("the other one knows what was started");
    assert!(told.starts_with("other_store: agent of-n1 came with another state directory before"), "{told}");
    desk.hello("of-n2", "store").expect("it is welcome");
    let thief = Identity { serves: who("of-n1").serves, ..who("of-n2") };
    let node = |node: &str| NodeReport { node: node.into(), gpus: 8, status: NodeStatus::Ready, reason: None };
    let mut told = |who: &Identity, name: &str| {
        let incarnation = desk.contacts["of-n2"].incarnation;
        let request = SyncRequest {
            format: FORMAT,
            incarnation,
            answered: None,
            nodes: vec![node(name)],
            runs: Vec::new(),
            lives: Vec::new(),
            keeps: true,
            changes: false,
            offered: Vec::new(),
        };
        let heard = desk.cluster.sync(&mut desk.contacts, who, &request, desk.now);
        words(&heard.expect_err("it is no node of its own"))
    };
    assert_eq!(told(&thief, "n1"), "bad_node: node n1 is agent of-n1's; name it in one of them only");
    let other = "bad_node: node n1 belongs to group a, which the key of agent of-n2 is not for";
    assert_eq!(told(&who("of-n2"), "n1"), other);
    let unknown = "bad_node: the cluster has no node n9; add it with put_node, or do not name it";
    assert_eq!(told(&who("of-n2"), "n9"), unknown);
}

#[test]
fn an_agent_goes_on_whose_node_was_deleted() {
    let mut desk = Desk::with_both();
    desk.send(&json!({ "scale_quotas": { "targets": [{ "quota": "q", "min": { "gpu": 8_000 } }] } }));
    desk.send(&json!({ "delete_node": { "node": "n1" } }));
    let (_, rows) = desk.sync("of-n1", Vec::new());
    assert_eq!((rows, desk.contacts["of-n1"].nodes.len()), (0, 0));
    // Nothing is heard of a machine that the cluster does not count on, and nothing is missed.
    desk.submit("job", 1);
    let (answer, _) = desk.sync("of-n2", Vec::new());
    assert_eq!(answer.want.len(), 1);
    desk.send(&json!({ "put_node": { "node": "n1", "group": "a", "amount": { "gpu": 8_000 } } }));
    desk.sync("of-n1", Vec::new());
    assert!(desk.contacts["of-n1"].nodes.contains("n1"));
}

#[test]
fn agents_are_the_keys_that_serve() {
    let mut desk = Desk::new();
    desk.send(&json!({ "revoke_key": { "key": format!("{}.of-n2", name()) } }));
    let now = desk.now;
    let names = |state: &engine::state::world::State| {
        contact::serving(state, &name(), now).into_keys().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(desk.cluster.with_state(names).expect("it is read"), ["of-n1"]);
}

#[test]
fn it_is_rung_for_those_who_begin_or_end_something_and_for_nobody_else() {
    let mut desk = Desk::with_both();
    assert_eq!(desk.submit("job", 1), ["of-n1"]);
    let run_id = desk.sync("of-n1", Vec::new()).0.want[0].run;
    desk.sync("of-n1", vec![run(run_id, "job", RunState::Running)]);
    assert_eq!(desk.submit("long", 2), [""; 0], "it waits");
    assert_eq!(desk.submit("other", 1), ["of-n2"]);
    assert_eq!(desk.send(&json!({ "set_priority": { "job": "job", "priority": 9 } })), [""; 0]);
    assert_eq!(desk.send(&json!({ "cancel_job": { "job": "job" } })), ["of-n1"]);
}

#[test]
fn the_end_of_a_log_is_that_of_a_run_whose_first_pod_is_here() {
    let mut desk = Desk::with_both();
    desk.submit("job", 2);
    let run_id = desk.sync("of-n1", Vec::new()).0.want[0].run;
    let mut printed = |agent: &str, run| {
        let tail = Tail::of(desk.contacts[agent].incarnation, run, 3, b"end");
        desk.cluster.printed(&desk.contacts, &who(agent), &tail).map_err(|unheard| words(&unheard))
    };
    assert_eq!(printed("of-n1", run_id), Ok(Some(id("job"))));
    assert_eq!(printed("of-n2", run_id), Ok(None), "the first pod is elsewhere");
    let other = RunId::parse("0-1").expect("it is a run");
    assert_eq!(printed("of-n1", other), Ok(None), "nobody has such a run");
}

#[test]
fn what_a_run_prints_is_asked_of_the_agent_of_its_first_pod() {
    let mut desk = Desk::with_both();
    desk.submit("job", 2);
    desk.submit("waits", 2);
    let run_id = desk.sync("of-n1", Vec::new()).0.want[0].run;
    let printer = |desk: &mut Desk, job: &str| desk.cluster.printer(&desk.contacts, &id(job)).expect("it can be read");
    assert_eq!(printer(&mut desk, "job"), Some((run_id, "of-n1".to_owned())));
    assert_eq!(printer(&mut desk, "waits"), None);
    assert_eq!(printer(&mut desk, "nobody"), None);

    let prints = |desk: &mut Desk, agent: &str, incarnation: u64| {
        let piece = Output::of(incarnation, run_id, 0, b"step 1\n");
        desk.cluster.prints(&desk.contacts, &who(agent), &piece).map_err(|unheard| words(&unheard))
    };
    let [one, two] = ["of-n1", "of-n2"].map(|agent| desk.contacts[agent].incarnation);
    assert_eq!(prints(&mut desk, "of-n1", one), Ok(Some(id("job"))));
    assert_eq!(prints(&mut desk, "of-n2", two), Ok(None), "the first pod is elsewhere");
    assert!(prints(&mut desk, "of-n1", one - 1).is_err(), "an older process");
}

#[test]
fn a_group_says_how_long_runs_go_on_in_silence() {
    let mut desk = Desk::new();
    let after = json!({ "group": "a", "resource_type": "lingjun", "on_silence": { "stop_after": 600_000 } });
    desk.send(&json!({ "put_group": after }));
    desk.hello("of-n1", "store-1").expect("it is welcome");
    desk.hello("of-n2", "store-2").expect("it is welcome");
    desk.sync("of-n1", Vec::new());
    desk.sync("of-n2", Vec::new());
    desk.submit("large", 2);
    for agent in ["of-n1", "of-n2"] {
        let (answer, _) = desk.sync(agent, Vec::new());
        assert_eq!(answer.want[0].stop_after_ms, Some(600_000), "{agent}");
    }
}

#[test]
fn after_a_restore_nothing_begins_before_every_agent_has_been_heard() {
    let mut desk = Desk::with_both();
    let done = desk.cluster.begin_epoch(desk.now).expect("it is kept").expect("jobs really run");
    assert_eq!(done.receipt.events.len(), 1);
    desk.submit("small", 1);
    let (answer, _) = desk.sync("of-n1", Vec::new());
    assert!(answer.want.is_empty(), "the other agent may have it: {answer:?}");
    desk.sync("of-n2", Vec::new());
    let (answer, _) = desk.sync("of-n1", Vec::new());
    assert_eq!(answer.want.len(), 1);
    assert!(answer.want[0].run.epoch() > 0);
}

#[test]
fn pods_with_which_a_run_began_and_that_a_restore_has_forgotten_keep_their_gpus() {
    let mut desk = Desk::with_both();
    desk.submit("grown", 1);
    let want = desk.sync("of-n1", Vec::new()).0.want[0].clone();
    let known = run(want.run, "grown", RunState::Running);
    desk.sync("of-n1", vec![known.clone()]);
    desk.cluster.begin_epoch(desk.now).expect("it is kept").expect("jobs really run");
    desk.submit("small", 1);
    // It began with a pod more than the log knows now, and says no more of that than their number.
    let forgotten = RunReport { pods: 2, ..known.clone() };
    let n_begun = |desk: &mut Desk, report: &RunReport| -> usize {
        let exchange = [("of-n2", Vec::new()), ("of-n1", vec![report.clone()])];
        exchange.into_iter().map(|(agent, runs)| desk.sync(agent, runs).0.want.len()).sum()
    };
    for _ in 0..3 {
        assert_eq!(n_begun(&mut desk, &forgotten), 0, "a GPU is held of which nobody knows which");
    }
    n_begun(&mut desk, &known);
    assert_eq!(n_begun(&mut desk, &known), 1);
}

#[test]
fn where_jobs_are_simulated_no_agent_is_welcome() {
    let mut cluster = crate::memory::founded(Profile::default());
    let hello = Hello { format: FORMAT, store: "store".to_owned() };
    let told = cluster.welcome(&mut Contacts::new(), &who("of-n1"), &hello, START).expect_err("there is nothing to do");
    assert!(words(&told).starts_with("simulated: the jobs of this cluster are simulated"), "{}", words(&told));
}
