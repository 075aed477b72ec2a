//! A small cluster with agents on its machines, to which one speaks as people and agents do.

use agent::exit::Exit;
use agent::message::FORMAT;
use agent::message::Hello;
use agent::message::NodeReport;
use agent::message::NodeStatus;
use agent::message::RunReport;
use agent::message::RunState;
use agent::message::SyncAnswer;
use agent::message::SyncRequest;
use agent::run::RunId;
use agent::run::Version;
use engine::job::phase::Outcome;
use engine::job::phase::Phase;
use engine::unit::id::JobId;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;
use protocol::agents::Unheard;
use protocol::agents::contact::Contacts;
use protocol::agents::contact::Identity;
use protocol::agents::script;
use protocol::agents::tell;
use protocol::cluster::Cluster;
use protocol::cluster::Done;
use protocol::note::Note;
use protocol::note::NoteChange;
use protocol::profile::Profile;
use serde_json::Value;
use serde_json::json;

use crate::disk::Disk;
use crate::memory::START;
use crate::world::envelope;
use crate::world::name;
use crate::world::sender;

/// A cluster of two machines with 8 GPUs each, `n1` in group `a` and `n2` in group `b`.
pub(crate) struct Desk {
    pub(crate) disk: Disk,
    pub(crate) cluster: Cluster<Disk>,
    pub(crate) contacts: Contacts,
    pub(crate) now: Timestamp,
    pub(crate) n_commands: u32,
}

impl Desk {
    pub(crate) fn new() -> Self {
        let log = Disk::default();
        let cluster = Cluster::new(name(), Profile::default(), log.clone());
        let mut desk = Self { disk: log, cluster, contacts: Contacts::new(), now: START, n_commands: 0 };
        desk.cluster.found(None, None).expect("nothing is published");
        let cluster = json!({ "dimensions": [{ "name": "gpu", "kind": "gpu" }], "execution": "reported" });
        desk.send(&json!({ "create_cluster": cluster }));
        for (group, node) in [("a", "n1"), ("b", "n2")] {
            desk.send(&json!({ "put_group": { "group": group, "resource_type": "lingjun" } }));
            let amount = json!({ "gpu": 8000 });
            desk.send(&json!({ "put_node": { "node": node, "group": group, "amount": amount } }));
            let key = format!("{}.of-{node}", name());
            desk.send(&json!({ "create_key": { "key": key, "user": format!("of-{node}"), "serves": [group] } }));
        }
        desk.send(&json!({ "create_quota": { "quota": "q", "groups": ["a", "b"], "min": { "gpu": 16000 } } }));
        desk
    }

    /// Both agents are known, with nothing that runs.
    pub(crate) fn with_both() -> Self {
        let mut desk = Self::new();
        desk.hello("of-n1", "1").expect("it is welcome");
        desk.hello("of-n2", "2").expect("it is welcome");
        desk.sync("of-n2", Vec::new());
        desk.sync("of-n1", Vec::new());
        desk
    }

    /// Sends a command; who is rung for by it.
    pub(crate) fn send(&mut self, command: &Value) -> Vec<String> {
        self.n_commands += 1;
        let envelope = envelope(&format!("command-{}", self.n_commands), command);
        let done = self.cluster.submit(&envelope, &sender(), self.now).expect("it is accepted");
        self.rung(&done)
    }

    pub(crate) fn rung(&mut self, done: &Done) -> Vec<String> {
        let contacts = &self.contacts;
        let rung = self.cluster.with_state(|state| {
            let names = tell::concerned(state, contacts, &done.receipt.events);
            names.into_iter().map(str::to_owned).collect()
        });
        rung.expect("it is read")
    }

    /// Submits a job of so many pods of 8 GPUs; who is rung for by it.
    pub(crate) fn submit(&mut self, job: &str, pods: u32) -> Vec<String> {
        self.submit_of(job, pods, 8, &["true"])
    }

    pub(crate) fn submit_as(&mut self, module: &str, job: &str, pods: u32) -> Vec<String> {
        self.submit_spec(module, job, (pods, 8), &["true"])
    }

    /// The same of pods with so many GPUs that execute this.
    pub(crate) fn submit_of(&mut self, job: &str, pods: u32, gpus: u32, line: &[&str]) -> Vec<String> {
        self.submit_spec("DLC", job, (pods, gpus), line)
    }

