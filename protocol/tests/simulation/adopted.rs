//! Jobs that people submit to their machines' own scheduler: an agent offers them, and hears how far each is.

use agent::adopt::Ask;
use agent::adopt::Idle;
use agent::adopt::Offered;
use agent::adopt::Standing;
use agent::adopt::Told;
use agent::exit::Exit;
use agent::message::FORMAT;
use agent::message::NodeReport;
use agent::message::NodeStatus;
use agent::message::RunReport;
use agent::message::RunState;
use agent::message::SyncRequest;
use agent::script::Script;
use engine::unit::id::JobId;
use engine::unit::id::WorkspaceId;
use engine::unit::time::Millis;
use protocol::agents::contact::Identity;
use protocol::agents::script;
use serde_json::json;

use crate::desk::Desk;
use crate::desk::run;
use crate::desk::who;

const AGENT: &str = "of-n1";

/// A desk with a workspace whose member is ann, and a quota of the agent's own machine.
fn desk() -> Desk {
    let mut desk = Desk::new();
    desk.send(&json!({ "put_workspace": { "workspace": "w" } }));
    desk.send(&json!({ "attach_quota": { "workspace": "w", "quota": "q" } }));
    desk.send(&json!({ "put_member": { "workspace": "w", "user": "ann", "roles": ["developer"] } }));
    desk.hello(AGENT, "store").expect("it is welcome");
    desk
}

fn ask(user: &str) -> Ask {
    let script = Script {
        format: FORMAT,
        command: vec!["sbatch".to_owned(), "train.sh".to_owned()],
        directory: None,
        environment: std::collections::BTreeMap::new(),
        checkpoint: None,
        adopted: Some("0123456789abcdef".to_owned()),
    };
    Ask {
        user: user.to_owned(),
        workspace: "w".to_owned(),
        quota: "q".to_owned(),
        name: "train".to_owned(),
        gpus: 8,
        priority: 3,
        idle: Idle::Off,
        is_requeued: true,
        duration_ms: Some(60_000),
        script,
    }
}

fn offer(job: &str, ask: Option<Ask>) -> Offered {
    Offered { job: job.to_owned(), is_gone: false, ask: ask.map(Box::new) }
}

/// An agent of all groups that adopts for these workspaces.
fn adopter(workspaces: &[&str]) -> Identity {
    let adopts = workspaces.iter().map(|workspace| WorkspaceId::new(workspace).expect("it is a name")).collect();
    let serves = ["of-n1", "of-n2"].iter().flat_map(|agent| who(agent).serves).collect();
    Identity { serves, adopts, ..who(AGENT) }
}

/// What is said of these, and how many rows that added to the log.
fn told(desk: &mut Desk, who: &Identity, offered: Vec<Offered>) -> (Vec<Standing>, u64) {
    told_beside(desk, who, offered, Vec::new())
}

/// The same of a request that tells of runs as well.
fn told_beside(desk: &mut Desk, who: &Identity, offered: Vec<Offered>, runs: Vec<RunReport>) -> (Vec<Standing>, u64) {
    desk.now = desk.now + Millis(1_000);
    let before = desk.cluster.mark().expect("it is read").seq;
    let node = NodeReport { node: "n1".to_owned(), gpus: 8, status: NodeStatus::Ready, reason: None };
    let incarnation = desk.contacts[AGENT].incarnation;
    let request = SyncRequest {
        format: FORMAT,
        incarnation,
        answered: None,
        nodes: vec![node],
        runs,
        lives: Vec::new(),
        keeps: true,
        changes: false,
        offered,
    };
    let heard = desk.cluster.sync(&mut desk.contacts, who, &request, desk.now).expect("it is heard");
    let rows = desk.cluster.mark().expect("it is read").seq - before;
    assert_eq!(rows, heard.done.len() as u64, "each row is told of");
    (heard.answer.offered.into_iter().map(|Told { standing, .. }| standing).collect(), rows)
}

