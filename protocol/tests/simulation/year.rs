//! A long quiet time: what KV and the object hold is bounded, whatever the time.
//!
//! The gate lives through some weeks; `cargo xtask soak idle-days` through a year, or as many days as it is told.

use std::cell::RefCell;
use std::time::Instant;

use engine::unit::time::Millis;
use engine::unit::time::Timestamp;
use protocol::cluster::Cluster;
use protocol::cluster::SLOT_MS;
use protocol::garbage;
use protocol::profile::Pace;
use protocol::profile::Profile;
use protocol::publish;
use protocol::publish::Due;
use protocol::publish::Occasion;

use crate::air;
use crate::air::Air;
use crate::disk::Disk;
use crate::list::List;
use crate::memory::START;
use crate::memory::founded_on;
use crate::restored::Held;
use crate::restored::copy;

const DAYS: i64 = 12;
/// After so many days the past has come to its end.
const SETTLED: usize = 5;
/// Objects that may go are deleted minute by minute, so many at most.
const COLLECTED: usize = 20;

/// What there is.
#[derive(Clone, Copy, Debug)]
struct Size {
    objects: usize,
    bytes: usize,
    rows: usize,
    /// Rows that a restart reads, and how long it takes here.
    restart_rows: u64,
    restart_us: u128,
}

/// Ends a minute as the clock does.
fn minute(cluster: &mut Cluster<Disk>, air: &Air, now: Timestamp) {
    cluster.run_slot(now.0.div_euclid(SLOT_MS), now).expect("a round runs");
    while cluster.due(Occasion::Round, now) == Ok(Due::Now) {
        let publication = cluster.seal(now).expect("sealing works").expect("there is something to publish");
        air::run(publish::put(air, &publication)).expect("putting works");
        cluster.settle(&publication, now).expect("settling works");
    }
    let held = Held(RefCell::new(cluster));
    air::run(garbage::collect(air, &held, now, COLLECTED)).expect("deleting works");
}

/// The sizes after each day.
fn live(profile: Profile, days: i64) -> Vec<Size> {
    let disk = Disk::lean();
    let (mut cluster, air) = (founded_on(&disk, profile), Air::new(1));
    air.let_past_end();
    let (mut sizes, mut now) = (Vec::new(), START);
    for _ in 0..days {
        for _ in 0..Millis::DAY.0 / SLOT_MS {
            now = now + Millis(SLOT_MS);
            minute(&mut cluster, &air, now);
        }
        let rows = disk.n_rows() + disk.n_answers();
        let (read, begun) = (disk.n_read(), Instant::now());
        cluster.forget();
        cluster.mark().expect("it opens again");
        let (restart_rows, restart_us) = (disk.n_read() - read, begun.elapsed().as_micros());
        sizes.push(Size { objects: air.n_objects(), bytes: air.n_bytes(), rows, restart_rows, restart_us });
    }
    let per_day = |count: u64| count.div_ceil(days.unsigned_abs());
    let slots = (Millis::DAY.0 / SLOT_MS).unsigned_abs();
    let (writes, deletes) = (per_day(air.n_writes() as u64), per_day(air.n_deletes() as u64));
    let list = List { writes, deletes, rows: per_day(disk.n_written()), calls: slots };
    println!("{days} idle days, {:?}, the past of {:?}: {:?}", profile.pace, profile.past_kept, sizes.last());
    println!("a restart takes at most {:?} us here", sizes.iter().map(|size| size.restart_us).max());
    println!("{}", list.told(sizes.iter().map(|size| size.bytes as u64).max().unwrap_or_default()));
    let head = cluster.published().expect("reading works").expect("there is a head");
    let mut copy = copy(&air, &head, profile).expect("it can be restored").cluster;
    assert_eq!(copy.mark().expect("it is open").seq, head.seq);
    sizes
}

fn days() -> i64 {
    std::env::var("TIDEGATE_COUNT").ok().and_then(|text| text.parse().ok()).unwrap_or(DAYS)
}

#[test]
fn idle_days_leave_as_much_as_few_of_them() {
    for pace in [Pace::EachRound, Pace::AtMostEvery(Millis(1_000))] {
        let kept = Millis(3 * Millis::DAY.0);
        let profile = Profile { pace, past_kept: Some(kept), answers_kept: kept, ..Profile::default() };
        let sizes = live(profile, days());
        // Once the past has come to its end, nothing grows: the second half of the time has no more than the first.
        let restart = sizes.iter().map(|size| size.restart_rows).max();
        assert!(restart <= Some(profile.snapshot_every), "{pace:?}: a restart reads {restart:?} rows");
        let (early, late) = sizes[SETTLED..].split_at((sizes.len() - SETTLED) / 2);
        let most = |sizes: &[Size], of: fn(&Size) -> usize| sizes.iter().map(of).max().expect("there are days");
        for (what, of) in [
            ("objects", (|size| size.objects) as fn(&Size) -> usize),
            ("bytes", |size| size.bytes),
            ("rows", |size| size.rows),
        ] {
            let (early, late) = (most(early, of), most(late, of));
            assert!(late * 100 <= early * 115, "{pace:?}: {early} {what} become {late}");
        }
    }
}

/// The negative control: without an end of the past, and without deletion, it grows day by day.
#[test]
fn a_past_without_an_end_is_noticed() {
    let sizes = live(Profile { past_kept: None, ..Profile::default() }, 9);
    assert!(sizes[8].objects > sizes[5].objects && sizes[8].bytes * 100 > sizes[5].bytes * 115, "{sizes:?}");
}
