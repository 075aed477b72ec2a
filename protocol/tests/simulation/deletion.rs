//! A cluster is deleted: only by whoever knows what it costs, all of it, whatever fails, and nobody founds it by accident.
#![expect(clippy::unwrap_used, reason = "a panic is a failed test")]

use std::cell::RefCell;

use agent::exit::Exit;
use agent::message::FORMAT;
use agent::message::RunState;
use agent::message::SyncRequest;
use agent::run::RunId;
use agent::run::Version;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;
use protocol::cluster::Cluster;
use protocol::deletion::Undeleted;
use protocol::deletion::left::InKv;
use protocol::deletion::steps;
use protocol::deletion::tombstone::Tombstone;
use protocol::deletion::tombstone::shown;
use protocol::fault::Failure;
use protocol::fault::Fault;
use protocol::log::encode;
use protocol::publish;
use protocol::restore::steps::Holder;
use serde_json::json;

use crate::air;
use crate::air::Air;
use crate::air::Weather;
use crate::desk;
use crate::disk::Disk;
use crate::disk::Plan;
use crate::memory::submission;
use crate::profile;
use crate::restored::Held;
use crate::world::World;
use crate::world::envelope;
use crate::world::founding;
use crate::world::name;
use crate::world::sender;

const SEEDS: u64 = 12;
const STEPS: u32 = 120;
/// Calls of an invocation: few, so that there are many steps.
const CALLS: usize = 7;

/// A cluster with a past, all of it published.
fn lived(seed: u64) -> World {
    let mut world = World::new(seed, profile(seed));
    for _ in 0..STEPS {
        world.submit_new();
        world.pass(20_000);
        world.publish(publish::Occasion::Demand);
    }
    world.air.set_weather(Weather::default());
    world.finish();
    world
}

/// What KV shows of a cluster with so many objects and more.
pub(crate) fn some(objects: u64) -> InKv {
    InKv { objects, has_more: true, left: None }
}

fn word(cluster: &mut Cluster<Disk>) -> String {
    cluster.deletion_cost(&InKv::default()).unwrap().unwrap().confirm
}

fn delete(world: &mut World) -> Tombstone {
    let confirm = word(&mut world.cluster);
    world.cluster.delete(&confirm, &sender().user, &InKv::default(), world.now).unwrap().unwrap()
}

/// A step, as an alarm or a slot makes it.
fn step(world: &mut World) -> Result<Option<Tombstone>, Fault> {
    let (air, now) = (world.air.clone(), world.now);
    air.invoke(CALLS);
    let held = Held(RefCell::new(&mut world.cluster));
    let outcome = air::run(steps::go_on(&air, &held, CALLS, steps::KV_LATE, now));
    air.invoke(usize::MAX);
    outcome
}

/// Steps until nothing is left.
fn finish(world: &mut World) -> Tombstone {
    for _ in 0..2_000 {
        world.pass(20_000);
        if let Ok(Some(tombstone)) = step(world)
            && tombstone.is_done
        {
            return tombstone;
        }
        if world.random.percent(10) {
            world.crash();
        }
    }
    panic!("it does not come to an end");
}

fn of_cluster(air: &Air) -> Vec<String> {
    air.keys().into_iter().filter(|key| key.starts_with("c/demo/")).collect()
}

#[test]
fn nothing_is_deleted_that_nobody_was_told_of() {
    let mut world = lived(1);
    let cost = world.cluster.deletion_cost(&some(12)).unwrap().unwrap();
    let hash = world.cluster.position().unwrap();
    assert_eq!((cost.entries, cost.revision, cost.quotas), (hash.seq, hash.revision, 3));
    assert!(cost.message.contains(&format!("running jobs that end: {},", cost.running)), "{}", cost.message);
    assert!(
        cost.message.contains("objects in KV: 12 or more.") && cost.message.contains(&cost.confirm),
        "{}",
        cost.message
    );
    for wrong in ["", "yes", &cost.confirm[1..]] {
        let refused = world.cluster.delete(wrong, &sender().user, &some(12), world.now).unwrap();
        assert_eq!(refused, Err(Undeleted::OtherCost(Box::new(cost.clone()))), "{wrong}");
    }
    // A round changes nothing of what it costs; another job does.
    world.tick();
    assert_eq!(word(&mut world.cluster), cost.confirm);
    world.cluster.submit(&submission(100_000), &sender(), world.now).unwrap();
    let refused = world.cluster.delete(&cost.confirm, &sender().user, &InKv::default(), world.now).unwrap();
    assert!(matches!(refused, Err(Undeleted::OtherCost(other)) if other.confirm != cost.confirm));
    assert!(world.cluster.position().unwrap().seq > hash.seq, "it is as it was");
    let mut empty = Cluster::new(name(), world.profile, Disk::default());
    assert_eq!(empty.deletion_cost(&InKv::default()), Ok(None));
    assert_eq!(empty.delete("", &sender().user, &InKv::default(), world.now), Ok(Err(Undeleted::Nothing)));
}

