//! The negative controls of the whole: what a cluster's object could do more simply, and why it must not. Each flaw is
//! built into a world that has lived for a while, and its own invariants find it.

use std::panic::AssertUnwindSafe;
use std::panic::catch_unwind;

use engine::unit::time::Millis;
use protocol::cluster::Cluster;
use protocol::document::Head;
use protocol::history;
use protocol::publish;
use protocol::publish::Occasion;
use serde_json::json;

use crate::air;
use crate::disk::Disk;
use crate::profile;
use crate::restored::copy;
use crate::world::World;
use crate::world::envelope;
use crate::world::name;
use crate::world::sender;

const SEEDS: u64 = 3;

/// A world in good weather that has published something.
fn lived(seed: u64) -> World {
    let mut world = World::new(seed, profile(seed));
    for _ in 0..50 {
        world.submit_new();
        world.pass(3_000);
        world.tick();
        world.publish(Occasion::Command);
    }
    world.finish();
    world
}

/// What a check says when it finds something.
fn caught(check: impl FnOnce()) -> String {
    let panicked = catch_unwind(AssertUnwindSafe(check)).expect_err("something is found");
    let text = panicked.downcast_ref::<String>().cloned();
    text.or_else(|| panicked.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_default()
}

fn head(world: &World) -> Head {
    air::run(history::head(&world.air, &name())).expect("reading works").expect("there is a head")
}

/// An object that publishes first and commits then: the commit fails, and readers have seen what never was.
#[test]
fn publishing_before_the_commit_shows_what_never_was() {
    for seed in 0..SEEDS {
        let mut world = lived(seed);
        let mut hasty = Cluster::new(name(), world.profile, Disk::of_dump(&world.disk.dump()));
        let job = json!({ "submit_job": { "job": "hasty", "quota": "a", "pods": [{ "amount": { "gpu": 1000 } }] } });
        hasty.submit(&envelope("hasty", &job), &sender(), world.now).expect("it is accepted");
        world.now = world.now + Millis(2_000);
        let publication = hasty.seal(world.now).expect("sealing works").expect("there is something to publish");
        air::run(publish::put(&world.air, &publication)).expect("putting works");
        // The storage has taken nothing of it, and goes on with something else.
        let other = json!({ "cancel_job": { "job": "nobody" } });
        let refused = world.cluster.submit(&envelope("other", &other), &sender(), world.now);
        assert!(refused.is_err());
        while world.n_entries() < usize::try_from(publication.head.seq).expect("small") {
            world.submit_new();
            world.check();
        }
        let found = caught(|| world.drill());
        assert!(found.contains("I7"), "seed {seed}: {found}");
    }
}

/// An object that keeps nothing itself and reads its state from KV when it wakes: what was answered since the last head
/// is lost.
#[test]
fn a_store_that_is_kv_alone_loses_what_was_answered() {
    for seed in 0..SEEDS {
        let mut world = lived(seed);
        let published = head(&world);
        for _ in 0..20 {
            world.submit_new();
        }
        world.check_all();
        world.cluster = copy(&world.air, &published, world.profile).expect("KV alone is enough").cluster;
        let found = caught(|| world.check_all());
        assert!(found.contains("I2: the last entry"), "seed {seed}: {found}");
    }
}

/// A publisher that asks a list how far it has come: lists miss what has just been put, and a part of the log with it.
#[test]
fn a_watermark_from_a_list_leaves_gaps() {
    for seed in 0..SEEDS {
        let mut world = lived(seed);
        let before = world.air.keys();
        loop {
            let was = head(&world).seq;
            world.submit_new();
            world.pass(90_000);
            world.publish(Occasion::Command);
            world.tick();
            world.check();
            // Somebody who has more than one new segment since the list was made.
            let new = head(&world).segments.iter().filter(|segment| !before.contains(&segment.key)).count();
            if new > 1 && head(&world).seq > was {
                break;
            }
        }
        let mut listed = head(&world);
        let last = listed.segments.len() - 1;
        let is_known = |at: usize, key: &str| at == last || before.iter().any(|known| known == key);
        let segments = listed.segments.into_iter().enumerate();
        listed.segments = segments.filter(|(at, segment)| is_known(*at, &segment.key)).map(|(_, one)| one).collect();
        world.air.forge(&name().head(), &serde_json::to_string(&listed).expect("it is JSON"));
        let found = caught(|| world.drill());
        assert!(found.contains("I7"), "seed {seed}: {found}");
    }
}
