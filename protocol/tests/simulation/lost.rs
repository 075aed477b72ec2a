//! The storage of the object is gone, and KV is not: nothing may be committed that would be published over what KV shows.
#![expect(clippy::unwrap_used, reason = "a panic is a failed test")]

use std::panic::AssertUnwindSafe;
use std::panic::catch_unwind;

use protocol::document::Head;
use protocol::fault::Failure;
use protocol::fault::Fault;
use protocol::fault::Lost;
use protocol::founding::set_aside;
use protocol::history;
use protocol::publish;
use protocol::restore::Begun;

use crate::air;
use crate::air::Weather;
use crate::disk::Disk;
use crate::profile;
use crate::restored::copy;
use crate::restored::restore;
use crate::world::World;
use crate::world::envelope;
use crate::world::founding;
use crate::world::name;
use crate::world::sender;

const SEEDS: u64 = 20;
const STEPS: u32 = 60;

/// A cluster with a past, all of it published, whose storage is gone.
pub(crate) fn lost(seed: u64) -> (World, Head) {
    let mut world = World::new(seed, profile(seed));
    for _ in 0..STEPS {
        world.submit_new();
        world.pass(20_000);
    }
    world.air.set_weather(Weather::default());
    world.finish();
    world.disk = Disk::default();
    world.crash();
    let head = air::run(history::head(&world.air, &name())).unwrap().unwrap();
    (world, head)
}

/// Sends what founds a cluster, and publishes it.
fn begin(world: &mut World) {
    for envelope in founding() {
        world.cluster.submit(&envelope, &sender(), world.now).unwrap();
    }
    world.pass(5_000);
    let publication = world.cluster.seal(world.now).unwrap().unwrap();
    air::run(publish::put(&world.air, &publication)).unwrap();
    world.cluster.settle(&publication, world.now).unwrap();
}

#[test]
fn nothing_is_committed_over_what_kv_shows_and_a_restore_brings_it_back() {
    for seed in 0..SEEDS {
        let (mut world, head) = lost(seed);
        let known = Lost { revision: head.revision, published_at: head.published_at };
        for envelope in founding() {
            let unasked = world.cluster.submit(&envelope, &sender(), world.now);
            assert_eq!(unasked.map(drop), Err(Failure::Broken(Fault::Unfounded)), "seed {seed}: nobody has looked");
            for given_up in [None, Some(head.revision - 1)] {
                assert_eq!(world.cluster.found(Some(&head), given_up), Err(Failure::Lost(known)), "seed {seed}");
            }
        }
        assert_eq!(world.disk.n_added(), 0, "seed {seed}: nothing is committed");
        let begun = restore(&mut world.cluster, &world.air, &head, false, known.revision).unwrap();
        assert_eq!(begun, Begun::Yes, "seed {seed}");
        let position = world.cluster.position().unwrap();
        assert_eq!((position.seq, position.revision), (head.seq, head.revision), "seed {seed}");
        let more = envelope("after", &serde_json::json!({ "round": {} }));
        world.cluster.submit(&more, &sender(), world.now).unwrap();
    }
}

#[test]
fn what_is_given_up_can_still_be_restored_under_another_name() {
    for seed in 0..SEEDS {
        let (mut world, head) = lost(seed);
        let was = copy(&world.air, &head, world.profile).unwrap().cluster.position();
        let key = air::run(set_aside(&world.air, &name(), &head)).unwrap();
        world.cluster.found(Some(&head), Some(head.revision)).unwrap();
        begin(&mut world);
        let shown = air::run(history::head(&world.air, &name())).unwrap().unwrap();
        assert!(shown.seq < head.seq, "seed {seed}: the new cluster is shown");
        let kept = air::run(history::given_up(&world.air, &name(), &key)).unwrap().unwrap();
        assert_eq!(copy(&world.air, &kept, world.profile).unwrap().cluster.position(), was, "seed {seed}");
        let elsewhere = air::run(history::given_up(&world.air, &name(), &name().head())).unwrap();
        assert_eq!(elsewhere, None, "only what was given up has such a key");
    }
}

/// The negative control: an object that trusts its empty storage is caught.
#[test]
fn trust_in_an_empty_storage_lets_a_head_go_back() {
    let (mut world, _) = lost(1);
    world.cluster.found(None, None).unwrap();
    begin(&mut world);
    let caught = catch_unwind(AssertUnwindSafe(|| world.check_heads()));
    assert!(
        caught.is_err_and(|text| text.downcast_ref::<&str>().is_some_and(|text| text.contains("a head went back")))
    );
}
