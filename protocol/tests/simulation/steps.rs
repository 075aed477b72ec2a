//! Restores in steps: each invocation within its limits, crashes at every boundary, and nothing else done meanwhile.
#![expect(clippy::unwrap_used, reason = "a panic is a failed test")]

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use protocol::cluster::Cluster;
use protocol::cluster::Position;
use protocol::document::Head;
use protocol::fault::Failure;
use protocol::fault::Fault;
use protocol::gap::Gap;
use protocol::history;
use protocol::log::Meta;
use protocol::name::ClusterName;
use protocol::publish;
use protocol::restore::Begun;
use protocol::restore::steps::Budget;

use crate::air;
use crate::air::Weather;
use crate::disk::Disk;
use crate::disk::Plan;
use crate::profile;
use crate::restored::begin;
use crate::restored::copy;
use crate::restored::go_on;
use crate::restored::lived;
use crate::restored::restore;
use crate::world::World;
use crate::world::founding;
use crate::world::name;
use crate::world::notes;
use crate::world::sender;

const SEEDS: u64 = 4;
const STEPS: u32 = 160;
/// A crash at every boundary is a restore for each of them.
const FEW_STEPS: u32 = 45;
/// How many histories are restored, and how long they are.
const HISTORIES: u64 = 100;
const HISTORY_STEPS: u32 = 20;

/// One object an invocation: every boundary is one between invocations.
const ONE: Budget = Budget { operations: 1, bytes: 1 };

/// A cluster with a past, all of it published.
struct Known {
    world: World,
    head: Head,
    position: Position,
    notes: BTreeMap<String, String>,
}

impl Known {
    fn new(seed: u64, steps: u32) -> Self {
        let mut world = World::new(seed, profile(seed));
        for _ in 0..steps {
            world.submit_new();
            world.pass(20_000);
        }
        world.air.set_weather(Weather::default());
        world.finish();
        let head = air::run(history::head(&world.air, &name())).unwrap().unwrap();
        let (position, notes) = (world.cluster.position().unwrap(), notes(&world.cluster));
        Self { world, head, position, notes }
    }

    fn open(&self, disk: &Disk) -> Cluster<Disk> {
        Cluster::new(name(), self.world.profile, disk.clone())
    }

    fn begun(&self, disk: &Disk, is_forced: bool) -> Cluster<Disk> {
        let mut cluster = self.open(disk);
        assert_eq!(begin(&mut cluster, &self.world.air, &self.head, is_forced, 0), Ok(Begun::Yes));
        cluster
    }

    /// That a restored cluster is what it was, with every answer.
    fn check(&self, mut cluster: Cluster<Disk>, missing: &[Gap], disk: &Disk) {
        assert_eq!(missing, []);
        assert_eq!(cluster.position(), Ok(self.position.clone()));
        assert_eq!(notes(&cluster), self.notes);
        assert_eq!(disk.n_answers(), self.world.n_entries(), "every answer is remembered");
    }

    /// Restores an object by object; before the invocation with this number the disk is told to fail. How many
    /// invocations it took.
    fn restore(&self, disk: &Disk, is_forced: bool, fail: Option<(usize, Plan)>) -> usize {
        let mut cluster = self.begun(disk, is_forced);
        for number in 0.. {
            let plan = fail.filter(|(at, _)| *at == number).map_or(Plan::Work, |(_, plan)| plan);
            disk.plan(plan);
            let outcome = go_on(&mut cluster, &self.world.air, ONE);
            disk.plan(Plan::Work);
            match outcome {
                Ok(Some(missing)) => {
                    self.check(cluster, &missing, disk);
                    return number + 1;
                }
                Ok(None) => {}
                Err(fault) => {
                    assert_ne!(plan, Plan::Work, "{fault}");
                    cluster = self.open(disk);
                    if plan == Plan::FailAfter && cluster.restoring().unwrap().is_none() {
                        self.check(cluster, &[], disk);
                        return number + 1;
                    }
                }
            }
            assert!(number < 10_000, "it does not come to an end");
        }
        unreachable!("the numbers do not end")
    }
}

#[test]
fn a_crash_at_any_boundary_costs_nothing() {
    for seed in 0..SEEDS {
        let known = Known::new(seed, FEW_STEPS);
        let n_invocations = known.restore(&Disk::default(), false, None);
        assert!(n_invocations > 10, "seed {seed}: {n_invocations}");
        for at in 0..n_invocations {
            for plan in [Plan::FailBefore, Plan::FailAfter] {
                known.restore(&Disk::default(), false, Some((at, plan)));
            }
        }
    }
}

#[test]
fn each_invocation_keeps_within_its_limits_whatever_they_are() {
    let known = Known::new(3, STEPS);
    for operations in [1, 2, 7, 40, 1_000] {
        let (disk, mut n_invocations) = (Disk::default(), 0);
        let mut cluster = known.begun(&disk, false);
        let missing = loop {
            n_invocations += 1;
            // The calls of an invocation are counted where they are made.
            if let Some(missing) = go_on(&mut cluster, &known.world.air, Budget { operations, bytes: 20_000 }).unwrap()
            {
                break missing;
            }
        };
        println!("{operations} operations an invocation: {n_invocations} invocations");
        known.check(cluster, &missing, &disk);
    }
}

