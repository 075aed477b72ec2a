//! A long quiet time: what KV and the object hold is bounded, whatever the time.
//!
//! The gate lives through some weeks; `cargo xtask soak idle-days` through a year, or as many days as it is told.

use std::cell::RefCell;

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
use crate::memory::START;
use crate::memory::founded_on;
use crate::restored::Held;
use crate::restored::copy;

const DAYS: i64 = 12;
/// Objects that may go are deleted minute by minute, so many at most.
const COLLECTED: usize = 20;

/// What there is.
#[derive(Clone, Copy, Debug)]
struct Size {
    objects: usize,
    bytes: usize,
    rows: usize,
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
    let disk = Disk::default();
    let (mut cluster, air) = (founded_on(&disk, profile), Air::new(1));
    air.let_past_end();
    let (mut sizes, mut now) = (Vec::new(), START);
    for _ in 0..days {
        for _ in 0..Millis::DAY.0 / SLOT_MS {
            now = now + Millis(SLOT_MS);
            minute(&mut cluster, &air, now);
        }
        let rows = disk.n_rows() + disk.n_answers();
        sizes.push(Size { objects: air.n_objects(), bytes: air.n_bytes(), rows });
    }
    let (n_writes, n_deletes) = (air.n_writes(), air.n_deletes());
    let per_day = |count: usize| i64::try_from(count).expect("small") / days;
    println!(
        "{days} idle days, {:?}, the past of {:?}: {} writes and {} deletes a day; {:?}",
        profile.pace,
        profile.past_kept,
        per_day(n_writes),
        per_day(n_deletes),
        sizes.last()
    );
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
        // Once the past has come to its end, nothing grows.
        let (early, late) = (&sizes[5..8], &sizes[8..]);
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