#[test]
fn all_of_it_goes_whatever_fails_and_a_publication_under_way_with_it() {
    for seed in 0..SEEDS {
        let mut world = lived(seed);
        world.cluster.submit(&submission(100_000), &sender(), world.now).unwrap();
        world.pass(5_000);
        let late = world.cluster.seal(world.now).unwrap().unwrap();
        let n_objects = of_cluster(&world.air).len();
        delete(&mut world);
        assert_eq!(world.disk.n_rows(), 0, "seed {seed}");
        world.air.set_weather(Weather { fail_before: 4, fail_after: 4, fail_read: 2, stale_read: 20 });
        world.pass(60_000);
        let first = step(&mut world);
        assert!(first.map_or(true, |tombstone| !tombstone.unwrap().is_done), "seed {seed}");
        // It was on its way before the deletion, and comes now.
        late.objects.iter().for_each(|(key, text)| world.air.forge(key, text));
        world.air.forge(&late.head_key, &encode(&late.head).unwrap());
        let tombstone = finish(&mut world);
        assert_eq!(of_cluster(&world.air), Vec::<String>::new(), "seed {seed}");
        assert!(2 * tombstone.objects > n_objects as u64, "seed {seed}: {tombstone:?}, without what was done twice");
        let n_deletes = world.air.n_deletes();
        assert_eq!(step(&mut world), Ok(Some(tombstone)), "seed {seed}");
        assert_eq!(world.air.n_deletes(), n_deletes, "seed {seed}: nothing is done twice");
    }
}

#[test]
fn a_deletion_that_fails_has_happened_or_not() {
    for plan in [Plan::FailBefore, Plan::FailAfter] {
        let mut world = lived(2);
        let confirm = word(&mut world.cluster);
        let before = world.cluster.position().unwrap();
        world.disk.plan(plan);
        assert!(world.cluster.delete(&confirm, &sender().user, &InKv::default(), world.now).is_err());
        if plan == Plan::FailBefore {
            assert_eq!(world.cluster.position().unwrap(), before);
            assert_eq!(world.cluster.tombstone(), Ok(None));
        } else {
            assert_eq!(world.cluster.position(), Err(Fault::Deleted));
            assert!(world.cluster.tombstone().unwrap().is_some());
        }
    }
}

#[test]
fn nobody_founds_it_again_by_accident() {
    let mut world = lived(3);
    delete(&mut world);
    finish(&mut world);
    for is_new in [false, true] {
        if is_new {
            world.crash();
        }
        let now = world.now;
        for envelope in founding() {
            let refused = world.cluster.submit(&envelope, &sender(), now).map(drop);
            assert_eq!(refused, Err(Failure::Broken(Fault::Deleted)));
        }
        assert_eq!(world.cluster.run_slot(1, now).map(drop), Err(Failure::Broken(Fault::Deleted)));
        assert_eq!(world.cluster.run_alarm(now).map(drop), Err(Failure::Broken(Fault::Deleted)));
        assert_eq!(world.cluster.seal(now).map(drop), Err(Fault::Deleted));
        assert_eq!(world.cluster.found(None, None), Err(Failure::Broken(Fault::Deleted)));
    }
    assert_eq!(world.disk.n_rows(), 0);
    // The storage is lost as well: KV still knows.
    assert_eq!(air::run(shown(&world.air, &name())).unwrap().map(|known| known.by), Some(sender().user));
}