#[test]
fn nothing_else_is_done_with_a_cluster_that_is_being_restored() {
    let known = Known::new(1, STEPS);
    let disk = Disk::default();
    let mut cluster = known.begun(&disk, false);
    let mut n_refused = 0;
    while go_on(&mut cluster, &known.world.air, ONE).unwrap().is_none() {
        let refused = cluster.submit(&founding()[0], &sender(), known.world.now);
        let Err(Failure::Broken(Fault::Restoring(progress))) = refused else { panic!("{refused:?}") };
        assert!(progress.revision == known.head.revision && progress.read == n_refused + 1, "{progress}");
        assert!(matches!(cluster.run_slot(1, known.world.now), Err(Failure::Broken(Fault::Restoring(_)))));
        assert!(matches!(cluster.seal(known.world.now), Err(Fault::Restoring(_))));
        n_refused += 1;
    }
    assert!(n_refused > 20, "{n_refused}");
}

#[test]
fn what_a_log_has_is_dropped_only_once_everything_is_known_to_be_whole() {
    let known = Known::new(2, STEPS);
    let young = || {
        let disk = Disk::default();
        let mut cluster = known.open(&disk);
        cluster.found(None, None).unwrap();
        cluster.submit(&founding()[0], &sender(), known.world.now).unwrap();
        disk
    };
    let disk = young();
    let here = known.open(&disk).position().unwrap();
    let air = &known.world.air;
    assert_eq!(begin(&mut known.open(&disk), air, &known.head, false, 0), Ok(Begun::Different(here.clone())));
    known.restore(&disk, true, None);
    assert_eq!(begin(&mut known.open(&disk), air, &known.head, false, 0), Ok(Begun::Same));
    let needed = known.head.keys().filter(|key| !key.contains("/page/"));
    for key in needed {
        let (disk, text) = (young(), air.value(key));
        let mut cluster = known.begun(&disk, true);
        air.lose(|lost| lost == key);
        let fault = loop {
            if let Err(fault) = go_on(&mut cluster, air, ONE) {
                break fault;
            }
        };
        air.forge(key, &text);
        assert_eq!(fault, Fault::Missing { key: key.to_owned() });
        assert_eq!(known.open(&disk).position(), Ok(here.clone()), "the log is as it was");
    }
}

#[test]
fn only_what_answers_need_is_read_of_the_past() {
    let known = Known::new(4, STEPS);
    let short = protocol::profile::Profile { answers_kept: engine::unit::time::Millis(60_000), ..known.world.profile };
    let n_read = |profile| {
        let before = known.world.air.n_reads();
        copy(&known.world.air, &known.head, profile).unwrap();
        known.world.air.n_reads() - before
    };
    let (few, all) = (n_read(short), n_read(known.world.profile));
    let state = known.head.keys().filter(|key| !key.contains("/page/")).count();
    assert!(few <= state + 4 && all > few + 4, "{few} and {all} reads, {state} objects of the state");
}

#[test]
fn a_hundred_random_histories_come_back_with_equal_hashes() {
    let mut hashes = BTreeSet::new();
    for seed in 0..HISTORIES {
        let (mut world, head) = lived(seed, HISTORY_STEPS);
        let here = world.cluster.position().unwrap();
        let mut copy = copy(&world.air, &head, world.profile).unwrap();
        assert_eq!(
            (copy.cluster.position().unwrap().hash, &*copy.missing),
            (here.hash.clone(), &[][..]),
            "seed {seed}"
        );
        hashes.insert(here.hash);
    }
    assert_eq!(hashes.len() as u64, HISTORIES, "each history is another one");
}

/// The negative control: an object that forgets that it is being restored opens half a cluster.
#[test]
fn an_object_that_forgets_its_progress_is_caught() {
    for seed in 0..SEEDS {
        let known = Known::new(seed, STEPS);
        let disk = Disk::default();
        let mut cluster = known.begun(&disk, false);
        let mut n_caught = 0;
        while go_on(&mut cluster, &known.world.air, ONE).unwrap().is_none() {
            let forgetful = Disk::of_dump(&disk.dump());
            forgetful.lose(Meta::Restoring);
            let mut opened = known.open(&forgetful);
            let is_whole = opened.position() == Ok(known.position.clone())
                && notes(&opened) == known.notes
                && forgetful.n_answers() == known.world.n_entries();
            n_caught += usize::from(!is_whole);
        }
        assert!(n_caught > 15, "seed {seed}: {n_caught}");
    }
}

#[test]
fn a_copy_under_another_name_stands_on_its_own() {
    for seed in 0..SEEDS {
        let mut known = Known::new(seed, STEPS);
        let name = ClusterName::new("copy").unwrap();
        let mut cluster = Cluster::new(name.clone(), known.world.profile, Disk::default());
        let air = known.world.air.clone();
        assert_eq!(restore(&mut cluster, &air, &known.head, false, 0), Ok(Begun::Yes));
        known.world.pass(60_000);
        while let Some(publication) = cluster.seal(known.world.now).unwrap() {
            air::run(publish::put(&air, &publication)).unwrap();
            cluster.settle(&publication, known.world.now).unwrap();
            known.world.pass(2_000);
        }
        let head = air::run(history::head(&air, &name)).unwrap().unwrap();
        // The other cluster merges its segments, packs its notes and is deleted.
        air.lose(|key| key.starts_with("c/demo/"));
        let mut again = copy(&air, &head, known.world.profile).unwrap();
        assert_eq!(again.cluster.position().unwrap().hash, known.position.hash, "seed {seed}");
        assert_eq!(notes(&again.cluster), known.notes, "seed {seed}");
    }
}
