//! A long busy time: 10,000 jobs a day. What KV and the object hold, what a day writes and what a restart reads is bounded,
//! whatever the time.
//!
//! The gate lives through some days of fewer jobs; `cargo xtask soak busy-days` through as many days as it is told, with a
//! line for each.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Instant;

use engine::unit::time::Millis;
use engine::unit::time::Timestamp;
use protocol::cluster::Cluster;
use protocol::cluster::SLOT_MS;
use protocol::fault::Fault;
use protocol::garbage;
use protocol::kv::KvStore;
use protocol::kv::Listed;
use protocol::note::Note;
use protocol::note::NoteChange;
use protocol::profile::Profile;
use protocol::publish;
use protocol::publish::Due;
use protocol::publish::Occasion;
use serde_json::json;

use crate::air;
use crate::disk::Disk;
use crate::list::List;
use crate::memory::START;
use crate::random::Random;
use crate::restored::Held;
use crate::world::envelope;
use crate::world::name;
use crate::world::sender;

/// What the gate has time for.
const DAYS: i64 = 8;
const JOBS: u64 = 150;
/// What a soak has.
const MANY_JOBS: u64 = 10_000;
const GPUS: u64 = 1_024;
/// What people say of a job.
const NOTE_BYTES: usize = 600;
/// Objects that may go are deleted minute by minute, so many at most on the usual plan.
const COLLECTED: usize = 200;
/// How long the past is kept here, so that it ends within the run.
const KEPT: Millis = Millis(2 * Millis::DAY.0);
/// After so many days the past has come to its end.
const SETTLED: usize = 4;

/// KV without weather and without a memory of what it had.
#[derive(Clone, Default)]
struct Shelf(Rc<RefCell<Shelved>>);

#[derive(Default)]
struct Shelved {
    values: BTreeMap<String, String>,
    bytes: usize,
    writes: u64,
    written: u64,
    deletes: u64,
}

impl Shelved {
    fn remove(&mut self, key: &str) {
        self.bytes -= self.values.remove(key).map_or(0, |value| value.len());
    }
}

impl KvStore for Shelf {
    async fn get(&self, key: &str) -> Result<Option<String>, Fault> {
        Ok(self.0.borrow().values.get(key).cloned())
    }

    async fn put(&self, key: &str, value: &str) -> Result<(), Fault> {
        let mut inner = self.0.borrow_mut();
        inner.remove(key);
        inner.writes += 1;
        inner.written += value.len() as u64;
        inner.bytes += value.len();
        inner.values.insert(key.to_owned(), value.to_owned());
        Ok(())
    }

    async fn delete(&self, key: &str) -> Result<(), Fault> {
        let mut inner = self.0.borrow_mut();
        inner.deletes += 1;
        inner.remove(key);
        Ok(())
    }

    async fn list(&self, _: &str, _: Option<&str>, _: usize) -> Result<Listed, Fault> {
        Ok(Listed::default())
    }
}

/// What a day has written, and what there is after it.
#[derive(Clone, Copy, Debug)]
struct Day {
    writes: u64,
    written: u64,
    deletes: u64,
    rows_written: u64,
    calls: u64,
    objects: usize,
    bytes: usize,
    rows: usize,
    /// What a restart reads: rows of the log, and the bytes of the snapshot.
    restart_rows: u64,
    restart_bytes: u64,
    /// And how long that takes here.
    restart_ms: u128,
}

