//! The service as the agents' simulation sees it: a cluster with its log, and what it keeps of agents.

use std::collections::BTreeSet;

use agent::message::Hello;
use agent::message::SyncAnswer;
use agent::message::SyncRequest;
use agent::message::Welcome;
use engine::job::phase::Phase;
use engine::job::phase::PodAt;
use engine::message::envelope::Envelope;
use engine::message::snapshot::Snapshot;
use engine::state::jobs::Job;
use engine::state::world::State;
use engine::transition::Sender;
use engine::transition::check_resizable;
use engine::unit::id::JobId;
use engine::unit::id::UserId;
use engine::unit::time::Timestamp;
use protocol::agents::Unheard;
use protocol::agents::contact::Contacts;
use protocol::agents::contact::Identity;
use protocol::agents::script;
use protocol::cluster::Cluster;
use protocol::log::LogStore;
use protocol::log::Stored;
use protocol::log::Write;
use protocol::name::ClusterName;
use protocol::note::Note;
use protocol::note::NoteChange;
use protocol::profile::Profile;
use serde_json::Value;
use serde_json::json;

use crate::disk::Disk;
use crate::flaw::Flaw;
use crate::machine::GPUS;
use crate::random::Random;

/// Nodes, and the agent that each belongs to.
pub(crate) const NODES: [(&str, usize); 3] = [("n1", 0), ("n2", 0), ("n3", 1)];
pub(crate) const AGENTS: usize = 2;
const QUEUE_MAX: usize = 4;
const SLOT_MS: u64 = 60_000;

pub(crate) struct Authority {
    cluster: Cluster<Disk>,
    contacts: Contacts,
    flaw: Option<Flaw>,
    /// The state that a restore goes back to.
    kept: String,
    now: u64,
    n_commands: u64,
    n_jobs: u64,
    epoch: u64,
    pub(crate) given_up: Vec<String>,
}

impl Authority {
    pub(crate) fn new(flaw: Option<Flaw>) -> Self {
        let cluster = Cluster::new(name(), Profile::default(), Disk::default());
        let (contacts, kept, given_up) = (Contacts::new(), String::new(), Vec::new());
        let mut new = Self { cluster, contacts, flaw, kept, now: 0, n_commands: 0, n_jobs: 0, epoch: 0, given_up };
        new.cluster.found(None, None).expect("nothing is published");
        let dimensions = json!([{ "name": "gpu", "kind": "gpu" }]);
        new.send(&json!({ "create_cluster": { "dimensions": dimensions, "execution": "reported" } }));
        for agent in 0..AGENTS {
            let (group, key) = (group(agent), format!("{}.{}", name(), agent_name(agent)));
            new.send(&json!({ "put_group": { "group": group, "resource_type": "lingjun" } }));
            let user = agent_name(agent);
            new.send(&json!({ "create_key": { "key": key, "user": user, "serves": [group] } }));
        }
        for (node, agent) in NODES {
            let amount = json!({ "gpu": u32::from(GPUS) * 1_000 });
            new.send(&json!({ "put_node": { "node": node, "group": group(agent), "amount": amount } }));
        }
        let groups: Vec<String> = (0..AGENTS).map(group).collect();
        let settings = json!({ "grace_period_ms": 4_000 });
        let quota = json!({ "quota": "q", "groups": groups, "min": all(), "settings": settings });
        new.send(&json!({ "create_quota": quota }));
        new.keep();
        new
    }

    fn send(&mut self, command: &Value) {
        self.send_noted(command, &[]);
    }

    fn send_noted(&mut self, command: &Value, notes: &[NoteChange]) {
        self.n_commands += 1;
        let value = json!({ "format": 1, "id": format!("command-{}", self.n_commands), "command": command });
        let envelope: Envelope = serde_json::from_value(value).expect("a good envelope");
        let sender = Sender { user: UserId::new("administrator").expect("a good name"), administers: true };
        let now = self.time();
        self.cluster.submit_noted(&envelope, &sender, notes, now).expect("it is accepted");
    }

    fn time(&self) -> Timestamp {
        Timestamp(i64::try_from(self.now).expect("it is small"))
    }

    fn read<T>(&self, read: impl FnOnce(&State) -> T) -> T {
        read(self.cluster.state().expect("it has been read"))
    }

    // What people do.

