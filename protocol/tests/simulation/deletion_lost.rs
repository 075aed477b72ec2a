//! A cluster is deleted whose storage is lost: only by who was told what KV still has, and at every moment KV has all of
//! it or says that it was deleted. A storage that is lost while KV is emptied leaves nothing that nobody can remove.
#![expect(clippy::unwrap_used, reason = "a panic is a failed test")]

use std::cell::RefCell;

use engine::unit::time::Millis;
use protocol::cluster::Cluster;
use protocol::cluster::Position;
use protocol::deletion::DeletionCost;
use protocol::deletion::Undeleted;
use protocol::deletion::left::InKv;
use protocol::deletion::left::Left;
use protocol::deletion::steps;
use protocol::deletion::tombstone::shown;
use protocol::fault::Failure;
use protocol::fault::Fault;
use protocol::fault::Lost;
use protocol::fault::moment;
use protocol::history;
use protocol::restore::Begun;

use crate::air;
use crate::air::Weather;
use crate::disk::Disk;
use crate::disk::Plan;
use crate::lost::lost;
use crate::restored::Held;
use crate::restored::copy;
use crate::restored::restore;
use crate::world::World;
use crate::world::founding;
use crate::world::name;
use crate::world::sender;

const SEEDS: u64 = 12;
/// Calls of an invocation: few, so that there are many steps.
const CALLS: usize = 7;

fn in_kv(world: &World) -> InKv {
    air::run(InKv::read(&world.air, &name(), true)).unwrap()
}

fn cost(world: &mut World) -> DeletionCost {
    let in_kv = in_kv(world);
    world.cluster.deletion_cost(&in_kv).unwrap().unwrap()
}

fn delete(world: &mut World, confirm: &str) -> Result<Result<(), Undeleted>, Fault> {
    let in_kv = in_kv(world);
    let deleted = world.cluster.delete(confirm, &sender().user, &in_kv, world.now)?;
    Ok(deleted.map(drop))
}

fn of_cluster(world: &World) -> Vec<String> {
    world.air.keys().into_iter().filter(|key| key.starts_with("c/demo/")).collect()
}

/// KV has all of the cluster, or says that it was deleted.
fn check(world: &World, whole: &Position) {
    match air::run(history::head(&world.air, &name())).unwrap() {
        Some(head) => {
            assert_eq!(copy(&world.air, &head, world.profile).unwrap().cluster.position().as_ref(), Ok(whole));
        }
        None => assert!(air::run(shown(&world.air, &name())).unwrap().is_some(), "neither the cluster nor a tombstone"),
    }
}

/// A step, as an alarm or a slot makes it.
fn step(world: &mut World) -> bool {
    world.pass(20_000);
    world.air.set_weather(Weather { fail_before: 10, fail_after: 10, fail_read: 5, stale_read: 0 });
    let (air, now) = (world.air.clone(), world.now);
    air.invoke(CALLS);
    let held = Held(RefCell::new(&mut world.cluster));
    let outcome = air::run(steps::go_on(&air, &held, CALLS, steps::KV_LATE, now));
    air.invoke(usize::MAX);
    air.set_weather(Weather::default());
    outcome.is_ok_and(|tombstone| tombstone.is_some_and(|tombstone| tombstone.is_done))
}

