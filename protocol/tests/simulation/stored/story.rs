//! A cluster to which things happen, minute by minute, and what it has stored in the end.

use engine::job::run::RunNo;
use engine::message::command::Command;
use engine::message::envelope::Envelope;
use engine::message::rejection::Rejection;
use engine::state::world::State;
use engine::transition::Sender;
use engine::unit::id::JobId;
use engine::unit::id::UserId;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;
use protocol::cluster::Cluster;
use protocol::cluster::Position;
use protocol::cluster::SLOT_MS;
use protocol::fault::Failure;
use protocol::limits::Limits;
use protocol::note::Note;
use protocol::note::NoteChange;
use protocol::profile::Profile;
use protocol::publish;
use serde_json::Value;
use serde_json::json;

use crate::air;
use crate::air::Air;
use crate::disk::Disk;
use crate::world::name;

/// The minute in which the stories begin, shortly before midnight, so that bills are of two days.
const FIRST_MINUTE: i64 = 29_399_000;

/// Small limits: snapshots, pages and merged segments come up although little happens.
pub(crate) const PROFILE: Profile = Profile {
    pace: protocol::profile::Pace::AtMostEvery(Millis(1000)),
    rounds_apart: Millis(0),
    idle: Millis(15 * Millis::MINUTE.0),
    alarm_gap: Millis(1000),
    snapshot_every: 45,
    segments_max: 3,
    object_bytes_max: 40_000,
    entries_kept: 4,
    past_kept: None,
    answers_kept: Millis(2 * SLOT_MS),
    pages: protocol::profile::Pages { kept: 10, at_once: 2 },
    limits: Limits::USUAL,
};

pub(crate) struct Story {
    disk: Disk,
    air: Air,
    cluster: Cluster<Disk>,
    minute: i64,
    n_sent: u32,
}

impl Story {
    pub(crate) fn new() -> Self {
        let disk = Disk::default();
        let mut cluster = Cluster::new(name(), PROFILE, disk.clone());
        cluster.found(None, None).expect("nothing is published");
        Self { disk, air: Air::new(0), cluster, minute: FIRST_MINUTE, n_sent: 0 }
    }

    fn now(&self) -> Timestamp {
        Timestamp(self.minute * SLOT_MS + i64::from(self.n_sent % 60) * 1000)
    }

    /// A time that many minutes from now.
    pub(crate) fn in_minutes(&self, minutes: i64) -> i64 {
        (self.minute + minutes) * SLOT_MS
    }

    /// An administrator sends a command.
    pub(crate) fn send(&mut self, command: &Value) {
        self.send_as("administrator", command, &[]);
    }

    /// Several commands, one after the other.
    pub(crate) fn send_all(&mut self, commands: &[Value]) {
        for command in commands {
            self.send(command);
        }
    }

    /// A command of somebody, with the notes that change with it. What is refused is not stored: a later engine may
    /// see it differently.
    pub(crate) fn send_as(&mut self, user: &str, command: &Value, notes: &[(&str, Value)]) {
        self.n_sent += 1;
        let id = format!("command-{}", self.n_sent);
        let mut envelope: Envelope = serde_json::from_value(json!({ "format": 1, "id": id, "command": command }))
            .unwrap_or_else(|error| panic!("{error}: {command}"));
        if let Command::Report(report) = &mut envelope.command {
            report.run = self.run_of(&report.job);
        }
        let sender = Sender { user: UserId::new(user).expect("a good name"), administers: user == "administrator" };
        let note = |(name, text): &(&str, Value)| NoteChange::Put(Note::new((*name).to_owned(), text.to_string()));
        let notes: Vec<NoteChange> = notes.iter().map(note).collect();
        match self.cluster.submit_noted(&envelope, &sender, &notes, self.now()) {
            Ok(_) => {}
            Err(Failure::Refused(rejection)) => print_refused(command, &rejection),
            Err(failure @ (Failure::Broken(_) | Failure::Lost(_))) => panic!("{failure}"),
        }
    }

    /// The run that a report of a job is about, if it has a number.
    fn run_of(&mut self, job: &JobId) -> Option<RunNo> {
        let run = |state: &State| state.jobs.find(job).and_then(|no| state.jobs[no].run_no());
        self.cluster.with_state(run).expect("it is open").filter(|run| run.is_numbered())
    }

    /// The minutes up to that many from now, each with its round.
    pub(crate) fn pass(&mut self, minutes: i64) {
        for _ in 0..minutes {
            self.minute += 1;
            self.cluster.run_slot(self.minute, self.now()).expect("a round runs");
        }
    }

    /// Minutes of which the clock misses all but the last one.
    pub(crate) fn skip(&mut self, minutes: i64) {
        self.minute += minutes - 1;
        self.pass(1);
    }

    pub(crate) fn publish(&mut self) {
        let publication = self.cluster.seal(self.now()).expect("sealing works").expect("there is something to publish");
        air::run(publish::put(&self.air, &publication)).expect("putting works");
        self.cluster.settle(&publication, self.now()).expect("settling works");
    }

    /// Decides on a publication that is never written.
    pub(crate) fn seal(&mut self) {
        self.cluster.seal(self.now()).expect("sealing works").expect("there is something to publish");
    }

    /// What the object has stored, what KV has stored, and where the cluster is.
    pub(crate) fn end(mut self) -> (String, String, Position) {
        let position = self.cluster.position().expect("reading works");
        (self.disk.dump(), self.air.dump(), position)
    }
}

fn print_refused(command: &Value, rejection: &Rejection) {
    println!("refused: {rejection}: {command}");
}
