//! Coverage: every event, blocker, cause and rejection comes up, in random runs or in a case of its own.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use engine::explain;
use engine::host::authority;
use engine::host::visibility::Visibility;
use engine::job::cause::Cause;
use engine::job::hold::Blocker;
use engine::job::phase::Phase;
use engine::job::phase::Source;
use engine::job::run::RunStep;
use engine::message;
use engine::message::command::Command;
use engine::message::command::Round;
use engine::message::envelope::Envelope;
use engine::message::envelope::Receipt;
use engine::message::event::Event;
use engine::message::rejection::Rejection;
use engine::message::snapshot::Snapshot;
use engine::schedule::source;
use engine::schedule::trial::Trial;
use engine::state::jobs::Job;
use engine::state::world::State;
use engine::transition::Sender;
use engine::transition::authorise;
use engine::unit::id::CommandId;
use engine::unit::id::JobId;
use engine::unit::id::JobNo;
use engine::unit::id::UserId;
use engine::unit::id::WorkspaceId;
use engine::unit::limit;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;
use engine::workspace::key::AccessKey;
use engine::workspace::key::KeyId;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::history::seeds;
use crate::run::Run;

/// Names of variants, with the first example of each.
type Seen = BTreeMap<String, String>;

fn see(seen: &mut Seen, message: &impl Serialize) {
    let text = serde_json::to_string(message).unwrap();
    let name = text.split('"').nth(1).unwrap().to_owned();
    seen.entry(name).or_insert(text);
}