    pub(crate) fn submit(&mut self, random: &mut Random) {
        let shape = (1 + u32::from(random.per_mille(300)), 1 + u32::from(random.per_mille(500)));
        if self.read(|state| state.jobs.iter().filter(|(_, job)| job.is_queued()).count()) >= QUEUE_MAX {
            return;
        }
        self.n_jobs += 1;
        let (job, (pods, gpus)) = (format!("job-{}", self.n_jobs), shape);
        let pods = json!([{ "count": pods, "amount": { "gpu": gpus * 1_000 } }]);
        let module = if shape.0 > 1 { "EAS" } else { "DLC" };
        let mut submit = json!({ "job": job, "quota": "q", "module": module, "pods": pods, "fault_tolerance": {} });
        if shape.0 > 1 {
            // It is content with one, and takes more where there is room.
            submit["min_pods"] = json!(1);
            // One of them may come to its end, and another one fail: then it is queued again.
            self.given_up.push(job.clone());
        }
        self.send_noted(&json!({ "submit_job": submit }), &[NoteChange::Put(scripted(&job))]);
    }

    pub(crate) fn cancel(&mut self, at: u64, now: u64, _grace: u64) {
        self.now = self.now.max(now);
        if let Some(job) = self.nth(at) {
            self.send(&json!({ "cancel_job": { "job": job } }));
        }
    }

    /// For a moment there is less: whoever is on it has to go.
    pub(crate) fn evict(&mut self, at: u64, now: u64, _grace: u64) {
        self.now = self.now.max(now);
        let left = i64::try_from(at % 6).expect("it is small") * 1_000;
        for min in [json!({ "gpu": left }), all()] {
            let targets = json!([{ "quota": "q", "min": min }]);
            self.send(&json!({ "scale_quotas": { "targets": targets, "mode": "evict" } }));
        }
    }

    /// A service gives up a pod.
    pub(crate) fn shrink(&mut self, at: u64, now: u64) {
        self.now = self.now.max(now);
        self.resize(at, -1);
    }

    /// A service would have one more.
    pub(crate) fn grow(&mut self, at: u64) {
        self.resize(at, 1);
    }

    fn resize(&mut self, at: u64, difference: i64) {
        let Some(job) = self.nth(at) else { return };
        let (pods, can_resize) = self.read(|state| {
            let no = state.jobs.find(&job).expect("it runs");
            (
                (state.owed(no), state.owed(no) + state.jobs[no].spec.shape.extra_pods()),
                check_resizable(state, no).is_ok(),
            )
        });
        let (owed, accepted) = (pods.0, i64::from(pods.1) + difference);
        if can_resize && (1..=6).contains(&accepted) {
            let owed = i64::from(owed).min(accepted);
            self.send(&json!({ "resize_job": { "job": job, "pods": accepted, "min_pods": owed } }));
        }
    }

    pub(crate) fn stop_everything(&mut self, now: u64) {
        self.now = self.now.max(now);
        let is_left = |job: &Job| !job.is_ended() && !job.is_going();
        let left: Vec<JobId> = self.read(|state| {
            state.jobs.iter().filter(|(_, job)| is_left(job)).map(|(_, job)| job.spec.id.clone()).collect()
        });
        for job in left {
            self.send(&json!({ "cancel_job": { "job": job } }));
        }
    }

    pub(crate) fn keep(&mut self) {
        self.kept = self.read(|state| serde_json::to_string(&Snapshot::of(state)).expect("it can be written"));
    }

    /// What happened since it was kept is not known any more; the epoch rises.
    pub(crate) fn restore(&mut self) {
        self.epoch += 1;
        let mut snapshot: Value = serde_json::from_str(&self.kept).expect("it has been written");
        snapshot["cluster"]["epoch"] = json!(self.epoch);
        let revision = snapshot["revision"].as_u64().expect("it is a number");
        let text = serde_json::to_string(&snapshot).expect("it can be written");
        let mut disk = Disk::default();
        let stored = Stored { seq: 1 + self.n_commands, revision, at: self.time(), text };
        let scripts = (1..=self.n_jobs).map(|job| Write::ChangeNote(NoteChange::Put(scripted(&format!("job-{job}")))));
        let writes: Vec<Write> = [Write::PutSnapshot(stored)].into_iter().chain(scripts).collect();
        disk.commit(writes).expect("nothing fails here");
        self.cluster = Cluster::new(name(), Profile::default(), disk);
        self.cluster.mark().expect("it is read");
        if self.flaw == Some(Flaw::GrantsAfterRestore) {
            for contact in self.contacts.values_mut() {
                contact.epoch = Some(self.epoch);
            }
        }
    }

    /// Nobody says so here: the machine comes back and tells what it has.
    #[expect(clippy::unused_self, reason = "others can declare a machine dead")]
    pub(crate) fn declare_dead(&mut self, _agent: usize, _now: u64) {}