    pub(crate) fn submit_spec(
        &mut self,
        module: &str,
        job: &str,
        (pods, gpus): (u32, u32),
        line: &[&str],
    ) -> Vec<String> {
        self.n_commands += 1;
        let pods = json!([{ "count": pods, "amount": { "gpu": gpus * 1000 } }]);
        let job_spec = json!({ "job": job, "quota": "q", "module": module, "pods": pods, "fault_tolerance": {} });
        let command = json!({ "submit_job": job_spec });
        let envelope = envelope(&format!("command-{}", self.n_commands), &command);
        let text = json!({ "format": 1, "command": line }).to_string();
        let note = Note::new(script::note_name(&id(job)), text);
        let noted = self.cluster.submit_noted(&envelope, &sender(), &[NoteChange::Put(note)], self.now);
        self.rung(&noted.expect("it is accepted"))
    }

    pub(crate) fn hello(&mut self, agent: &str, store: &str) -> Result<u64, String> {
        let hello = Hello { format: FORMAT, store: store.to_owned() };
        let welcome = self.cluster.welcome(&mut self.contacts, &who(agent), &hello, self.now);
        welcome.map(|welcome| welcome.incarnation).map_err(|unheard| words(&unheard))
    }

    /// What an agent hears that has these runs; how many rows that added to the log.
    pub(crate) fn sync(&mut self, agent: &str, runs: Vec<RunReport>) -> (SyncAnswer, u64) {
        self.try_sync(agent, self.contacts[agent].incarnation, runs).expect("it is heard")
    }

    pub(crate) fn try_sync(
        &mut self,
        agent: &str,
        incarnation: u64,
        runs: Vec<RunReport>,
    ) -> Result<(SyncAnswer, u64), String> {
        self.now = self.now + Millis(1_000);
        let before = self.cluster.mark().expect("it is read");
        let node = agent.strip_prefix("of-").expect("it is named after its node").to_owned();
        let nodes = vec![NodeReport { node, gpus: 8, status: NodeStatus::Ready, reason: None }];
        let epoch = self.cluster.with_state(|state| state.cluster.epoch).expect("it is read");
        let answered = Some(Version { epoch, revision: before.revision });
        let request = SyncRequest {
            format: FORMAT,
            incarnation,
            answered,
            nodes,
            runs,
            lives: Vec::new(),
            keeps: true,
            changes: false,
            offered: Vec::new(),
        };
        let heard = self.cluster.sync(&mut self.contacts, &who(agent), &request, self.now);
        let heard = heard.map_err(|unheard| words(&unheard))?;
        let after = self.cluster.mark().expect("it is read");
        heard.answer.check().expect("it contradicts nothing");
        Ok((heard.answer, after.seq - before.seq))
    }

    pub(crate) fn phase(&mut self, job: &str) -> String {
        let read = |state: &engine::state::world::State| {
            let job = &state.jobs[state.jobs.find(&id(job)).expect("there is the job")];
            match &job.phase {
                Phase::Running { .. } if job.is_unconfirmed() => "starting".to_owned(),
                Phase::Queued { .. } => "queued".to_owned(),
                Phase::Starting { .. } => "granted".to_owned(),
                Phase::Running { .. } => "running".to_owned(),
                Phase::Stopping(_) => "stopping".to_owned(),
                Phase::Ended { outcome: Outcome::Failed { reason }, .. } => format!("failed: {reason}"),
                Phase::Ended { outcome, .. } => format!("{outcome:?}").to_lowercase(),
            }
        };
        self.cluster.with_state(read).expect("it is read")
    }

    pub(crate) fn round(&mut self) {
        self.now = self.now + Millis::MINUTE;
        self.cluster.run_slot(self.now.0 / 60_000, self.now).expect("the round is held");
    }

    pub(crate) fn try_sync_unknown(&mut self) -> String {
        self.try_sync("of-n1", 1, Vec::new()).expect_err("nobody knows it")
    }
}

pub(crate) fn who(agent: &str) -> Identity {
    let group = if agent == "of-n1" { "a" } else { "b" };
    let serves = vec![serde_json::from_value(json!(group)).expect("it is a name")];
    Identity {
        name: agent.to_owned(),
        user: serde_json::from_value(json!(agent)).expect("it is a name"),
        serves,
        adopts: Vec::new(),
    }
}

pub(crate) fn id(job: &str) -> JobId {
    JobId::new(job).expect("it is a name")
}

pub(crate) fn words(unheard: &Unheard) -> String {
    match unheard {
        Unheard::Refused(refused) => format!("{}: {refused}", refused.code()),
        Unheard::Failed(failure) => format!("failed: {failure}"),
    }
}

pub(crate) fn run(run: RunId, job: &str, state: RunState) -> RunReport {
    RunReport { job: job.to_owned(), state, ..RunReport::of_living(run) }
}

pub(crate) fn exited(of: RunId, job: &str, code: i32, told: bool) -> RunReport {
    RunReport { told, ..run(of, job, RunState::Ended(Exit::Code(code))) }
}
