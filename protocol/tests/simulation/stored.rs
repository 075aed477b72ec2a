//! Clusters that earlier versions have stored.
//!
//! `protocol/tests/stored/` holds a directory for each version that stored something: two clusters with the rows of their
//! objects, what KV held of them, and where they were. Directories are added by `cargo xtask store-fixture`, and never
//! changed: somebody has stored such bytes. Each must open, with the hash of what was stored then, from the object, from
//! KV and from the log alone; and it must go on. What this version stores is written beside what cargo builds.

mod commands;
mod reported;
mod simulated;
mod story;

use std::fs;
use std::path::Path;
use std::path::PathBuf;

use engine::ledger;
use engine::message::envelope::Envelope;
use engine::state::world::State;
use engine::unit::time::Timestamp;
use protocol::cluster::Cluster;
use protocol::cluster::Position;
use protocol::cluster::SLOT_MS;
use protocol::digest;
use protocol::document::Head;
use protocol::document::Page;
use protocol::history;
use protocol::kv::object;
use protocol::log::decode;
use protocol::publish;
use protocol::replay::replay;
use serde_json::Value;
use serde_json::json;

use crate::air;
use crate::air::Air;
use crate::disk::Disk;
use crate::restored::copy;
use crate::stored::story::PROFILE;
use crate::stored::story::Story;
use crate::world::envelope;
use crate::world::name;
use crate::world::sender;

/// More pages than a story has.
const PAGES: usize = 1000;
/// How many minutes a stored cluster goes on for.
const MINUTES: i64 = 200;

/// What is stored of clusters in every version since the first one that was kept: what happens to a cluster, the phases of
/// its jobs, where they come from and how they end, why they wait and why they were evicted.
const EVERYWHERE: [&str; 4] = [
    "cluster_created group_put node_put quota_created quota_updated quotas_scaled quota_deleted job_submitted \
     priority_changed promoted evicted shrunk granted started grown stopped returned checkpointed ended held offer_created \
     offer_updated offer_deleted inventory_set priced billed workspace_put workspace_deleted quota_attached quota_detached \
     member_put member_removed key_put rounded",
    "queued starting running stopping own idle reclaim child_level self_level spot in_quota succeeded failed preempted \
     cancelled requeue end",
    "larger_than_quota larger_than_nodes quota_full no_room idle_off idle_only idle_short child_level_off no_children \
     self_level_off priority_not_high no_victim victims_too_few victim_protected behind_head reserved below_market \
     inventory_short",
    "reclaimed lending_ended scaled_down below_price below_average outbid inventory_shrunk",
];

/// A cluster as it was stored.
struct Fixture {
    object: String,
    kv: String,
    /// Where the object was.
    position: Value,
}

impl Fixture {
    fn of(story: Story) -> Self {
        let (object, kv, Position { seq, revision, hash }) = story.end();
        Self { object, kv, position: json!({ "seq": seq, "revision": revision, "hash": hash }) }
    }

    fn read(directory: &Path) -> Self {
        let text = |file: &str| {
            let path = directory.join(file);
            fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
        };
        let position = serde_json::from_str(&text("position.json")).expect("a position is JSON");
        Self { object: text("object.tsv"), kv: text("kv.tsv"), position }
    }

    fn write(&self, directory: &Path) {
        fs::create_dir_all(directory).expect("the directory can be made");
        let position = format!("{}\n", self.position);
        for (file, text) in [("object.tsv", &self.object), ("kv.tsv", &self.kv), ("position.json", &position)] {
            fs::write(directory.join(file), text).expect("the file can be written");
        }
    }

    fn cluster(&self) -> Cluster<Disk> {
        Cluster::new(name(), PROFILE, Disk::of_dump(&self.object))
    }

    fn air(&self) -> Air {
        Air::of_dump(&self.kv)
    }

    fn head(&self) -> Head {
        air::run(history::head(&self.air(), &name())).expect("reading works").expect("there is a head")
    }

    fn check(&self) {
        self.check_object();
        self.check_kv();
        self.check_log();
        self.check_it_goes_on();
    }

    /// The object opens where it was.
    fn check_object(&self) {
        let position = self.cluster().position().expect("the object opens");
        assert_eq!(json!(position.seq), self.position["seq"]);
        assert_eq!(json!(position.revision), self.position["revision"]);
        assert_eq!(json!(position.hash), self.position["hash"], "the object's facts have another hash");
    }

    /// KV alone opens at its head: in the state of the object, or, where the object was ahead, in the one that leads to
    /// it by the rest of the object's log.
    fn check_kv(&self) {
        let mut copy = copy(&self.air(), &self.head(), PROFILE).expect("KV is enough").cluster;
        let mut state = copy.state().expect("it is open").clone();
        for record in self.cluster().records(self.head().seq, u64::MAX).expect("reading works") {
            replay(&mut state, &decode("an entry", &record.entry).expect("an entry is readable")).expect("it leads on");
        }
        assert_eq!(json!(digest::of_state(&state)), self.position["hash"], "KV's facts have another hash");
        let names = copy.note_names("").expect("the notes are readable");
        assert_eq!(names, self.cluster().note_names("").expect("the notes are readable"));
        assert_eq!(copy.mark().expect("it opens").revision, self.head().revision);
    }

