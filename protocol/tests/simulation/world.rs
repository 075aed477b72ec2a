//! One simulated cluster with everything that happens to it, and the invariants that are checked after every step.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::collections::BTreeSet;

use engine::message::envelope::Entry;
use engine::message::envelope::Envelope;
use engine::message::envelope::Receipt;
use engine::message::event::Event;
use engine::message::rejection::Noun;
use engine::message::rejection::Rejection;
use engine::state::world::State;
use engine::transition::Sender;
use engine::unit::id::UserId;
use engine::unit::time::Timestamp;
use protocol::cluster::Cluster;
use protocol::cluster::Done;
use protocol::cluster::SLOT_MS;
use protocol::digest;
use protocol::document::Head;
use protocol::fault::Failure;
use protocol::fault::Fault;
use protocol::garbage;
use protocol::history;
use protocol::name::ClusterName;
use protocol::note::Note;
use protocol::note::NoteChange;
use protocol::profile::Profile;
use protocol::publish;
use protocol::publish::Due;
use protocol::publish::Occasion;
use protocol::replay::replay;
use serde_json::json;

use crate::air;
use crate::air::Air;
use crate::disk::Disk;
use crate::disk::Plan;
use crate::past;
use crate::random::Random;
use crate::restored::Copy;
use crate::restored::Held;
use crate::restored::copy;

/// A cluster and what is known of it from outside.
pub(crate) struct World {
    pub(crate) random: Random,
    pub(crate) disk: Disk,
    pub(crate) air: Air,
    pub(crate) cluster: Cluster<Disk>,
    pub(crate) now: Timestamp,
    pub(crate) profile: Profile,
    pub(crate) sent: Vec<Envelope>,
    pub(crate) acknowledged: BTreeMap<String, Receipt>,
    /// The fold of everything that was ever in the log.
    shadow: State,
    pub(crate) entries: Vec<Entry>,
    ids: BTreeSet<String>,
    slots: BTreeSet<i64>,
    /// What is kept beside the log, by the commands in it.
    notes: BTreeMap<String, String>,
    n_heads: usize,
    /// Objects that were deleted.
    pub(crate) n_collected: usize,
    /// Rounds that ran because something was due.
    pub(crate) n_alarms: usize,
}

pub(crate) fn name() -> ClusterName {
    ClusterName::new("demo").expect("a good name")
}

pub(crate) fn envelope(id: &str, command: &serde_json::Value) -> Envelope {
    let value = json!({ "format": 1, "id": id, "by": sender().user, "command": command });
    serde_json::from_value(value).expect("a good envelope")
}

pub(crate) fn sender() -> Sender {
    Sender { user: UserId::new("administrator").expect("a good name"), administers: true }
}

/// The commands that make a cluster with three quotas.
pub(crate) fn founding() -> Vec<Envelope> {
    let dimension = json!({ "name": "gpu", "kind": "gpu" });
    let commands = [
        json!({ "create_cluster": { "dimensions": [dimension] } }),
        json!({ "put_group": { "group": "pool", "resource_type": "lingjun", "pool": { "gpu": 16000 } } }),
        json!({ "create_quota": { "quota": "root", "groups": ["pool"], "min": { "gpu": 16000 } } }),
        json!({ "create_quota": { "quota": "a", "parent": "root", "min": { "gpu": 8000 } } }),
        json!({ "create_quota": { "quota": "b", "parent": "root", "min": { "gpu": 8000 } } }),
    ];
    commands.into_iter().enumerate().map(|(at, command)| envelope(&format!("founding-{at}"), &command)).collect()
}

/// The change of a note that comes with a command: a few names, so that notes are replaced and dropped as well.
fn note_change(envelope: &Envelope) -> Option<NoteChange> {
    let number: u64 = envelope.id.as_str().strip_prefix("command-")?.parse().ok()?;
    let name = format!("job/{}", number % 37);
    Some(match number % 5 {
        0 => NoteChange::Drop(name),
        _ => NoteChange::Put(Note::new(name, format!("said by {}", envelope.id))),
    })
}

