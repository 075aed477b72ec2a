//! A large cluster, restored from KV alone within the limits of an invocation: what that reads, how much of it is in
//! memory at once, and how long it takes.
//!
//! The gate restores a small one; `cargo xtask bench restore` one of 100,000 jobs and a million entries, all of them young
//! enough for their answers to be remembered, so that all of them are read.

use std::cell::RefCell;
use std::time::Duration;
use std::time::Instant;

use engine::transition::Sender;
use engine::unit::id::JobId;
use engine::unit::id::UserId;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;
use protocol::cluster::Cluster;
use protocol::cluster::SLOT_MS;
use protocol::fault::Failure;
use protocol::history;
use protocol::note::Note;
use protocol::note::NoteChange;
use protocol::profile::Profile;
use protocol::publish::Occasion;
use protocol::restore;
use protocol::restore::Begun;
use protocol::restore::steps;
use protocol::restore::steps::Budget;
use serde_json::json;

use crate::air;
use crate::disk::Disk;
use crate::life::Life;
use crate::memory::START;
use crate::restored::BUDGET;
use crate::restored::Held;
use crate::shelf::Counts;
use crate::shelf::Shelf;
use crate::world::envelope;
use crate::world::name;
use crate::world::sender;

/// How far apart entries are: a million of them are a little less than seven days.
const APART: Millis = Millis(600);
/// With so many jobs of up to four GPUs and a hundred minutes, about as many end as are submitted.
const GPUS: u64 = 1_100;
/// What people say of a job.
const NOTE_BYTES: usize = 600;
const USERS: u64 = 10;
const WORKSPACES: u64 = 3;
/// What an invocation may do on each plan.
const PLANS: [Budget; 2] = [BUDGET, Budget { operations: 800, ..BUDGET }];
/// What an invocation may have in memory at most, so that the runtime and whatever else is in an isolate's 128 MB find room.
const MEMORY_MAX: usize = 40_000_000;
/// How long an invocation may take.
const STEP_MAX: Duration = Duration::from_secs(30);

/// How large a cluster is.
#[derive(Clone, Copy, Debug)]
struct Size {
    entries: u64,
    jobs: u64,
    /// So many of them have not ended, or a few less.
    unfinished: u64,
}

const SMALL: Size = Size { entries: 16_000, jobs: 1_000, unfinished: 300 };

impl Life {
    fn accept(&mut self, what: &str, command: &serde_json::Value) {
        self.cluster.submit(&envelope(what, command), &sender(), START).expect("it is accepted");
    }

    fn invite(&mut self) {
        for workspace in 0..WORKSPACES {
            let lab = format!("lab-{workspace}");
            self.accept(&lab, &json!({ "put_workspace": { "workspace": lab } }));
            for quota in ["a", "b"] {
                let attach = json!({ "attach_quota": { "workspace": lab, "quota": quota } });
                self.accept(&format!("{lab}-{quota}"), &attach);
            }
            for user in 0..USERS {
                let member = json!({ "workspace": lab, "user": format!("user-{user}"), "roles": ["developer"] });
                self.accept(&format!("{lab}-{user}"), &json!({ "put_member": member }));
            }
        }
    }

    fn submit_one(&mut self, now: Timestamp) {
        let number = self.n_jobs;
        self.n_jobs += 1;
        let job = json!({ "job": format!("job-{number}"), "quota": if number.is_multiple_of(2) { "a" } else { "b" },
            "workspace": format!("lab-{}", self.random.below(WORKSPACES)),
            "pods": [{ "amount": { "gpu": 1000 * (1 + self.random.below(4)) } }],
            "priority": 1 + self.random.below(9), "duration_ms": 60_000 * (1 + self.random.below(100)) });
        let mut envelope = envelope(&format!("submit-{number}"), &json!({ "submit_job": job }));
        envelope.by = None;
        let note = NoteChange::Put(Note::new(format!("job/job-{number}"), "n".repeat(NOTE_BYTES)));
        let user = UserId::new(&format!("user-{}", number % USERS)).expect("a good name");
        let sender = Sender { user, administers: false };
        self.cluster.submit_noted(&envelope, &sender, &[note], now).expect("it is accepted");
    }

    /// Another priority for one of the newest jobs, or a round if that has ended.
    fn change_one(&mut self, number: u64, now: Timestamp, of: u64) {
        let job = self.n_jobs - 1 - self.random.below(self.n_jobs.min(of));
        let change = json!({ "job": format!("job-{job}"), "priority": 1 + self.random.below(9) });
        let mut said = |command| self.cluster.submit(&envelope(&format!("change-{number}"), &command), &sender(), now);
        if let Err(Failure::Refused(_)) = said(json!({ "set_priority": change })) {
            said(json!({ "round": {} })).expect("it is accepted");
        }
    }

    fn n_unfinished(&mut self) -> u64 {
        let count = self.cluster.with_state(|state| state.jobs.len() - state.ended.len());
        count.expect("reading works") as u64
    }

    fn n_entries(&mut self) -> u64 {
        self.cluster.mark().expect("reading works").seq
    }

