//! A cluster is deleted that nobody can look into: one that is being restored, and one whose log cannot be read.
#![expect(clippy::unwrap_used, reason = "a panic is a failed test")]

use std::cell::RefCell;

use protocol::cluster::Cluster;
use protocol::deletion::Undeleted;
use protocol::deletion::left::InKv;
use protocol::deletion::steps;
use protocol::fault::Fault;
use protocol::log::Meta;
use protocol::restore::steps::Budget;

use crate::air;
use crate::air::Air;
use crate::deletion::some;
use crate::disk::Disk;
use crate::profile;
use crate::restored::Held;
use crate::restored::begin;
use crate::restored::go_on;
use crate::restored::lived;
use crate::world::World;
use crate::world::name;
use crate::world::sender;

const STEPS: u32 = 60;
const ONE: Budget = Budget { operations: 1, bytes: 1 };

/// A table of the log, and what becomes of its rows.
type Damage = (&'static str, fn(&str) -> String);

fn word(cluster: &mut Cluster<Disk>) -> String {
    cluster.deletion_cost(&InKv::default()).unwrap().unwrap().confirm
}

/// Everything that is left is deleted, and nothing founds it again by accident.
fn finish(world: &World, cluster: &mut Cluster<Disk>, air: &Air) {
    let mut now = world.now;
    for _ in 0..1_000 {
        now = now + steps::KV_LATE;
        let held = Held(RefCell::new(&mut *cluster));
        let tombstone = air::run(steps::go_on(air, &held, 40, steps::KV_LATE, now)).unwrap().unwrap();
        if tombstone.is_done {
            assert!(air.keys().iter().all(|key| !key.starts_with("c/demo/")), "{:?}", air.keys());
            assert_eq!(cluster.position(), Err(Fault::Deleted));
            return;
        }
    }
    panic!("it does not come to an end");
}

/// After each step of a restore: what was read goes, and a step that was under way brings nothing back.
#[test]
fn a_cluster_that_is_being_restored_can_be_deleted_at_any_moment() {
    let (world, head) = lived(1, STEPS);
    let mut n_moments = 0;
    for n_steps in 0.. {
        let (disk, air) = (Disk::default(), Air::of_dump(&world.air.dump()));
        let mut cluster = Cluster::new(name(), profile(1), disk.clone());
        begin(&mut cluster, &air, &head, false, head.revision).unwrap();
        let ends = (0..n_steps).any(|_| go_on(&mut cluster, &air, ONE).unwrap().is_some());
        if ends {
            break;
        }
        n_moments += 1;
        let cost = cluster.deletion_cost(&some(7)).unwrap().unwrap();
        let reason = format!("the cluster is being restored to revision {}", head.revision);
        assert_eq!((cost.revision, cost.uncounted.as_ref()), (head.revision, Some(&reason)));
        for words in [reason.as_str(), "Objects in KV: 7 or more", &cost.confirm] {
            assert!(cost.message.contains(words), "{}", cost.message);
        }
        let refused = cluster.delete("yes", &sender().user, &some(7), world.now).unwrap();
        assert_eq!(refused, Err(Undeleted::OtherCost(Box::new(cost.clone()))));
        let wanted = cluster.restore_wants().unwrap();
        cluster.delete(&cost.confirm, &sender().user, &some(7), world.now).unwrap().unwrap();
        if let Some(key) = wanted {
            let text = air.value(&key);
            assert_eq!(cluster.restore_with(&key, Some(text)), Ok(()), "what was under way has no effect");
        }
        assert_eq!(cluster.finish_restore(), Ok(Vec::new()));
        assert_eq!((disk.n_rows(), disk.n_answers(), cluster.note_names("")), (0, 0, Ok(Vec::new())));
        finish(&world, &mut cluster, &air);
    }
    assert!(n_moments > 20, "{n_moments}");
}

/// The word stands for what is deleted: once the cluster is there, it is another one.
#[test]
fn a_word_that_was_given_during_a_restore_does_not_delete_the_cluster_after_it() {
    let (mut world, head) = lived(2, STEPS);
    let mut cluster = Cluster::new(name(), profile(2), Disk::default());
    begin(&mut cluster, &world.air, &head, false, head.revision).unwrap();
    let early = word(&mut cluster);
    while go_on(&mut cluster, &world.air, ONE).unwrap().is_none() {
        assert!(cluster.restoring().unwrap().is_none() || word(&mut cluster) == early, "how far it is changes nothing");
    }
    let refused = cluster.delete(&early, &sender().user, &InKv::default(), world.now).unwrap();
    assert!(matches!(refused, Err(Undeleted::OtherCost(cost)) if cost.uncounted.is_none()));
    assert_eq!(cluster.position(), world.cluster.position());
}

/// Whatever of the log is damaged: the administrator is told, and may delete it.
#[test]
fn a_cluster_whose_log_cannot_be_read_can_be_deleted() {
    let (world, head) = lived(3, STEPS);
    let lines: Vec<String> = world.disk.dump().lines().map(str::to_owned).collect();
    let damages: [Damage; 4] = [
        ("snapshots\t", |line| line.replace("\"format\":", "\"formal\":")),
        ("log\t", |line| line.replace("\"format\":1", "\"format\":")),
        ("log\t", |line| line.replace("\"events\":[", "\"events\":[7")),
        ("meta\tpublished", |line| line.replace("\"format\":", "\"formal\":")),
    ];
    for (table, damage) in damages {
        assert!(lines.iter().any(|line| line.starts_with(table)), "{table} has rows");
        let changed = |line: &String| if line.starts_with(table) { damage(line) } else { line.clone() };
        let disk = Disk::of_dump(&lines.iter().map(changed).collect::<Vec<_>>().join("\n"));
        let (mut cluster, air) = (Cluster::new(name(), profile(3), disk.clone()), Air::of_dump(&world.air.dump()));
        let fault = cluster.position().unwrap_err();
        assert!(matches!(fault, Fault::Damaged { .. }), "{table}: {fault}");
        let cost = cluster.deletion_cost(&InKv::default()).unwrap().unwrap();
        assert_eq!((cost.uncounted, cost.revision), (Some(fault.to_string()), head.revision), "{table}");
        let tombstone = cluster.delete(&cost.confirm, &sender().user, &InKv::default(), world.now).unwrap().unwrap();
        assert!(tombstone.epoch >= u64::try_from(world.now.0 / 1_000).unwrap(), "later than every other");
        assert_eq!((disk.n_rows(), disk.n_answers()), (0, 0), "{table}");
        finish(&world, &mut cluster, &air);
    }
    // A storage that does not answer now may do so later: nothing is deleted for that.
    let disk = Disk::of_dump(&world.disk.dump());
    disk.lose(Meta::Published);
    let mut cluster = Cluster::new(name(), profile(3), disk);
    assert!(cluster.deletion_cost(&InKv::default()).unwrap().unwrap().uncounted.is_none(), "it can be read");
}

/// A deleted name is restored only by somebody who knows what was deleted: then its state is back.
#[test]
fn a_deleted_name_can_be_restored_from_what_was_kept_elsewhere() {
    let (mut world, head) = lived(4, STEPS);
    let (kept, here) = (Air::of_dump(&world.air.dump()), world.cluster.position().unwrap());
    let confirm = word(&mut world.cluster);
    world.cluster.delete(&confirm, &sender().user, &InKv::default(), world.now).unwrap().unwrap();
    assert_eq!(begin(&mut world.cluster, &kept, &head, false, 0), Err(Fault::Deleted), "not by accident");
    world.cluster.take_again().unwrap();
    begin(&mut world.cluster, &kept, &head, false, 0).unwrap();
    assert_eq!(world.cluster.tombstone(), Ok(None));
    while go_on(&mut world.cluster, &kept, ONE).unwrap().is_none() {}
    assert_eq!(world.cluster.position(), Ok(here));
}