    fn nth(&self, at: u64) -> Option<JobId> {
        self.read(|state| {
            let running: Vec<&JobId> =
                state.jobs.iter().filter(|(_, job)| job.run_no().is_some()).map(|(_, job)| &job.spec.id).collect();
            let at = usize::try_from(at).ok()?.checked_rem(running.len())?;
            running.get(at).map(|job| (*job).clone())
        })
    }

    // What time brings.

    pub(crate) fn pass(&mut self, now: u64) {
        let (before, now) = (self.now, self.now.max(now));
        self.now = now;
        let time = self.time();
        if before / SLOT_MS < now / SLOT_MS {
            let slot = i64::try_from(now / SLOT_MS).expect("it is small");
            self.cluster.run_slot(slot, time).expect("the round is held");
        }
        self.cluster.run_alarm(time).expect("the round is held");
    }

    // What agents say.

    pub(crate) fn hello(&mut self, agent: usize, hello: &Hello) -> Option<Welcome> {
        let now = self.time();
        heard(self.cluster.welcome(&mut self.contacts, &identity(agent), hello, now))
    }

    /// The answer; none for an agent that is not the newest.
    pub(crate) fn sync(&mut self, agent: usize, request: &SyncRequest, now: u64) -> Option<SyncAnswer> {
        self.now = self.now.max(now);
        let now = self.time();
        heard(self.cluster.sync(&mut self.contacts, &identity(agent), request, now)).map(|heard| heard.answer)
    }

    // What is asked of it.

    pub(crate) fn knows_as_its_own(&self, agent: usize, store: &str) -> bool {
        self.contacts.get(&agent_name(agent)).is_some_and(|contact| contact.store == store)
    }

    /// After a restore it does not claim to know what is free before every agent was heard.
    pub(crate) fn is_free(&self, node: &str, gpu: u16) -> bool {
        let is_clear = |agent: usize| {
            let contact = self.contacts.get(&agent_name(agent));
            contact.is_some_and(|contact| contact.epoch == Some(self.epoch) && contact.strangers.is_empty())
        };
        (self.epoch == 0 || (0..AGENTS).all(is_clear)) && !self.booked().contains(&(node.to_owned(), gpu))
    }

    /// The GPUs that the books give to a run.
    fn booked(&self) -> BTreeSet<(String, u16)> {
        self.read(|state| {
            let of_job = |job: &Job| -> Vec<PodAt> {
                let placed = job.placed().filter(|_| job.run_no().is_some());
                let gang = placed.into_iter().flat_map(|placed| placed.pods.iter());
                let leaving = job.run.iter().flat_map(|run| &run.leaving).flat_map(|leaving| &leaving.pods);
                let extra = match &job.phase {
                    Phase::Running { extra, .. } => &**extra,
                    Phase::Stopping(stopping) => &*stopping.extra,
                    Phase::Queued { .. } | Phase::Starting { .. } | Phase::Ended { .. } => &[],
                };
                let extra = extra.iter().filter_map(|pod| pod.at);
                gang.chain(leaving).copied().chain(extra).collect()
            };
            let places = state.jobs.iter().flat_map(|(_, job)| of_job(job));
            let gpus =
                |at: PodAt| (0..GPUS).filter(move |gpu| at.gpus & (1 << gpu) != 0).map(move |gpu| (at.node, gpu));
            places.flat_map(gpus).map(|(node, gpu)| (state.nodes[node.at()].id.to_string(), gpu)).collect()
        })
    }

    pub(crate) fn left_over(&self) -> Option<String> {
        let n_booked = self.booked().len();
        (n_booked > 0).then(|| format!("{n_booked} GPUs in the books"))
    }
}

fn heard<T>(said: Result<T, Unheard>) -> Option<T> {
    match said {
        Ok(said) => Some(said),
        Err(Unheard::Refused(_)) => None,
        Err(Unheard::Failed(failure)) => panic!("{failure}"),
    }
}

fn name() -> ClusterName {
    ClusterName::new("demo").expect("a good name")
}

fn agent_name(agent: usize) -> String {
    format!("agent-{agent}")
}

fn group(agent: usize) -> String {
    format!("group-{agent}")
}

fn all() -> Value {
    json!({ "gpu": NODES.len() * usize::from(GPUS) * 1_000 })
}

fn identity(agent: usize) -> Identity {
    let read = |name: String| serde_json::from_value(json!(name));
    let serves = vec![serde_json::from_value(json!(group(agent))).expect("a good name")];
    Identity {
        name: agent_name(agent),
        user: read(agent_name(agent)).expect("a good name"),
        serves,
        adopts: Vec::new(),
    }
}

fn scripted(job: &str) -> Note {
    let text = json!({ "format": 1, "command": ["true"] }).to_string();
    Note::new(script::note_name(&JobId::new(job).expect("a good name")), text)
}
