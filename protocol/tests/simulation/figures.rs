//! What a day costs on the smallest plan: writes and deletes of KV, rows and calls of the object.

use std::cell::RefCell;

use engine::transition::Sender;
use engine::unit::id::UserId;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;
use protocol::cluster::SLOT_MS;
use protocol::garbage;
use protocol::history;
use protocol::log::LogStore;
use protocol::market::told::told;
use protocol::note::Note;
use protocol::note::NoteChange;
use protocol::profile::Pages;
use protocol::profile::Profile;
use protocol::publish;
use protocol::publish::Due;
use protocol::publish::Occasion;
use serde_json::json;

use crate::air;
use crate::air::Air;
use crate::disk::Disk;
use crate::memory::START;
use crate::memory::founded_on;
use crate::random::Random;
use crate::restored::Held;
use crate::world::envelope;
use crate::world::name;
use crate::world::sender;

/// What the smallest plan has for a day.
const WRITES_MAX: usize = 1_000;
const DELETES_MAX: usize = 1_000;
const ROWS_MAX: u64 = 100_000;
const CALLS_MAX: u64 = 100_000;
const READ_MAX: u64 = 5_000_000;
/// What it has for an invocation, without the calls of the object that let a reader in and count what a read has cost.
const READS_MAX: usize = 50 - 3;
/// Restarts are made each hour, and count for those of each minute.
const RESTART_MINUTES: i64 = 60;
/// Whose jobs and notes they are.
const USERS: [&str; 3] = ["ann", "bob", "eve"];

/// Until what is written first is dropped as well.
const DAYS: i64 = 2;
/// What people say of a job.
const NOTE_BYTES: usize = 1_000;

/// What a day has cost.
#[derive(Clone, Copy, Debug, Default)]
struct Cost {
    writes: usize,
    deletes: usize,
    rows: u64,
    /// Slots, alarms and commands.
    calls: u64,
    /// Rows that are read, the object being restarted each minute: between two slots of a quiet cluster it is put away.
    read: u64,
}

struct Life {
    cluster: protocol::cluster::Cluster<Disk>,
    disk: Disk,
    air: Air,
    calls: u64,
    /// Setting an alarm is a row.
    alarms: u64,
    n_jobs: u64,
    /// Rows that restarts have read.
    restarts: u64,
    /// What each user's notes come to at the end of the last day.
    owned: [u64; 3],
    pages: Pages,
    /// The most reads of KV that a first answer about the market has taken.
    reads_max: usize,
}

impl Life {
    fn new(profile: Profile) -> Self {
        let disk = Disk::default();
        let mut cluster = founded_on(&disk, profile);
        let mut commands = vec![json!({ "put_workspace": { "workspace": "lab" } })];
        commands.extend(["a", "b"].map(|quota| json!({ "attach_quota": { "workspace": "lab", "quota": quota } })));
        let member = |user| json!({ "put_member": { "workspace": "lab", "user": user, "roles": ["developer"] } });
        commands.extend(USERS.map(member));
        for (number, command) in commands.iter().enumerate() {
            let envelope = envelope(&format!("setup-{number}"), command);
            cluster.submit(&envelope, &sender(), START).expect("it is accepted");
        }
        Self {
            cluster,
            disk,
            air: Air::new(1),
            calls: 0,
            alarms: 0,
            n_jobs: 0,
            restarts: 0,
            owned: [0; 3],
            pages: profile.pages,
            reads_max: 0,
        }
    }

    fn cost(&self) -> Cost {
        let (writes, deletes) = (self.air.n_writes(), self.air.n_deletes());
        let restarts = RESTART_MINUTES.unsigned_abs() * self.restarts;
        let read = self.disk.n_read() - self.restarts + restarts;
        Cost { writes, deletes, rows: self.disk.n_written() + self.alarms, calls: self.calls, read }
    }

    fn submit(&mut self, random: &mut Random, now: Timestamp) {
        let number = self.n_jobs;
        self.n_jobs += 1;
        self.calls += 1;
        let job = json!({ "job": format!("job-{number}"), "quota": if number.is_multiple_of(2) { "a" } else { "b" },
            "workspace": "lab", "pods": [{ "amount": { "gpu": 1000 * (1 + random.below(4)) } }],
            "duration_ms": 60_000 * (1 + random.below(60)) });
        let note = Note::new(format!("job/job-{number}"), "n".repeat(NOTE_BYTES));
        let mut envelope = envelope(&format!("submit-{number}"), &json!({ "submit_job": job }));
        envelope.by = None;
        let user = UserId::new(USERS[usize::try_from(number % 3).expect("small")]).expect("a good name");
        let sender = Sender { user, administers: false };
        self.cluster.submit_noted(&envelope, &sender, &[NoteChange::Put(note)], now).expect("it is accepted");
    }

    /// The alarms until a time.
    fn alarms(&mut self, until: Timestamp) {
        while let Some(at) = self.cluster.next_alarm().expect("reading works").filter(|at| *at < until) {
            self.cluster.run_alarm(at).expect("a round runs");
            self.calls += 1;
            self.alarms += 1;
        }
    }