/// The variants that a type knows, as its reader lists them when it meets another.
fn known<T: DeserializeOwned>() -> BTreeSet<String> {
    let error = serde_json::from_str::<T>(r#"{"nothing_of_this_name":{}}"#).err().unwrap().to_string();
    error.split('`').skip(3).step_by(2).map(ToOwned::to_owned).collect()
}

fn missing<T: DeserializeOwned>(seen: &Seen) -> Vec<String> {
    let known = known::<T>();
    assert!(known.len() > 1, "the reader's list was not understood");
    known.into_iter().filter(|name| !seen.contains_key(name)).collect()
}

#[derive(Default)]
struct All {
    events: Seen,
    blockers: Seen,
    causes: Seen,
    steps: Seen,
    rejections: Seen,
}

impl All {
    fn see_event(&mut self, event: &Event) {
        see(&mut self.events, event);
        match event {
            Event::Evicted { cause, .. } | Event::Shrunk { cause, .. } => see(&mut self.causes, cause),
            Event::Run { step, .. } => {
                see(&mut self.steps, step);
                if let RunStep::Halted { halt, .. } = &**step {
                    see(&mut self.causes, &Cause::Halted(halt.clone()));
                }
            }
            Event::Held { hold, .. } => {
                for attempt in &hold.attempts {
                    see(&mut self.blockers, &attempt.blocker);
                }
            }
            Event::ClusterCreated { .. }
            | Event::GroupPut { .. }
            | Event::NodePut { .. }
            | Event::Node { .. }
            | Event::ClusterUpdated { .. }
            | Event::QuotaCreated { .. }
            | Event::QuotaUpdated { .. }
            | Event::QuotasScaled { .. }
            | Event::QuotaDeleted { .. }
            | Event::WorkspacePut { .. }
            | Event::WorkspaceDeleted { .. }
            | Event::QuotaAttached { .. }
            | Event::QuotaDetached { .. }
            | Event::MemberPut { .. }
            | Event::MemberRemoved { .. }
            | Event::KeyPut { .. }
            | Event::KeyForgotten { .. }
            | Event::Redacted
            | Event::JobSubmitted { .. }
            | Event::CancelledBy { .. }
            | Event::PriorityChanged { .. }
            | Event::Resized { .. }
            | Event::Promoted { .. }
            | Event::Granted { .. }
            | Event::Started { .. }
            | Event::Grown { .. }
            | Event::Stopped { .. }
            | Event::Returned { .. }
            | Event::Checkpointed { .. }
            | Event::Ended { .. }
            | Event::OfferCreated { .. }
            | Event::OfferUpdated { .. }
            | Event::OfferDeleted { .. }
            | Event::InventorySet { .. }
            | Event::Priced { .. }
            | Event::Billed { .. }
            | Event::Forgotten { .. }
            | Event::Rounded { .. } => {}
        }
    }

    /// Reasons that no round gives.
    fn see_reasons(&mut self, run: &Run) {
        let waits = |job: &Job| job.bids() || matches!(job.phase, Phase::Queued { not_before: Some(_) });
        for (no, _) in run.state.jobs.iter().filter(|(_, job)| waits(job)).take(5) {
            self.see_why(&run.state, no, run.now);
        }
    }

    fn see_why(&mut self, state: &State, no: JobNo, now: Timestamp) {
        for attempt in explain::why(state, no, now).iter().flat_map(|why| &why.hold.attempts) {
            see(&mut self.blockers, &attempt.blocker);
        }
    }

    fn see_outcome(&mut self, outcome: Result<Vec<Event>, Rejection>) {
        match outcome {
            Ok(events) => events.iter().for_each(|event| self.see_event(event)),
            Err(rejection) => see(&mut self.rejections, &rejection),
        }
    }
}

#[test]
fn everything_comes_up() {
    let mut all = All::default();
    for seed in seeds(1_500) {
        let mut run = Run::new(seed);
        for step in 0..100 {
            let (_, _, outcome) = run.step();
            all.see_outcome(outcome);
            if step == 99 && seed < 300 {
                all.see_reasons(&run);
            }
        }
    }
    rare_blockers(&mut all);
    room_left_over(&mut all);
    an_unsolved_search(&mut all);
    rare_rejections(&mut all);
    rare_events(&mut all);
    let lacking = [
        ("events", missing::<Event>(&all.events)),
        ("blockers", missing::<Blocker>(&all.blockers)),
        ("causes", missing::<Cause>(&all.causes)),
        ("steps", missing::<RunStep>(&all.steps)),
        ("rejections", missing::<Rejection>(&all.rejections)),
    ];
    let lacking: Vec<_> = lacking.iter().filter(|(_, names)| !names.is_empty()).collect();
    assert!(lacking.is_empty(), "{lacking:?}");
}

/// What is told to nobody but who asks: nobody with a quota is judged for the market, and an average that has fallen
/// shows before a round has noticed.
fn rare_blockers(all: &mut All) {
    let run = (0..100).map(|seed| Run::after(seed, 100)).find(|run| !run.state.jobs.is_empty()).unwrap();
    let spec = run.state.jobs.iter().map(|(_, job)| job.spec.clone()).find(|spec| spec.spot.is_none()).unwrap();
    see(&mut all.blockers, &source::assign(Source::Spot, &Trial::new(&run.state, run.now), &spec).unwrap_err());
    let mut state = State::default();
    for (minute, command) in [
        (0, r#"{"create_cluster":{"dimensions":[{"name":"gpu","kind":"gpu"}]}}"#),
        (
            0,
            r#"{"create_offer":{"offer":"o","resource_type":"lingjun","instance":{"gpu":8000},"inventory":1,
                "price":200000,"terms":{"original_price":1000000,"protection_ms":0,"grace_period_ms":0}}}"#,
        ),
        (
            0,
            r#"{"submit_job":{"job":"j","pods":[{"amount":{}}],"fault_tolerance":{},"spot":{"offer":"o",
                "discount_percent":40,"network":{"vpc":"vpc-1","vswitch":"vsw-1","security_group":"sg-1"}}}}"#,
        ),
        (60, r#"{"publish_price":{"offer":"o","price":900000}}"#),
        (100, r#"{"round":{"slot":100}}"#),
        (101, r#"{"publish_price":{"offer":"o","price":200000}}"#),
        (102, r#"{"round":{"slot":102}}"#),
    ] {
        let command: Command = message::read(command.as_bytes()).unwrap();
        authority::step(&mut state, &command, Timestamp(minute * Millis::MINUTE.0)).unwrap();
    }
    all.see_why(&state, JobNo(0), Timestamp(4 * Millis::HOUR.0));
}

/// A borrower has held more than the pod takes for which it goes: the rest is idle.
fn room_left_over(all: &mut All) {
    let mut state = State::default();
    for line in [
        r#"{"create_cluster":{"dimensions":[{"name":"gpu","kind":"gpu"}]}}"#,
        r#"{"put_group":{"group":"g","resource_type":"lingjun","pool":{"gpu":5000}}}"#,
        r#"{"create_quota":{"quota":"root","groups":["g"],"min":{"gpu":5000}}}"#,
        r#"{"create_quota":{"quota":"owner","parent":"root","min":{"gpu":5000}}}"#,
        r#"{"create_quota":{"quota":"other","parent":"root","min":{"gpu":0},"settings":{"grace_period_ms":0}}}"#,
        r#"{"submit_job":{"job":"borrower","quota":"other","idle":"only","pods":[{"amount":{"gpu":4000}}]}}"#,
        r#"{"submit_job":{"job":"waits","quota":"other","idle":"only","pods":[{"amount":{"gpu":3000}}]}}"#,
        r#"{"submit_job":{"job":"service","quota":"owner","min_pods":1,"pods":[{"count":2,"amount":{"gpu":1000}}]}}"#,
    ] {
        let command: Command = message::read(line.as_bytes()).unwrap();
        all.see_outcome(authority::step(&mut state, &command, Timestamp(0)));
    }
    let waits = state.jobs.find(&JobId::new("waits").unwrap()).unwrap();
    all.see_why(&state, waits, Timestamp(0));
}

/// Many small victims for pods of two roles that are not packed together, though each role alone would find room.
fn an_unsolved_search(all: &mut All) {
    let mut lines = vec![
        r#"{"create_cluster":{"dimensions":[{"name":"gpu","kind":"gpu"}]}}"#.to_owned(),
        r#"{"put_group":{"group":"g","resource_type":"lingjun","pool":null}}"#.to_owned(),
        r#"{"put_node":{"node":"n1","group":"g","amount":{"gpu":8000}}}"#.to_owned(),
        r#"{"put_node":{"node":"n2","group":"g","amount":{"gpu":8000}}}"#.to_owned(),
        r#"{"create_quota":{"quota":"q","groups":["g"],"min":{"gpu":16000},"settings":{"self_level":{"high":[9],
            "low":[1],"modules":["DLC"]}}}}"#
            .to_owned(),
    ];
    let one = r#""quota":"q","pods":[{"amount":{"gpu":1000}}]"#;
    lines.extend((0..16).map(|at| format!(r#"{{"submit_job":{{"job":"j{at}",{one}}}}}"#)));
    let pods = r#"[{"count":2,"amount":{"gpu":5000}},{"count":1,"amount":{"gpu":4000}}]"#;
    lines.push(format!(r#"{{"submit_job":{{"job":"gang","quota":"q","priority":9,"pods":{pods}}}}}"#));
    let mut state = State::default();
    for line in &lines {
        let command: Command = message::read(line.as_bytes()).unwrap();
        all.see_outcome(authority::step(&mut state, &command, Timestamp(0)));
    }
    // Whether it could run on empty machines is another question.
    let gang = &state.jobs[state.jobs.find(&JobId::new("gang").unwrap()).unwrap()].spec;
    see(&mut all.blockers, &source::assign(Source::SelfLevel, &Trial::new(&state, Timestamp(0)), gang).unwrap_err());
}

/// What nobody sends by accident.
fn rare_rejections(all: &mut All) {
    let mut state = State::default();
    let too_large = vec![b' '; message::MESSAGE_BYTES_MAX + 1];
    see(&mut all.rejections, &message::read::<Command>(&too_large).unwrap_err());
    see(&mut all.rejections, &message::read::<Command>(b"{}").unwrap_err());
    for envelope in
        [r#"{"format":99,"id":"a","command":{"round":{}}}"#, r#"{"format":1,"id":"a","base":7,"command":{"round":{}}}"#]
    {
        let envelope: Envelope = message::read(envelope.as_bytes()).unwrap();
        see(&mut all.rejections, &authority::handle(&mut state, &envelope, Timestamp(0)).unwrap_err());
    }
    let stranger = Sender { user: UserId::new("stranger").unwrap(), administers: false };
    see(&mut all.rejections, &authorise(&state, &stranger, &Command::Round(Round::default())).unwrap_err());
    let roles = vec![r#"{"amount":{"gpu":1000}}"#; limit::ROLES_MAX + 1].join(",");
    for command in [
        r#"{"create_cluster":{"dimensions":[]}}"#.to_owned(),
        r#"{"create_cluster":{"dimensions":[{"name":"gpu","kind":"gpu"}]}}"#.to_owned(),
        r#"{"put_group":{"group":"pool","resource_type":"lingjun","pool":{"gpu":8000}}}"#.to_owned(),
        r#"{"create_quota":{"quota":"q","groups":["pool"],"min":{"gpu":8000}}}"#.to_owned(),
        r#"{"create_quota":{"quota":"q","groups":["pool"],"min":{"gpu":9000}}}"#.to_owned(),
        r#"{"create_quota":{"quota":"r","groups":[],"min":{"gpu":1000}}}"#.to_owned(),
        r#"{"apply_plan":{"commands":[{"delete_quota":{"quota":"q"}},{"round":{}}]}}"#.to_owned(),
        r#"{"submit_job":{"job":"j","pods":[{"amount":{"gpu":1000}}]}}"#.to_owned(),
        r#"{"update_quota":{"quota":"q","settings":{"child_level":{"preemptible":[],"modules":[]}}}}"#.to_owned(),
        format!(r#"{{"submit_job":{{"job":"j","quota":"q","pods":[{roles}]}}}}"#),
    ] {
        let command: Command = message::read(command.as_bytes()).unwrap();
        all.see_outcome(authority::step(&mut state, &command, Timestamp(0)));
    }
}

/// Ended jobs are forgotten when there are very many.
fn rare_events(all: &mut All) {
    let mut run = (0..100).map(|seed| Run::after(seed, 100)).find(|run| !run.state.ended.is_empty()).unwrap();
    let mut snapshot = Snapshot::of(&run.state);
    let ended = snapshot.jobs.iter().map(|(_, job)| job).find(|job| job.is_ended()).unwrap().clone();
    let first = u32::try_from(snapshot.jobs.len() + snapshot.free_jobs.len()).unwrap();
    for at in 0..u32::try_from(limit::ENDED_JOBS_KEPT).unwrap() {
        let mut copy = ended.clone();
        copy.spec.id = JobId::new(&format!("copy-{at}")).unwrap();
        snapshot.jobs.add(JobNo(first + at), copy).unwrap();
    }
    run.state = snapshot.restore().unwrap();
    let command: Command = message::read(br#"{"round":{}}"#).unwrap();
    all.see_outcome(authority::step(&mut run.state, &command, run.now));
    // One key more than there is room for, where one of them has been revoked.
    let user = UserId::new("ann").unwrap();
    for at in 0..limit::KEYS_MAX {
        let key = AccessKey { is_revoked: at == 0, ..AccessKey::new(user.clone(), false, run.now, None) };
        run.state.keys.insert(KeyId::new(&format!("k{at}")).unwrap(), key);
    }
    let command: Command = message::read(br#"{"create_key":{"key":"k","user":"bob"}}"#).unwrap();
    all.see_outcome(authority::step(&mut run.state, &command, run.now));
    // Who cancels is known where a command has a sender.
    let live = run.state.jobs.iter().find(|(_, job)| !job.is_ended() && job.spec.part_of.is_none());
    let cancel =
        format!(r#"{{"format":1,"id":"c","command":{{"cancel_job":{{"job":"{}"}}}}}}"#, live.unwrap().1.spec.id);
    let envelope =
        Sender { user: user.clone(), administers: true }.sign(message::read::<Envelope>(cancel.as_bytes()).unwrap());
    all.see_outcome(authority::handle(&mut run.state, &envelope, run.now).map(|receipt| receipt.events));
    // What a stranger sees of a new workspace.
    let receipt = Receipt {
        id: CommandId::new("a").unwrap(),
        revision: 1,
        at: run.now,
        events: vec![Event::WorkspaceDeleted { workspace: WorkspaceId::new("w").unwrap() }],
    };
    let stranger = Sender { user: UserId::new("stranger").unwrap(), administers: false };
    all.see_outcome(Ok(Visibility::new(&run.state, &stranger).receipt(receipt).events));
}