#[test]
fn the_name_can_be_taken_again_and_begins_a_later_epoch() {
    let mut world = lived(4);
    let tombstone = delete(&mut world);
    finish(&mut world);
    // Who does not go through with it leaves the tombstone.
    world.cluster.take_again().unwrap();
    world.cluster.found(None, None).unwrap();
    let job = envelope("first", &json!({ "cancel_job": { "job": "nobody" } }));
    assert!(matches!(world.cluster.submit(&job, &sender(), world.now), Err(Failure::Refused(_))));
    world.cluster.forget();
    assert!(world.cluster.tombstone().unwrap().is_some());

    world.cluster.take_again().unwrap();
    world.cluster.found(None, None).unwrap();
    world.cluster.submit(&founding()[0], &sender(), world.now).unwrap();
    world.cluster.begin_again(world.now).unwrap();
    world.cluster.forget();
    assert_eq!(world.cluster.tombstone(), Ok(None));
    assert_eq!(world.cluster.mark().unwrap().seq, 2);
    let epoch = world.cluster.with_state(|state| state.cluster.epoch).unwrap();
    assert!(epoch > tombstone.epoch, "{epoch} after {}", tombstone.epoch);
    // A step that was still under way leaves it alone.
    assert_eq!(step(&mut world), Ok(None));
    assert_eq!(world.cluster.mark().unwrap().seq, 2);
}

#[test]
fn a_step_that_is_under_way_when_the_name_is_taken_leaves_it_alone() {
    let mut world = lived(7);
    delete(&mut world);
    let (air, now, mut is_taken) = (world.air.clone(), world.now, false);
    let held = Held(RefCell::new(&mut world.cluster));
    let take = |cluster: &mut Cluster<Disk>| {
        cluster.take_again()?;
        cluster.found(None, None).unwrap();
        cluster.submit(&founding()[0], &sender(), now).unwrap();
        cluster.forget();
        Ok(())
    };
    let step = air::drive(steps::go_on(&air, &held, CALLS, steps::KV_LATE, now), || {
        if !std::mem::replace(&mut is_taken, true) {
            held.work(take).unwrap();
        }
        true
    });
    assert!(step.unwrap().is_ok());
    assert_eq!(world.cluster.tombstone(), Ok(None));
    assert_eq!(world.cluster.mark().unwrap().seq, 1);
}

#[test]
fn agents_are_told_to_stop_what_lives_and_to_forget_the_rest() {
    let mut world = lived(5);
    let tombstone = delete(&mut world);
    let run = |revision| RunId::new(Version { epoch: 0, revision });
    let report = |revision, state| desk::run(run(revision), &format!("job-{revision}"), state);
    let runs =
        vec![report(1, RunState::Running), report(2, RunState::Ended(Exit::Code(0))), report(3, RunState::Prepared)];
    let answered = Some(Version { epoch: 0, revision: tombstone.revision });
    let request = SyncRequest {
        format: FORMAT,
        incarnation: 7,
        answered,
        nodes: Vec::new(),
        runs,
        lives: Vec::new(),
        keeps: true,
        changes: false,
        offered: Vec::new(),
    };
    let answer = tombstone.farewell(&request);
    assert_eq!(answer.check(), Ok(()));
    assert!(answered < Some(answer.version), "it is newer than everything that they were told");
    assert_eq!((answer.incarnation, answer.want.len()), (7, 0));
    assert_eq!(answer.stop.iter().map(|order| order.run).collect::<Vec<_>>(), [run(1), run(3)]);
    assert!(answer.stop.iter().all(|order| order.kill_in_ms > 0));
    assert_eq!(answer.forget, [run(2)]);
}

#[test]
fn a_tombstone_says_what_to_do() {
    let mut world = lived(6);
    let mut tombstone = delete(&mut world);
    assert!(tombstone.sentence(&name()).contains("still being removed"));
    tombstone.is_done = true;
    assert!(tombstone.sentence(&name()).contains(&format!("?anew={}", tombstone.revision)));
    assert_eq!(tombstone.told(&name()).at, world.now);
    let early = Timestamp(world.now.0 + Millis::MINUTE.0);
    assert!(early > tombstone.next);
}