    fn slot(&mut self, now: Timestamp) {
        self.calls += 1;
        self.cluster.run_slot(now.0.div_euclid(SLOT_MS), now).expect("a round runs");
        while self.cluster.due(Occasion::Round, now) == Ok(Due::Now) {
            let publication = self.cluster.seal(now).expect("sealing works").expect("there is something to publish");
            air::run(publish::put(&self.air, &publication)).expect("putting works");
            self.cluster.settle(&publication, now).expect("settling works");
        }
        let held = Held(RefCell::new(&mut self.cluster));
        air::run(garbage::collect(&self.air, &held, now, 20)).expect("deleting works");
    }

    /// Asks for bills where nothing is at hand yet: the state and what is told of the market are read from KV.
    fn ask_for_bills(&mut self) {
        let before = self.air.n_reads();
        let Some(head) = air::run(history::head(&self.air, &name())).expect("it can be read") else { return };
        air::run(history::fold(&self.air, &head, None)).expect("it can be read");
        air::run(told(&self.air, &head, None, self.pages.kept)).expect("it can be read");
        self.reads_max = self.reads_max.max(self.air.n_reads() - before);
    }

    fn day(&mut self, first: Timestamp, jobs: u64, random: &mut Random) {
        let from = self.n_jobs;
        for minute in 0..Millis::DAY.0 / SLOT_MS {
            let begin = first + Millis(minute * SLOT_MS);
            if minute % RESTART_MINUTES == 0 {
                let before = self.disk.n_read();
                self.cluster.forget();
                self.cluster.mark().expect("it opens again");
                self.restarts += self.disk.n_read() - before;
                self.ask_for_bills();
            }
            for _ in 0..2 {
                if random.below(2 * 1_440) < jobs {
                    self.alarms(begin + Millis(SLOT_MS / 2));
                    self.submit(random, begin + Millis(SLOT_MS / 2));
                }
            }
            self.alarms(begin + Millis(SLOT_MS));
            self.slot(begin + Millis(SLOT_MS));
        }
        self.owned = USERS.map(|name| {
            let owner = UserId::new(name).expect("a good name");
            self.disk.owned_bytes(&owner, None).expect("reading works")
        });
        // Notes of jobs that are forgotten are dropped together.
        let drops: Vec<NoteChange> =
            (from..self.n_jobs).map(|number| NoteChange::Drop(format!("job/job-{number}"))).collect();
        self.cluster.keep_notes(&drops, &sender()).expect("they are dropped");
    }
}

/// What the last of some days costs, how many jobs it has, and the most reads that bills take.
fn last_day(profile: Profile, days: i64, jobs: u64) -> (Cost, u64, usize) {
    let (mut life, mut random) = (Life::new(profile), Random::new(7));
    let (mut before, mut n_jobs) = (life.cost(), 0);
    for day in 0..days {
        (before, n_jobs) = (life.cost(), life.n_jobs);
        life.day(START + Millis(day * Millis::DAY.0), jobs, &mut random);
    }
    let after = life.cost();
    let cost = Cost {
        writes: after.writes - before.writes,
        deletes: after.deletes - before.deletes,
        rows: after.rows - before.rows,
        calls: after.calls - before.calls,
        read: after.read - before.read,
    };
    assert!(jobs == 0 || life.owned.iter().all(|bytes| *bytes > 100_000), "{:?} bytes of notes", life.owned);
    (cost, life.n_jobs - n_jobs, life.reads_max)
}

/// What is written is dropped some hours later, so that each day has both.
fn few_writes() -> Profile {
    Profile { answers_kept: Millis(8 * Millis::HOUR.0), ..Profile::of_few_writes() }
}

#[test]
fn the_smallest_plan_is_enough_for_an_idle_day_and_for_500_jobs() {
    for jobs in [0, 500] {
        let (cost, n_jobs, reads) = last_day(few_writes(), DAYS, jobs);
        println!("{n_jobs} jobs a day on the smallest plan: {cost:?}, and bills take {reads} reads");
        assert!(n_jobs * 10 >= jobs * 9, "{n_jobs} jobs of {jobs}");
        let Cost { writes, deletes, rows, calls, read } = cost;
        assert!(writes <= WRITES_MAX && deletes <= DELETES_MAX, "{n_jobs} jobs: {cost:?}");
        assert!(rows <= ROWS_MAX && calls <= CALLS_MAX && read <= READ_MAX, "{n_jobs} jobs: {cost:?}");
        assert!(reads <= READS_MAX, "{n_jobs} jobs: bills take {reads} reads of KV");
    }
}

/// The negative control: what publishes after each round is too much for the plan.
#[test]
fn a_head_each_minute_is_too_much_for_the_smallest_plan() {
    let (cost, ..) = last_day(Profile { rounds_apart: Millis(0), ..few_writes() }, 1, 500);
    assert!(cost.writes > WRITES_MAX, "{cost:?}");
}
