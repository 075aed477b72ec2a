//! What a cluster writes to KV while nothing happens, and how far its heads are apart.

use engine::unit::time::Millis;
use engine::unit::time::Timestamp;
use protocol::cluster::SLOT_MS;
use protocol::profile::Pace;
use protocol::profile::Profile;
use protocol::publish;
use protocol::publish::Due;
use protocol::publish::Occasion;

use crate::air;
use crate::air::Air;
use crate::memory::START;
use crate::memory::founded;
use crate::memory::submission;
use crate::world::sender;

/// What the smallest plan takes for a cluster that does nothing: four heads an hour with a segment each, now and then
/// a snapshot with its page, and the segments that are merged.
const IDLE_WRITES_MAX: usize = 250;

fn profile(pace: Pace) -> Profile {
    Profile { pace, ..Profile::default() }
}

fn paces() -> [Pace; 2] {
    [Pace::EachRound, Pace::AtMostEvery(Millis(1_000))]
}

#[test]
fn a_day_without_news_is_a_few_writes() {
    for pace in paces() {
        let (mut cluster, air) = (founded(profile(pace)), Air::new(1));
        let mut late = 0;
        for minute in 1..=Millis::DAY.0 / SLOT_MS {
            let now = Timestamp(START.0 + minute * SLOT_MS);
            cluster.run_slot(now.0 / SLOT_MS, now).unwrap();
            while cluster.due(Occasion::Round, now).unwrap() == Due::Now {
                let publication = cluster.seal(now).unwrap().unwrap();
                air::run(publish::put(&air, &publication)).unwrap();
                cluster.settle(&publication, now).unwrap();
            }
            assert_eq!(cluster.due(Occasion::Command, now), Ok(Due::No), "no alarm is set for it");
            late = late.max(now.0 - air.heads().last().unwrap().published_at.0);
        }
        assert!(air.n_writes() <= IDLE_WRITES_MAX, "{pace:?}: {} writes", air.n_writes());
        assert!(late < Profile::default().idle.0, "{pace:?}: a head is {late} ms old");
    }
}

#[test]
fn what_is_new_does_not_wait_for_the_end_of_quiet_times() {
    let (mut cluster, air) = (founded(profile(Pace::EachRound)), Air::new(1));
    crate::memory::publish(&mut cluster, &air, START);
    for minute in 1..=3 {
        let now = Timestamp(START.0 + minute * SLOT_MS);
        cluster.run_slot(now.0 / SLOT_MS, now).unwrap();
        assert_eq!(cluster.due(Occasion::Round, now), Ok(Due::No));
        cluster.forget();
        assert_eq!(cluster.due(Occasion::Round, now), Ok(Due::No), "memory that is rebuilt knows it too");
    }
    let now = Timestamp(START.0 + 4 * SLOT_MS);
    cluster.submit(&submission(1), &sender(), now).unwrap();
    assert_eq!(cluster.due(Occasion::Round, now), Ok(Due::Now));
}

#[test]
fn heads_keep_a_second_from_each_other_however_long_they_take() {
    for pace in paces() {
        let (mut cluster, air) = (founded(profile(pace)), Air::new(1));
        let publication = cluster.seal(START).unwrap().unwrap();
        air::run(publish::put(&air, &publication)).unwrap();
        // The objects before the head took most of a second.
        let put = START + Millis(900);
        cluster.settle(&publication, put).unwrap();
        cluster.submit(&submission(1), &sender(), put).unwrap();
        assert_eq!(cluster.due(Occasion::Demand, put + Millis(200)), Ok(Due::At(put + Millis(1_000))), "{pace:?}");
        assert_eq!(cluster.due(Occasion::Demand, put + Millis(1_000)), Ok(Due::Now), "{pace:?}");
    }
}