/// Something that does not grow.
type Figure = (&'static str, fn(&Day) -> u64);

const WRITES: Figure = ("writes", |day| day.writes);
const DELETES: Figure = ("deletes", |day| day.deletes);
const ROWS_WRITTEN: Figure = ("rows written", |day| day.rows_written);
const CALLS: Figure = ("calls", |day| day.calls);
const BYTES: Figure = ("bytes", |day| day.bytes as u64);

struct Life {
    cluster: Cluster<Disk>,
    disk: Disk,
    shelf: Shelf,
    random: Random,
    n_jobs: u64,
    calls: u64,
    /// Setting an alarm is a row.
    alarms: u64,
}

impl Life {
    fn new(profile: Profile) -> Self {
        let disk = Disk::lean();
        let mut cluster = Cluster::new(name(), profile, disk.clone());
        cluster.found(None, None).expect("nothing is published");
        let (all, half) = (json!({ "gpu": 1000 * GPUS }), json!({ "gpu": 500 * GPUS }));
        let commands = [
            json!({ "create_cluster": { "dimensions": [{ "name": "gpu", "kind": "gpu" }] } }),
            json!({ "put_group": { "group": "pool", "resource_type": "lingjun", "pool": all } }),
            json!({ "create_quota": { "quota": "root", "groups": ["pool"], "min": all } }),
            json!({ "create_quota": { "quota": "a", "parent": "root", "min": half } }),
            json!({ "create_quota": { "quota": "b", "parent": "root", "min": half } }),
        ];
        for (number, command) in commands.iter().enumerate() {
            let envelope = envelope(&format!("founding-{number}"), command);
            cluster.submit(&envelope, &sender(), START).expect("the founding works");
        }
        let (shelf, random) = (Shelf::default(), Random::new(7));
        Self { cluster, disk, shelf, random, n_jobs: 0, calls: 0, alarms: 0 }
    }

    fn submit(&mut self, now: Timestamp) {
        let number = self.n_jobs;
        self.n_jobs += 1;
        self.calls += 1;
        let idle = if self.random.percent(30) { "acceptable" } else { "off" };
        let job = json!({ "job": format!("job-{number}"), "quota": if number.is_multiple_of(2) { "a" } else { "b" },
            "pods": [{ "amount": { "gpu": 1000 * (1 + self.random.below(4)) } }], "idle": idle,
            "priority": 1 + self.random.below(9), "duration_ms": 60_000 * (1 + self.random.below(100)) });
        let note = Note::new(format!("job/job-{number}"), "n".repeat(NOTE_BYTES));
        let envelope = envelope(&format!("submit-{number}"), &json!({ "submit_job": job }));
        self.cluster.submit_noted(&envelope, &sender(), &[NoteChange::Put(note)], now).expect("it is accepted");
    }

    fn publish(&mut self, occasion: Occasion, now: Timestamp) {
        while self.cluster.due(occasion, now) == Ok(Due::Now) {
            let publication = self.cluster.seal(now).expect("sealing works").expect("there is something to publish");
            air::run(publish::put(&self.shelf, &publication)).expect("putting works");
            self.cluster.settle(&publication, now).expect("settling works");
        }
    }

    /// What is due until a time happens at its time, and is published, as the object's alarm does it.
    fn ring(&mut self, until: Timestamp) {
        while let Some(at) = self.cluster.next_alarm().expect("reading works").filter(|at| *at < until) {
            self.cluster.run_alarm(at).expect("a round runs");
            self.calls += 1;
            self.alarms += 1;
            self.publish(Occasion::Command, at);
        }
    }

    fn minute(&mut self, begin: Timestamp, jobs: u64) {
        let of_day = u64::try_from(Millis::DAY.0 / SLOT_MS).expect("small");
        let n_jobs = jobs / of_day + u64::from(self.random.below(of_day) < jobs % of_day);
        let mut times: Vec<u64> = (0..n_jobs).map(|_| self.random.below(SLOT_MS.unsigned_abs())).collect();
        times.sort_unstable();
        for time in times {
            let now = begin + Millis(i64::try_from(time).expect("small"));
            self.ring(now);
            self.submit(now);
            self.publish(Occasion::Command, now);
        }
        let end = begin + Millis(SLOT_MS);
        self.ring(end);
        self.calls += 1;
        self.cluster.run_slot(end.0.div_euclid(SLOT_MS), end).expect("a round runs");
        self.publish(Occasion::Round, end);
        let held = Held(RefCell::new(&mut self.cluster));
        air::run(garbage::collect(&self.shelf, &held, end, COLLECTED)).expect("deleting works");
    }

    fn day(&mut self, first: Timestamp, jobs: u64) -> Day {
        let (rows, calls, from) = (self.disk.n_written() + self.alarms, self.calls, self.n_jobs);
        let (writes, written, deletes) = self.counts();
        for minute in 0..Millis::DAY.0 / SLOT_MS {
            self.minute(first + Millis(minute * SLOT_MS), jobs);
        }
        // Notes of jobs that are forgotten are dropped together.
        let drops: Vec<_> = (from..self.n_jobs).map(|number| NoteChange::Drop(format!("job/job-{number}"))).collect();
        self.cluster.keep_notes(&drops, &sender()).expect("they are dropped");
        let read = self.disk.n_read();
        self.cluster.forget();
        let begun = Instant::now();
        let restart_bytes = self.cluster.snapshot_bytes().expect("it opens again");
        let restart_ms = begun.elapsed().as_millis();
        let (writes_after, written_after, deletes_after) = self.counts();
        let held = self.shelf.0.borrow();
        Day {
            writes: writes_after - writes,
            written: written_after - written,
            deletes: deletes_after - deletes,
            rows_written: self.disk.n_written() + self.alarms - rows,
            calls: self.calls - calls,
            objects: held.values.len(),
            bytes: held.bytes,
            rows: self.disk.n_rows() + self.disk.n_answers(),
            restart_rows: self.disk.n_read() - read,
            restart_bytes,
            restart_ms,
        }
    }

    fn counts(&self) -> (u64, u64, u64) {
        let held = self.shelf.0.borrow();
        (held.writes, held.written, held.deletes)
    }
}

fn live(profile: Profile, days: i64, jobs: u64) -> Vec<Day> {
    let mut life = Life::new(profile);
    let mut lived = Vec::new();
    for day in 0..days {
        let found = life.day(START + Millis(day * Millis::DAY.0), jobs);
        println!("day {day}, {jobs} jobs: {found:?}");
        lived.push(found);
    }
    let most = |of: Figure| most(&lived, of.1);
    let day = List { writes: most(WRITES), deletes: most(DELETES), rows: most(ROWS_WRITTEN), calls: most(CALLS) };
    println!("{days} days of {jobs} jobs: {}", day.told(most(BYTES)));
    println!("a restart takes at most {:?} ms here", lived.iter().map(|day| day.restart_ms).max());
    lived
}

fn most<T: Ord>(days: &[Day], of: impl Fn(&Day) -> T) -> T {
    days.iter().map(of).max().expect("there are days")
}

#[test]
fn busy_days_leave_as_much_as_few_of_them() {
    let count = std::env::var("TIDEGATE_COUNT").ok().and_then(|text| text.parse().ok());
    let (days, jobs) = count.map_or((DAYS, JOBS), |days| (days, MANY_JOBS));
    let profile = Profile { past_kept: Some(KEPT), answers_kept: Millis(6 * Millis::HOUR.0), ..Profile::default() };
    let lived = live(profile, days, jobs);
    // Once the past has come to its end, nothing grows: days later there is as much.
    let half = lived.len().midpoint(SETTLED);
    let (early, late) = (&lived[SETTLED..half], &lived[half..]);
    let counts: [Figure; 6] =
        [WRITES, DELETES, ROWS_WRITTEN, CALLS, ("objects", |day| day.objects as u64), ("rows", |day| day.rows as u64)];
    // A state has the last ten thousand jobs that have ended, and as many days go by until there are so many.
    let bytes: [Figure; 3] =
        [("bytes written", |day| day.written), BYTES, ("bytes of a restart", |day| day.restart_bytes)];
    for (what, of) in counts.into_iter().chain(bytes.into_iter().filter(|_| jobs == MANY_JOBS)) {
        let (early, late) = (most(early, of), most(late, of));
        assert!(late * 100 <= early * 130, "{early} {what} become {late}");
    }
    let restart_max = Profile::default().snapshot_every;
    assert!(most(&lived, |day| day.restart_rows) <= restart_max, "a restart reads the entries since a snapshot");
}

/// The negative control: without an end of the past it grows day by day.
#[test]
fn a_busy_past_without_an_end_is_noticed() {
    let lived = live(Profile { past_kept: None, ..Profile::default() }, 4, JOBS);
    assert!(lived[3].bytes * 100 > lived[1].bytes * 125, "{lived:?}");
}