    /// All entries since the first fold to the state of every snapshot on the way, and to the newest one.
    fn check_log(&self) {
        let (air, head) = (self.air(), self.head());
        let entries = air::run(history::entries_after(&air, &head, 0, PAGES)).expect("reading works");
        let entries = entries.expect("the whole log is there");
        let mut snapshots: Vec<_> = head.snapshot.iter().cloned().collect();
        let mut next = head.history.clone();
        while let Some(key) = next {
            let page: Page =
                decode(&key, &air::run(object(&air, &key)).expect("a page is there")).expect("it is readable");
            snapshots.extend(page.snapshot);
            next = page.previous;
        }
        assert!(!snapshots.is_empty(), "there is no snapshot");
        let mut state = State::default();
        for (seq, entry) in &entries {
            replay(&mut state, entry).expect("an old entry leads where it led");
            for snapshot in snapshots.iter().filter(|snapshot| snapshot.seq == *seq) {
                assert_eq!(digest::of_state(&state), snapshot.hash, "entry {seq} leads to another state");
            }
        }
        assert_eq!((state.revision, entries.len() as u64), (head.revision, head.seq));
    }

    /// Rounds and commands go on; what they lead to is stored, published and read as anything else.
    fn check_it_goes_on(&self) {
        let (disk, air) = (Disk::of_dump(&self.object), self.air());
        let mut cluster = Cluster::new(name(), PROFILE, disk.clone());
        let first = cluster.mark().expect("it opens").at.0 / SLOT_MS;
        for minute in first + 1..=first + MINUTES {
            let now = Timestamp(minute * SLOT_MS);
            cluster.run_slot(minute, now).expect("a round runs");
            if minute % 20 == 0 {
                let is_reported = cluster.with_state(|state| state.cluster.is_reported()).expect("it is open");
                let job = if is_reported { submission(minute) } else { bid(minute) };
                cluster.submit(&job, &sender(), now).expect("a job is accepted");
            }
            if minute % 50 == 0 {
                publish(&mut cluster, &air, now);
            }
            let difference = cluster.with_state(ledger::check::difference).expect("it is open");
            assert_eq!(difference, None, "after minute {minute}");
        }
        publish(&mut cluster, &air, Timestamp((first + MINUTES + 1) * SLOT_MS));
        let here = cluster.position().expect("it is open");
        assert_eq!(Cluster::new(name(), PROFILE, disk).position().expect("it opens again"), here);
        let head = air::run(history::head(&air, &name())).expect("reading works").expect("there is a head");
        assert_eq!(copy(&air, &head, PROFILE).expect("KV is enough").cluster.position(), Ok(here));
    }
}

/// A job that comes later, where jobs really run: there are no bids.
fn submission(minute: i64) -> Envelope {
    let pods = json!([{ "amount": { "gpu": 1000 } }]);
    let job = json!({ "job": format!("late-{minute}"), "quota": "W", "pods": pods });
    envelope(&format!("late-{minute}"), &json!({ "submit_job": job }))
}

/// A bid that comes later.
fn bid(minute: i64) -> Envelope {
    let job = json!({ "job": format!("late-{minute}"), "quota": null, "pods": [{ "amount": {} }],
        "spot": { "offer": "g7", "strategy": "as_price_goes" } });
    envelope(&format!("late-{minute}"), &json!({ "submit_job": job }))
}

fn publish(cluster: &mut Cluster<Disk>, air: &Air, now: Timestamp) {
    while let Some(publication) = cluster.seal(now).expect("sealing works") {
        air::run(publish::put(air, &publication)).expect("putting works");
        cluster.settle(&publication, now).expect("settling works");
    }
}

/// The directories of one directory, in order.
fn directories(of: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(of).unwrap_or_else(|error| panic!("{}: {error}", of.display()));
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.expect("it is readable").path()).collect();
    found.retain(|path| path.is_dir());
    found.sort();
    found
}

#[test]
fn what_earlier_versions_stored_opens() {
    let versions = directories(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stored"));
    assert!(!versions.is_empty());
    for cluster in versions.iter().flat_map(|version| directories(version)) {
        println!("{}", cluster.display());
        Fixture::read(&cluster).check();
    }
}

#[test]
fn a_bit_of_everything_was_stored() {
    for version in directories(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stored")) {
        let fixtures: Vec<Fixture> = directories(&version).iter().map(|cluster| Fixture::read(cluster)).collect();
        let missing = |word: &&str| {
            let quoted = format!("\"{word}\"");
            !fixtures.iter().any(|fixture| fixture.object.contains(&quoted) || fixture.kv.contains(&quoted))
        };
        let missing: Vec<&str> = EVERYWHERE.iter().flat_map(|words| words.split_whitespace()).filter(missing).collect();
        assert!(missing.is_empty(), "{} has no {missing:?}", version.display());
    }
}

#[test]
fn what_this_version_stores_opens() {
    let stored = Path::new(env!("CARGO_TARGET_TMPDIR")).join("stored");
    for (cluster, story) in [("simulated", simulated::simulated()), ("reported", reported::reported())] {
        let directory = stored.join(cluster);
        Fixture::of(story).write(&directory);
        Fixture::read(&directory).check();
    }
}
