//! Restores, as an object drives them.

use std::cell::RefCell;

use protocol::cluster::Cluster;
use protocol::document::Head;
use protocol::fault::Fault;
use protocol::gap::Gap;
use protocol::history;
use protocol::profile::Profile;
use protocol::publish::Occasion;
use protocol::restore;
use protocol::restore::Begun;
use protocol::restore::steps;
use protocol::restore::steps::Budget;
use protocol::restore::steps::Holder;

use crate::air;
use crate::air::Air;
use crate::disk::Disk;
use crate::profile;
use crate::world::World;
use crate::world::name;

/// What an invocation of the smallest plan may do.
pub(crate) const BUDGET: Budget = Budget { operations: 40, bytes: 16 * 1024 * 1024 };

/// A cluster that one works with at a time.
pub(crate) struct Held<'a>(pub(crate) RefCell<&'a mut Cluster<Disk>>);

impl Holder for Held<'_> {
    type Store = Disk;

    fn work<T>(&self, work: impl FnOnce(&mut Cluster<Disk>) -> Result<T, Fault>) -> Result<T, Fault> {
        work(&mut self.0.borrow_mut())
    }
}

/// A cluster that was made from KV.
pub(crate) struct Copy {
    pub(crate) cluster: Cluster<Disk>,
    pub(crate) missing: Vec<Gap>,
    disk: Disk,
}

impl Copy {
    /// How many commands it knows the answers of.
    pub(crate) fn n_remembered(&self) -> usize {
        self.disk.n_answers()
    }
}

/// A cluster with a past and notes, all of it published, and its head.
pub(crate) fn lived(seed: u64, steps: u32) -> (World, Head) {
    let mut world = World::new(seed, profile(seed));
    for _ in 0..steps {
        world.submit_new();
        world.pass(20_000);
        world.publish(Occasion::Demand);
    }
    world.finish();
    let head = air::run(history::head(&world.air, &name())).expect("KV is there").expect("it is published");
    (world, head)
}

/// Begins a restore.
pub(crate) fn begin(
    cluster: &mut Cluster<Disk>,
    air: &Air,
    head: &Head,
    is_forced: bool,
    shown: u64,
) -> Result<Begun, Fault> {
    let last = air::run(restore::last_entry(air, head))?;
    cluster.begin_restore(head.clone(), last.as_ref(), is_forced, shown)
}

/// One invocation; what is missing, once it is over.
pub(crate) fn go_on(cluster: &mut Cluster<Disk>, air: &Air, budget: Budget) -> Result<Option<Vec<Gap>>, Fault> {
    air.invoke(budget.operations);
    let held = Held(RefCell::new(cluster));
    let outcome = air::run(steps::go_on(air, &held, budget));
    air.invoke(usize::MAX);
    outcome
}

/// A whole restore, in as many invocations as it takes.
pub(crate) fn restore(
    cluster: &mut Cluster<Disk>,
    air: &Air,
    head: &Head,
    is_forced: bool,
    shown: u64,
) -> Result<Begun, Fault> {
    let begun = begin(cluster, air, head, is_forced, shown)?;
    if begun == Begun::Yes {
        while go_on(cluster, air, BUDGET)?.is_none() {}
    }
    Ok(begun)
}

/// A new object with what a head stands for.
pub(crate) fn copy(air: &Air, head: &Head, profile: Profile) -> Result<Copy, Fault> {
    let disk = Disk::default();
    let mut cluster = Cluster::new(name(), profile, disk.clone());
    assert_eq!(begin(&mut cluster, air, head, false, 0)?, Begun::Yes);
    loop {
        if let Some(missing) = go_on(&mut cluster, air, BUDGET)? {
            return Ok(Copy { cluster, missing, disk });
        }
    }
}