#[test]
fn what_kv_has_of_a_lost_cluster_is_told_before_it_is_deleted() {
    let (mut world, head) = lost(1);
    let (cost, before) = (cost(&mut world), world.air.dump());
    assert_eq!(
        (cost.revision, cost.objects, cost.has_more_objects),
        (head.revision, of_cluster(&world).len() as u64, false)
    );
    let reason = cost.uncounted.clone().unwrap();
    let words = [format!("KV shows it at revision {}, published at {}", head.revision, moment(head.published_at))];
    for words in words.iter().map(String::as_str).chain(["its storage is lost", "restore it", &cost.confirm]) {
        assert!(cost.message.contains(words) && (words == cost.confirm || reason.contains(words)), "{}", cost.message);
    }
    for wrong in ["", "yes", &cost.confirm[1..]] {
        assert_eq!(delete(&mut world, wrong), Ok(Err(Undeleted::OtherCost(Box::new(cost.clone())))), "{wrong}");
    }
    assert_eq!((world.air.dump() == before, world.cluster.tombstone()), (true, Ok(None)), "nothing has changed");
    // The word stands for what KV shows: not for a later head, nor for the cluster once it is restored.
    let later = Left::Head(Lost { revision: head.revision + 1, published_at: head.published_at });
    let later = InKv { left: Some(later), ..in_kv(&world) };
    assert_ne!(world.cluster.deletion_cost(&later).unwrap().unwrap().confirm, cost.confirm);
    assert_eq!(restore(&mut world.cluster, &world.air, &head, false, head.revision), Ok(Begun::Yes));
    assert!(
        matches!(delete(&mut world, &cost.confirm), Ok(Err(Undeleted::OtherCost(other))) if other.uncounted.is_none())
    );
    // Where KV shows nothing either, there is nothing to delete.
    let mut empty = Cluster::new(name(), world.profile, Disk::default());
    assert_eq!(empty.deletion_cost(&InKv { left: None, ..later }), Ok(None));
}

#[test]
fn a_lost_cluster_is_deleted_whole_or_not_at_all() {
    let mut n_lost_again = 0;
    for seed in 0..SEEDS {
        let (mut world, head) = lost(seed);
        let whole = copy(&world.air, &head, world.profile).unwrap().cluster.position().unwrap();
        let confirm = cost(&mut world).confirm;
        for plan in [Plan::FailBefore, Plan::FailAfter] {
            world.disk.plan(plan);
            assert!(delete(&mut world, &confirm).is_err(), "seed {seed}");
            world.crash();
            assert_eq!(world.cluster.tombstone().unwrap().is_some(), plan == Plan::FailAfter, "seed {seed}");
            check(&world, &whole);
        }
        let mut n_steps = 0;
        while !step(&mut world) {
            check(&world, &whole);
            n_steps += 1;
            assert!(n_steps < 2_000, "seed {seed}: it does not come to an end");
            if world.random.percent(5) {
                world.crash();
            } else if n_lost_again < 2 * seed && world.random.percent(40) {
                // The storage is lost once more.
                n_lost_again += 1;
                world.disk = Disk::default();
                world.crash();
                if in_kv(&world).gone().is_some() {
                    break;
                }
                let again = cost(&mut world);
                assert!(again.revision == head.revision, "seed {seed}: {}", again.message);
                assert_eq!(delete(&mut world, &again.confirm), Ok(Ok(())), "seed {seed}");
            }
        }
        assert_eq!(of_cluster(&world), Vec::<String>::new(), "seed {seed}");
        let known = air::run(shown(&world.air, &name())).unwrap().unwrap();
        assert_eq!((known.revision, known.by), (head.revision, sender().user), "seed {seed}");
    }
    assert!(n_lost_again > 10, "{n_lost_again}");
}

#[test]
fn a_lost_cluster_that_was_deleted_is_founded_by_nobody_by_accident() {
    let (mut world, head) = lost(3);
    let confirm = cost(&mut world).confirm;
    delete(&mut world, &confirm).unwrap().unwrap();
    while !step(&mut world) {}
    let refused = world.cluster.submit(&founding()[0], &sender(), world.now).map(drop);
    assert_eq!(refused, Err(Failure::Broken(Fault::Deleted)));
    let tombstone = world.cluster.tombstone().unwrap().unwrap();
    assert!(tombstone.epoch >= u64::try_from((world.now.0 - Millis::DAY.0) / 1_000).unwrap(), "later than every other");
    // And once more without a storage: nothing is left but the tombstone, which says what to do.
    world.disk = Disk::default();
    world.crash();
    let gone = in_kv(&world).gone().unwrap();
    assert!(gone.is_done && gone.sentence_of_lost(&name()).contains(&format!("?anew={}", head.revision)));
}