    /// What a minute leaves that nobody reads again: snapshots before the newest one would fill this computer's memory.
    fn forget_old(&mut self) {
        let head = self.cluster.published().expect("reading works").expect("there is a head");
        let snapshots = format!("{}snapshot/", name().start());
        self.shelf.lose(|key| key.starts_with(&snapshots) && head.keys().all(|named| named != key));
    }

    /// Notes of forgotten jobs go once a day.
    fn sweep(&mut self) {
        let kept = self.cluster.sweep_notes(|state, name, _| {
            let job = name.strip_prefix("job/").and_then(|job| JobId::new(job).ok());
            job.is_some_and(|job| state.jobs.find(&job).is_some())
        });
        kept.expect("they are dropped");
    }
}

/// A cluster of a size, all of it published.
fn grown(size: Size) -> Life {
    let mut life = Life::new(Profile::default(), GPUS);
    life.invite();
    let (mut now, mut n_changes) = (START, 0);
    let mut end = START + Millis(SLOT_MS);
    while life.n_entries() < size.entries {
        now = now + APART;
        while end <= now {
            life.end_minute(end);
            life.forget_old();
            if (end - START).0 % Millis::DAY.0 == 0 {
                life.sweep();
            }
            end = end + Millis(SLOT_MS);
        }
        life.ring(now);
        if life.n_jobs < size.jobs && life.n_unfinished() < size.unfinished {
            life.submit_one(now);
        } else {
            n_changes += 1;
            life.change_one(n_changes, now, size.unfinished);
        }
    }
    life.publish(Occasion::Demand, now + Millis(SLOT_MS));
    life
}

/// What a restore took.
#[derive(Debug, Default)]
struct Taken {
    invocations: u64,
    /// What one invocation took at most.
    reads: u64,
    bytes: u64,
    memory: usize,
    time: Duration,
    /// And all of them together, with when the one began that had most in memory.
    total: Counts,
    total_time: Duration,
    largest_at: u64,
}

impl Taken {
    fn note(&mut self, before: Counts, after: Counts, memory: usize, time: Duration) {
        self.invocations += 1;
        self.reads = self.reads.max(after.reads - before.reads);
        self.bytes = self.bytes.max(after.read - before.read);
        self.time = self.time.max(time);
        if memory > self.memory {
            (self.memory, self.largest_at) = (memory, self.invocations);
        }
        self.total_time += time;
    }
}

/// Restores what KV shows into a new object, invocation by invocation.
fn restore(shelf: &Shelf, budget: Budget) -> (Cluster<Disk>, Disk, Taken) {
    let (disk, mut taken) = (Disk::lean(), Taken::default());
    let mut cluster = Cluster::new(name(), Profile::default(), disk.clone());
    let mut is_over = false;
    let first = shelf.counts();
    while !is_over {
        let (before, begun) = (shelf.counts(), Instant::now());
        let ((), memory) = heap::peak(|| {
            if taken.invocations == 0 {
                let head = air::run(history::head(shelf, &name())).expect("reading works").expect("there is a head");
                let last = air::run(restore::last_entry(shelf, &head)).expect("reading works");
                assert_eq!(cluster.begin_restore(head, last.as_ref(), false, 0), Ok(Begun::Yes));
            }
            let held = Held(RefCell::new(&mut cluster));
            let missing = air::run(steps::go_on(shelf, &held, budget)).expect("KV is enough");
            assert!(missing.as_ref().is_none_or(Vec::is_empty), "{missing:?}");
            is_over = missing.is_some();
        });
        taken.note(before, shelf.counts(), memory, begun.elapsed());
    }
    let after = shelf.counts();
    taken.total = Counts { reads: after.reads - first.reads, read: after.read - first.read, ..after };
    (cluster, disk, taken)
}

#[test]
fn a_large_cluster_is_restored_within_the_limits_of_an_invocation() {
    let entries = std::env::var("TIDEGATE_COUNT").ok().and_then(|text| text.parse().ok());
    // The cluster may have as many as its service lets it have.
    let large = |entries| Size { entries, jobs: entries / 10, unfinished: (entries / 100).min(9_990) };
    let size = entries.map_or(SMALL, large);
    let begun = Instant::now();
    let mut life = grown(size);
    let here = life.cluster.position().expect("reading works");
    let (n_jobs, unfinished, known) = (life.n_jobs, life.n_unfinished(), life.disk.n_answers());
    println!(
        "{} entries, {n_jobs} jobs of which {unfinished} have not ended, a snapshot of {} bytes, {known} answers that are \
         remembered: built in {:?}; {:?}",
        here.seq,
        life.cluster.snapshot_bytes().expect("reading works"),
        begun.elapsed(),
        life.shelf.counts()
    );
    let shelf = life.shelf.clone();
    drop(life);
    for budget in PLANS {
        let (mut cluster, disk, taken) = restore(&shelf, budget);
        println!("{budget:?}: {taken:#?}");
        assert_eq!(cluster.position(), Ok(here.clone()), "KV alone leads to the same state");
        assert_eq!(disk.n_answers(), known, "every answer is remembered");
        // The first one reads the head and its last segment as well.
        assert!(taken.reads <= budget.operations as u64 + 2, "{taken:?}");
        assert!(taken.memory <= MEMORY_MAX, "{} bytes in memory are more than {MEMORY_MAX}", taken.memory);
        assert!(taken.time <= STEP_MAX, "{taken:?}");
    }
}