#[test]
fn an_offered_job_is_submitted_once_in_its_users_name() {
    let mut desk = desk();
    let agent = adopter(&["w"]);
    assert_eq!(told(&mut desk, &agent, vec![offer("slurm-1", None)]), (vec![Standing::Unknown], 0));
    let first = vec![offer("slurm-1", Some(ask("ann")))];
    assert_eq!(told(&mut desk, &agent, first.clone()), (vec![Standing::Running], 1));
    assert_eq!(told(&mut desk, &agent, first), (vec![Standing::Running], 0), "a message may come twice");
    let more = vec![offer("slurm-1", None), offer("slurm-2", Some(ask("ann"))), offer("slurm-3", Some(ask("ann")))];
    assert_eq!(told(&mut desk, &agent, more).0, [Standing::Running, Standing::Running, Standing::Waiting]);
    let job = JobId::new("slurm-1").expect("it is a name");
    let spec = desk.cluster.with_state(|state| {
        let spec = &state.jobs[state.jobs.find(&job).expect("it is there")].spec;
        (spec.user.as_ref().map(ToString::to_string), spec.priority.get(), spec.fault_tolerance.is_some())
    });
    assert_eq!(spec.expect("it is read"), (Some("ann".to_owned()), 3, true));
    let note = desk.cluster.note(&script::note_name(&job)).expect("it is read").expect("it is there");
    assert!(note.contains(r#""adopted":"of-n1 0123456789abcdef""#), "{note}");
}

#[test]
fn what_is_gone_is_cancelled_and_nothing_that_somebody_else_has_submitted() {
    let mut desk = desk();
    let agent = adopter(&["w"]);
    let gone = |job: &str| Offered { job: job.to_owned(), is_gone: true, ask: None };
    let jobs = ["slurm-1", "slurm-2", "slurm-3"];
    told(&mut desk, &agent, jobs.iter().map(|job| offer(job, Some(ask("ann")))).collect());
    assert_eq!(told(&mut desk, &agent, vec![gone("slurm-3")]), (vec![Standing::Over], 1));
    assert_eq!(desk.phase("slurm-3"), "cancelled");
    assert_eq!(told(&mut desk, &agent, vec![gone("slurm-3"), gone("slurm-9")]).1, 0);
    desk.submit("own", 1);
    for offered in [gone("own"), offer("own", Some(ask("ann")))] {
        let (standing, rows) = told(&mut desk, &agent, vec![offered]);
        let words = "job own was submitted by somebody else under this name".to_owned();
        assert_eq!((standing, rows), (vec![Standing::Refused(words)], 0));
    }
    let other = Identity { name: "other".to_owned(), ..adopter(&["w"]) };
    desk.contacts.insert("other".to_owned(), desk.contacts[AGENT].clone());
    desk.contacts.get_mut("other").expect("it is there").nodes.clear();
    desk.contacts.get_mut(AGENT).expect("it is there").nodes.clear();
    let (standing, rows) = told(&mut desk, &other, vec![gone("slurm-1")]);
    assert!(matches!(&standing[..], [Standing::Refused(_)]), "{standing:?}");
    assert_eq!(rows, 0);
}

#[test]
fn who_cancels_a_running_job_there_has_cancelled_it_and_one_that_ends_by_itself_has_ended() {
    for (exit, phase) in [
        (Exit::Signal(15), "cancelled"),
        // What the scheduler has forgotten had ended before.
        (Exit::Code(0), "succeeded"),
        (Exit::Code(3), "failed: exit code 3"),
    ] {
        let (mut desk, agent) = (desk(), adopter(&["w"]));
        told(&mut desk, &agent, vec![offer("slurm-7", Some(ask("ann")))]);
        let run_id = desk.sync(AGENT, Vec::new()).0.want[0].run;
        let report = |state| vec![run(run_id, "slurm-7", state)];
        told_beside(&mut desk, &agent, vec![offer("slurm-7", None)], report(RunState::Running));
        let gone = Offered { is_gone: true, ..offer("slurm-7", None) };
        let (standings, _) = told_beside(&mut desk, &agent, vec![gone], report(RunState::Ended(exit)));
        assert_eq!(standings.len(), 1);
        assert_eq!(desk.phase("slurm-7"), phase);
    }
}

#[test]
fn what_neither_the_key_nor_the_user_may_is_refused_with_the_reason() {
    let mut desk = desk();
    let mut refused = |who: &Identity, ask: Ask| match told(&mut desk, who, vec![offer("slurm-1", Some(ask))]) {
        (standing, 0) => match &standing[..] {
            [Standing::Refused(reason)] => reason.clone(),
            other => panic!("{other:?}"),
        },
        (standing, rows) => panic!("{standing:?} in {rows} rows"),
    };
    let all = adopter(&["w"]);
    let words = "ann may have jobs adopted only for the workspaces that the agent's key names";
    assert!(refused(&adopter(&[]), ask("ann")).starts_with(words));
    assert_eq!(refused(&all, ask("eve")), "there is no workspace w", "she is no member");
    assert_eq!(refused(&all, Ask { quota: "nowhere".to_owned(), ..ask("ann") }), "there is no quota nowhere");
    assert!(refused(&all, Ask { priority: 10, ..ask("ann") }).contains("10"));
    let part = Identity { serves: who(AGENT).serves, ..adopter(&["w"]) };
    let words = "quota q also draws on group b, where agent of-n1 runs nothing";
    assert_eq!(refused(&part, ask("ann")), words);
}
