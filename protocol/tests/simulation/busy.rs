//! A long busy time: 10,000 jobs a day. What KV and the object hold, what a day writes and what a restart reads is bounded,
//! whatever the time.
//!
//! The gate lives through some days of fewer jobs; `cargo xtask soak busy-days` through as many days as it is told, with a
//! line for each.

use std::time::Instant;

use engine::unit::time::Millis;
use engine::unit::time::Timestamp;
use protocol::cluster::SLOT_MS;
use protocol::note::Note;
use protocol::note::NoteChange;
use protocol::profile::Profile;
use protocol::publish::Occasion;
use serde_json::json;

use crate::life::Life;
use crate::list::List;
use crate::memory::START;
use crate::world::envelope;
use crate::world::sender;

/// What the gate has time for.
const DAYS: i64 = 8;
const JOBS: u64 = 150;
/// What a soak has.
const MANY_JOBS: u64 = 10_000;
const GPUS: u64 = 1_024;
/// What people say of a job.
const NOTE_BYTES: usize = 600;
/// How long the past is kept here, so that it ends within the run.
const KEPT: Millis = Millis(2 * Millis::DAY.0);
/// After so many days the past has come to its end.
const SETTLED: usize = 4;

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

impl Life {
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
        self.end_minute(begin + Millis(SLOT_MS));
    }

    fn day(&mut self, first: Timestamp, jobs: u64) -> Day {
        let (rows, calls, from) = (self.disk.n_written() + self.alarms, self.calls, self.n_jobs);
        let before = self.shelf.counts();
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
        let after = self.shelf.counts();
        Day {
            writes: after.writes - before.writes,
            written: after.written - before.written,
            deletes: after.deletes - before.deletes,
            rows_written: self.disk.n_written() + self.alarms - rows,
            calls: self.calls - calls,
            objects: after.objects,
            bytes: after.bytes,
            rows: self.disk.n_rows() + self.disk.n_answers(),
            restart_rows: self.disk.n_read() - read,
            restart_bytes,
            restart_ms,
        }
    }
}

fn live(profile: Profile, days: i64, jobs: u64) -> Vec<Day> {
    let mut life = Life::new(profile, GPUS);
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
