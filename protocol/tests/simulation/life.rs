//! A cluster that lives for long in good weather, and publishes as its object does.

use std::cell::RefCell;

use engine::unit::time::Timestamp;
use protocol::cluster::Cluster;
use protocol::cluster::SLOT_MS;
use protocol::garbage;
use protocol::profile::Profile;
use protocol::publish;
use protocol::publish::Due;
use protocol::publish::Occasion;
use serde_json::json;

use crate::air;
use crate::disk::Disk;
use crate::memory::START;
use crate::random::Random;
use crate::restored::Held;
use crate::shelf::Shelf;
use crate::world::envelope;
use crate::world::name;
use crate::world::sender;

/// Objects that may go are deleted minute by minute, so many at most on the usual plan.
const COLLECTED: usize = 200;

pub(crate) struct Life {
    pub(crate) cluster: Cluster<Disk>,
    pub(crate) disk: Disk,
    pub(crate) shelf: Shelf,
    pub(crate) random: Random,
    pub(crate) n_jobs: u64,
    /// Of the object.
    pub(crate) calls: u64,
    /// Setting an alarm is a row.
    pub(crate) alarms: u64,
}

impl Life {
    /// A cluster with so many GPUs, half of them of each of two quotas.
    pub(crate) fn new(profile: Profile, gpus: u64) -> Self {
        let disk = Disk::lean();
        let mut cluster = Cluster::new(name(), profile, disk.clone());
        cluster.found(None, None).expect("nothing is published");
        let (all, half) = (json!({ "gpu": 1000 * gpus }), json!({ "gpu": 500 * gpus }));
        let commands = [
            json!({ "create_cluster": { "dimensions": [{ "name": "gpu", "kind": "gpu" }] } }),
            json!({ "put_group": { "group": "pool", "resource_type": "lingjun", "pool": all } }),
            json!({ "create_quota": { "quota": "root", "groups": ["pool"], "min": all } }),
            json!({ "create_quota": { "quota": "a", "parent": "root", "min": half } }),
            json!({ "create_quota": { "quota": "b", "parent": "root", "min": half } }),
        ];
        for (number, command) in commands.iter().enumerate() {
            let envelope = envelope(&format!("founding-{number}"), command);
            cluster.submit(&envelope, &sender(), START).expect("the founding works");
        }
        let (shelf, random) = (Shelf::default(), Random::new(7));
        Self { cluster, disk, shelf, random, n_jobs: 0, calls: 0, alarms: 0 }
    }

    pub(crate) fn publish(&mut self, occasion: Occasion, now: Timestamp) {
        while self.cluster.due(occasion, now) == Ok(Due::Now) {
            let publication = self.cluster.seal(now).expect("sealing works").expect("there is something to publish");
            air::run(publish::put(&self.shelf, &publication)).expect("putting works");
            self.cluster.settle(&publication, now).expect("settling works");
        }
    }

    /// What is due until a time happens at its time, and is published, as the object's alarm does it.
    pub(crate) fn ring(&mut self, until: Timestamp) {
        while let Some(at) = self.cluster.next_alarm().expect("reading works").filter(|at| *at < until) {
            self.cluster.run_alarm(at).expect("a round runs");
            self.calls += 1;
            self.alarms += 1;
            self.publish(Occasion::Command, at);
        }
    }

    /// A minute ends: what was due in it, its round, and what may go.
    pub(crate) fn end_minute(&mut self, now: Timestamp) {
        self.ring(now);
        self.calls += 1;
        self.cluster.run_slot(now.0.div_euclid(SLOT_MS), now).expect("a round runs");
        self.publish(Occasion::Round, now);
        let held = Held(RefCell::new(&mut self.cluster));
        air::run(garbage::collect(&self.shelf, &held, now, COLLECTED)).expect("deleting works");
    }
}