impl World {
    pub(crate) fn new(seed: u64, profile: Profile) -> Self {
        let disk = Disk::default();
        let mut world = Self {
            random: Random::new(seed),
            air: Air::new(seed ^ 0xa1),
            cluster: Cluster::new(name(), profile, disk.clone()),
            disk,
            now: Timestamp(1_700_000_000_000),
            profile,
            sent: Vec::new(),
            acknowledged: BTreeMap::new(),
            shadow: State::default(),
            entries: Vec::new(),
            ids: BTreeSet::new(),
            slots: BTreeSet::new(),
            notes: BTreeMap::new(),
            n_heads: 0,
            n_collected: 0,
            n_alarms: 0,
        };
        world.cluster.found(None, None).expect("nothing is published yet");
        for envelope in founding() {
            let receipt = world.cluster.submit(&envelope, &sender(), world.now).expect("the founding works").receipt;
            world.acknowledged.insert(envelope.id.to_string(), receipt);
            world.sent.push(envelope);
        }
        world.check();
        world
    }

    pub(crate) fn n_entries(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn n_acknowledged(&self) -> usize {
        self.acknowledged.len()
    }

    fn wait(&mut self, bound_ms: u64) {
        let passed = self.random.below(bound_ms);
        self.now = Timestamp(self.now.0 + i64::try_from(passed).expect("small"));
    }

    /// Sometimes the next commit fails.
    fn plan_fault(&mut self) -> Plan {
        let plan = match self.random.below(40) {
            0 => Plan::FailBefore,
            1 => Plan::FailAfter,
            _ => Plan::Work,
        };
        self.disk.plan(plan);
        plan
    }

    /// The clock, which is not quite the same everywhere.
    fn clock(&mut self) -> Timestamp {
        let behind = if self.random.percent(5) { self.random.below(5_000) } else { 0 };
        Timestamp(self.now.0 - i64::try_from(behind).expect("small"))
    }

    /// Something new, sent once.
    pub(crate) fn submit_new(&mut self) {
        let number = self.sent.len();
        let quota = if self.random.percent(50) { "a" } else { "b" };
        let job = |random: &mut Random| format!("job-{}", random.below(number as u64 + 1));
        let command = match self.random.below(10) {
            0..=6 => {
                let gpus = 1000 * (1 + self.random.below(8));
                let duration = 60_000 * (1 + self.random.below(10));
                let idle = if self.random.percent(30) { "acceptable" } else { "off" };
                let name = if self.random.percent(95) { format!("job-{number}") } else { job(&mut self.random) };
                json!({ "submit_job": { "job": name, "quota": quota, "pods": [{ "amount": { "gpu": gpus } }],
                    "duration_ms": duration, "idle": idle, "priority": 1 + self.random.below(9) } })
            }
            7 => json!({ "cancel_job": { "job": job(&mut self.random) } }),
            8 => json!({ "set_priority": { "job": job(&mut self.random), "priority": 1 + self.random.below(9) } }),
            _ => json!({ "round": {} }),
        };
        let mut envelope = envelope(&format!("command-{number}"), &command);
        envelope.dry_run = self.random.percent(5);
        if self.random.percent(5) {
            envelope.base = Some(self.shadow.revision - self.random.below(2));
        }
        self.send(&envelope);
        if !envelope.dry_run {
            self.sent.push(envelope);
        }
    }

    /// Something that was sent before, whatever became of it.
    pub(crate) fn submit_again(&mut self) {
        let at = usize::try_from(self.random.below(self.sent.len() as u64)).expect("small");
        let envelope = self.sent[at].clone();
        self.send(&envelope);
    }

    /// A known name with another body.
    pub(crate) fn submit_other_body(&mut self) {
        let Some(id) = self
            .acknowledged
            .keys()
            .nth(usize::try_from(self.random.below(self.acknowledged.len() as u64)).expect("small"))
        else {
            return;
        };
        let envelope = envelope(id, &json!({ "cancel_job": { "job": "somebody-else" } }));
        let outcome = self.cluster.submit(&envelope, &sender(), self.now);
        assert_eq!(
            outcome,
            Err(Failure::Refused(Rejection::Taken { noun: Noun::Command, name: envelope.id.to_string() }))
        );
    }

    fn send(&mut self, envelope: &Envelope) {
        let (plan, now) = (self.plan_fault(), self.clock());
        let before = self.disk.n_added();
        let notes: Vec<NoteChange> = note_change(envelope).into_iter().collect();
        let outcome = self.cluster.submit_noted(envelope, &sender(), &notes, now);
        self.disk.plan(Plan::Work);
        let stored = self.disk.n_added() - before;
        match outcome {
            Ok(Done { receipt, record: _ }) if envelope.dry_run => {
                assert_eq!(stored, 0, "a dry run stores nothing");
                assert_eq!(receipt.id, envelope.id);
            }
            Ok(Done { receipt, record }) => {
                assert_eq!(usize::from(record.is_some()), stored, "what is new is told");
                if let Some(first) = self.acknowledged.get(envelope.id.as_str()) {
                    assert_eq!(*first, receipt, "I1: a retry gets the first answer");
                }
                self.acknowledged.insert(envelope.id.to_string(), receipt);
            }
            Err(Failure::Refused(_)) => assert_eq!(stored, 0, "a refused command is not stored"),
            Err(Failure::Lost(lost)) => panic!("nothing was lost: {lost:?}"),
            Err(Failure::Broken(fault)) => assert_ne!(plan, Plan::Work, "{fault}"),
        }
    }

    /// The scheduled event of the current minute, sometimes twice, sometimes an old one.
    pub(crate) fn tick(&mut self) {
        let mut slot = self.now.0.div_euclid(SLOT_MS);
        if self.random.percent(10) {
            slot -= i64::try_from(self.random.below(4)).expect("small");
        }
        for _ in 0..=self.random.below(2) {
            let (plan, now) = (self.plan_fault(), self.clock());
            let outcome = self.cluster.run_slot(slot, now);
            self.disk.plan(Plan::Work);
            match outcome {
                Ok(_) | Err(Failure::Refused(Rejection::SlotDone { .. })) => {}
                Err(Failure::Broken(fault)) => assert_ne!(plan, Plan::Work, "{fault}"),
                Err(failure @ (Failure::Refused(_) | Failure::Lost(_))) => panic!("a round was refused: {failure}"),
            }
        }
        self.publish(Occasion::Round);
    }

    /// The alarm rings, sometimes twice: whatever is due for somebody who waits is looked at once.
    pub(crate) fn alarm(&mut self) {
        for _ in 0..=self.random.below(2) {
            let plan = self.plan_fault();
            let before = self.disk.n_added();
            let outcome = self.cluster.run_alarm(self.now);
            self.disk.plan(Plan::Work);
            match outcome {
                Ok(done) => {
                    assert_eq!(usize::from(done.is_some()), self.disk.n_added() - before, "what is new is told");
                    self.n_alarms += usize::from(done.is_some());
                    let next = self.cluster.next_alarm().expect("reading works");
                    assert!(next.is_none_or(|next| next > self.now), "an alarm that does nothing rings again");
                }
                Err(Failure::Broken(fault)) => assert_ne!(plan, Plan::Work, "{fault}"),
                Err(failure @ (Failure::Refused(_) | Failure::Lost(_))) => panic!("a round was refused: {failure}"),
            }
        }
    }

    /// Publishes what is due, while commands go on; sometimes the publisher dies in the middle.
    pub(crate) fn publish(&mut self, occasion: Occasion) {
        self.plan_fault();
        let sealed = match self.cluster.due(occasion, self.now).expect("reading works") {
            Due::Now => self.cluster.seal(self.now),
            Due::No | Due::At(_) => Ok(None),
        };
        self.disk.plan(Plan::Work);
        let Ok(Some(publication)) = sealed else { return };
        let air = self.air.clone();
        let outcome = air::drive(publish::put(&air, &publication), || {
            if self.random.percent(30) {
                self.submit_new();
            }
            if self.random.percent(3) {
                self.crash();
            }
            !self.random.percent(4)
        });
        if outcome == Some(Ok(())) && !self.random.percent(5) {
            self.plan_fault();
            // Whatever fails here is done again by the next publication.
            let _ = self.cluster.settle(&publication, self.now);
            self.disk.plan(Plan::Work);
        }
    }

    /// What may go by now is deleted: an hour after the last head that named it was replaced.
    pub(crate) fn collect(&mut self) {
        self.pass(30 * 60_000);
        let before = self.air.keys();
        let held = Held(RefCell::new(&mut self.cluster));
        // Whatever fails here is done again by the next one.
        let _ = air::run(garbage::collect(&self.air, &held, self.now, 20));
        let (heads, after) = (self.air.heads(), self.air.keys());
        for key in before.iter().filter(|key| !after.contains(key)) {
            let last = heads.iter().rposition(|head| head.keys().any(|named| named == key));
            let replaced = last.and_then(|last| heads.get(last + 1)).map(|head| head.published_at);
            assert!(
                last.is_none() || replaced.is_some_and(|at| at + garbage::KEPT <= self.now),
                "{key} is deleted early"
            );
            self.n_collected += 1;
        }
    }

    /// All memory is gone.
    pub(crate) fn crash(&mut self) {
        self.cluster = Cluster::new(name(), self.profile, self.disk.clone());
    }

    /// Some time passes.
    pub(crate) fn pass(&mut self, bound_ms: u64) {
        self.wait(bound_ms);
    }

    /// I7 at any time: whatever KV shows leads to the state at its head, or to an error.
    pub(crate) fn drill(&mut self) {
        let Ok(Some(head)) = air::run(history::head(&self.air, &name())) else { return };
        let seq = usize::try_from(head.seq).expect("small");
        let mut copy = match copy(&self.air, &head, self.profile) {
            Ok(copy) => copy.cluster,
            Err(Fault::Kv { .. } | Fault::Missing { .. }) => return,
            Err(fault) => panic!("I7: {fault}"),
        };
        let mut state = State::default();
        self.entries[..seq].iter().for_each(|entry| replay(&mut state, entry).expect("the log can be replayed"));
        let restored = copy.position().expect("reading works");
        assert_eq!(restored.hash, digest::of_state(&state), "I7: the state at entry {seq}");
    }

    /// The invariants that concern what is new since the last check.
    pub(crate) fn check(&mut self) {
        for record in self.disk.history_since(self.entries.len()) {
            let entry: Entry = serde_json::from_str(&record.entry).expect("an entry is JSON");
            let seq = self.entries.len() as u64 + 1;
            assert_eq!(record.seq, seq, "I3: the sequence rises by one");
            assert!(
                self.entries.last().is_none_or(|last| last.revision <= entry.revision && last.at <= entry.at),
                "I3: revision and time only rise"
            );
            assert!(
                self.ids.insert(entry.envelope.id.to_string()),
                "I1: command {} is in the log twice",
                entry.envelope.id
            );
            for event in &entry.events {
                if let Event::Rounded { slot: Some(slot), .. } = event {
                    assert!(self.slots.insert(*slot), "I4: slot {slot} was decided twice");
                }
            }
            replay(&mut self.shadow, &entry).expect("I2: the log can be replayed");
            match note_change(&entry.envelope) {
                Some(NoteChange::Put(Note { name, text, owner: _ })) => drop(self.notes.insert(name, text)),
                Some(NoteChange::Drop(name)) => drop(self.notes.remove(&name)),
                None => {}
            }
            self.entries.push(entry);
        }
        self.check_heads();
    }

    /// What readers see never goes back.
    pub(crate) fn check_heads(&mut self) {
        let heads = self.air.heads();
        for pair in heads[self.n_heads.saturating_sub(1)..].windows(2) {
            assert!(pair[0].seq <= pair[1].seq && pair[0].revision <= pair[1].revision, "I3: a head went back");
        }
        self.n_heads = heads.len();
    }

    /// The invariants that concern everything.
    pub(crate) fn check_all(&mut self) {
        self.check();
        let position = self.cluster.position().expect("reading works");
        assert_eq!(position.seq, self.entries.len() as u64, "I2: the last entry");
        assert_eq!(position.hash, digest::of_state(&self.shadow), "I2: the state is the fold of the log");
        assert_eq!(notes(&self.cluster), self.notes, "notes change with their commands, or not at all");
        let by_id: BTreeMap<&str, &Entry> =
            self.entries.iter().map(|entry| (entry.envelope.id.as_str(), entry)).collect();
        for (id, receipt) in &self.acknowledged {
            let entry =
                by_id.get(id.as_str()).unwrap_or_else(|| panic!("I1: {id} was acknowledged and is not in the log"));
            assert_eq!((entry.revision, &entry.events), (receipt.revision, &receipt.events), "I1: the receipt of {id}");
        }
    }

    /// The weather is good again: all is published, and KV alone gives the same cluster, retries included.
    pub(crate) fn finish(&mut self) {
        self.air.set_weather(air::Weather::default());
        for _ in 0..10 {
            self.now = Timestamp(self.now.0 + 2_000);
            let Some(publication) = self.cluster.seal(self.now).expect("sealing works") else { break };
            air::run(publish::put(&self.air, &publication)).expect("putting works");
            self.cluster.settle(&publication, self.now).expect("settling works");
        }
        assert_eq!(self.cluster.due(Occasion::Round, self.now), Ok(Due::No), "all is published");
        self.check_all();
        let here = self.cluster.position().expect("reading works");
        let head = air::run(history::head(&self.air, &name())).expect("reading works").expect("there is a head");
        self.check_parts(&head);
        past::check(&self.air, &head, &self.entries, &mut self.random);
        let Copy { cluster: mut copy, missing, .. } = copy(&self.air, &head, self.profile).expect("KV alone is enough");
        assert_eq!(missing, [], "KV has every entry");
        assert_eq!(copy.position(), Ok(here), "I7: KV alone leads to the same state");
        assert_eq!(notes(&copy), self.notes, "KV alone gives the notes");
        for envelope in &self.sent {
            let Some(first) = self.acknowledged.get(envelope.id.as_str()) else { continue };
            let again = copy.submit(envelope, &sender(), self.now).expect("a retry is answered");
            assert_eq!((&again.receipt, again.record), (first, None), "I1: the restored cluster knows {}", envelope.id);
        }
    }
}

impl World {
    /// Read in parts, each up to where the one before it began, the log has every event once.
    fn check_parts(&self, head: &Head) {
        let (mut before, mut events) = (head.revision, Vec::new());
        loop {
            let newest = air::run(protocol::past::newest(&self.air, head, before, 1)).expect("reading works");
            let (entries, is_whole) = past::at_hand(newest);
            before = entries.first().map_or(0, |(_, entry)| entry.revision - entry.events.len() as u64);
            let part: Vec<Event> = entries.into_iter().flat_map(|(_, entry)| entry.events).collect();
            events.splice(0..0, part);
            if is_whole {
                break;
            }
        }
        let all: Vec<Event> = self.entries.iter().flat_map(|entry| entry.events.clone()).collect();
        assert!(events == all, "{} events of {} are read in parts", events.len(), all.len());
    }
}

/// Every note of a cluster.
pub(crate) fn notes(cluster: &Cluster<Disk>) -> BTreeMap<String, String> {
    let names = cluster.note_names("").expect("reading works");
    let text = |name: &String| cluster.note(name).expect("reading works").expect("a named note is there");
    names.iter().map(|name| (name.clone(), text(name))).collect()
}
