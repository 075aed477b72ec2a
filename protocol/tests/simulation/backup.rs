//! A cluster becomes a file, and the file the same cluster, under its name or under another one: with the same state, the
//! same notes, the same answers and the same past. What is damaged is named, and half of it is no cluster.
#![expect(clippy::unwrap_used, reason = "a panic is a failed test")]

use std::io::Cursor;

use engine::unit::time::Timestamp;
use protocol::backup::Opened;
use protocol::backup::Renaming;
use protocol::backup::Saving;
use protocol::cluster::Cluster;
use protocol::document::Head;
use protocol::fault::Fault;
use protocol::history;
use protocol::kv::KvStore;
use protocol::name::ClusterName;
use protocol::restore::Begun;

use crate::air;
use crate::air::Air;
use crate::disk::Disk;
use crate::past;
use crate::profile;
use crate::restored::lived;
use crate::restored::restore;
use crate::world::name;
use crate::world::notes;
use crate::world::sender;

const SEEDS: u64 = 3;
const STEPS: u32 = 70;
/// Damage is looked for in all of a file, for each of its objects.
const FEW_STEPS: u32 = 30;

/// The file of what a head stands for.
fn saved(air: &Air, head: &Head, since: Option<Timestamp>) -> Result<Vec<u8>, Fault> {
    let mut saving = Saving::of(head.clone(), since)?;
    let mut file = saving.begin()?;
    while let Some(key) = saving.wants().map(str::to_owned) {
        let text = air::run(air.get(&key))?;
        file.push_str(&saving.take(text)?);
    }
    Ok((file + &saving.end()?).into_bytes())
}

fn opened(file: &[u8]) -> Result<Opened<Cursor<Vec<u8>>>, Fault> {
    Opened::read(Cursor::new(file.to_vec()))
}

/// Puts a file's objects into KV as those of a cluster, at most so many. Answers the key of the last one.
fn put(air: &Air, file: &[u8], to: &ClusterName, count: usize) -> String {
    let (mut opened, mut renaming) = (opened(file).unwrap(), Renaming::to(to.clone()));
    let mut last = String::new();
    for number in 0..count.min(opened.objects()) {
        let (key, text) = opened.object(number).unwrap().unwrap();
        let (key, text) = renaming.object(&key, text).unwrap();
        assert!(key.starts_with(&to.start()), "{key}");
        air::run(air.put(&key, &text)).unwrap();
        last = key;
    }
    last
}

/// The cluster that comes of a file.
fn loaded(air: &Air, file: &[u8], to: &ClusterName, seed: u64) -> Cluster<Disk> {
    let key = put(air, file, to, usize::MAX);
    let head = air::run(history::given_up(air, to, &key)).unwrap().unwrap();
    let mut cluster = Cluster::new(to.clone(), profile(seed), Disk::default());
    assert_eq!(restore(&mut cluster, air, &head, false, 0), Ok(Begun::Yes));
    cluster
}

/// Publishes what is due.
fn publish(cluster: &mut Cluster<Disk>, air: &Air, mut now: Timestamp) {
    for _ in 0..10 {
        now = Timestamp(now.0 + 2_000);
        let Some(publication) = cluster.seal(now).unwrap() else { return };
        air::run(protocol::publish::put(air, &publication)).unwrap();
        cluster.settle(&publication, now).unwrap();
    }
    panic!("it does not come to an end");
}

#[test]
fn a_file_becomes_the_same_cluster_under_any_name() {
    let (mut n_pages, mut n_retries) = (0, 0);
    for seed in 0..SEEDS {
        let (mut world, head) = lived(seed, STEPS);
        let (here, kept) = (world.cluster.position().unwrap(), notes(&world.cluster));
        let file = saved(&world.air, &head, None).unwrap();
        n_pages += String::from_utf8(file.clone()).unwrap().matches("\n{\"object\":{\"key\":\"c/demo/page/").count();
        let whole = opened(&file).unwrap();
        assert_eq!((&whole.hash, whole.notes), (&here.hash, kept.len() as u64), "seed {seed}");
        assert_eq!(whole.missing, []);
        for to in ["demo", "other"] {
            let (air, to) = (Air::new(seed), ClusterName::new(to).unwrap());
            let mut cluster = loaded(&air, &file, &to, seed);
            assert_eq!(cluster.position(), Ok(here.clone()), "seed {seed} as {to}");
            assert_eq!((notes(&cluster), cluster.missing()), (kept.clone(), Ok(Vec::new())), "seed {seed} as {to}");
            for envelope in &world.sent {
                let Some(first) = world.acknowledged.get(envelope.id.as_str()) else { continue };
                let again = cluster.submit(envelope, &sender(), world.now).unwrap();
                assert_eq!((&again.receipt, again.record), (first, None), "seed {seed} as {to}");
                n_retries += 1;
            }
            // It shows itself, and stands on nothing of the other one.
            publish(&mut cluster, &air, world.now);
            let shown = air::run(history::head(&air, &to)).unwrap().unwrap();
            assert_eq!((shown.revision, &shown.cluster), (here.revision, &to.to_string()));
            assert!(air.keys().iter().all(|key| key.starts_with(&to.start())));
            past::check(&air, &shown, &world.entries, &mut world.random);
            let again = saved(&air, &shown, None).unwrap();
            assert_eq!(opened(&again).unwrap().hash, here.hash, "seed {seed} as {to}: saved again");
        }
    }
    assert!(n_pages > 4 && n_retries > 200, "{n_pages} pages, {n_retries} retries");
}

#[test]
fn half_of_it_is_no_cluster_and_the_rest_can_follow() {
    let (mut world, head) = lived(3, STEPS);
    let file = saved(&world.air, &head, None).unwrap();
    let n_objects = opened(&file).unwrap().objects();
    for count in [0, 1, n_objects / 2, n_objects - 1, n_objects] {
        let air = Air::new(1);
        let last = put(&air, &file, &name(), count);
        assert_eq!(air::run(history::head(&air, &name())), Ok(None), "{count} of {n_objects} objects show nothing");
        assert_eq!(last.contains("/given-up/"), count == n_objects, "the head is the last one");
        let mut cluster = loaded(&air, &file, &name(), 3);
        assert_eq!(cluster.position(), world.cluster.position());
    }
}

#[test]
fn a_cluster_that_is_there_stays_as_it_is() {
    let (world, head) = lived(4, STEPS);
    let file = saved(&world.air, &head, None).unwrap();
    let (mut other, _) = lived(5, STEPS);
    let here = other.cluster.position().unwrap();
    let shown = air::run(history::head(&other.air, &name())).unwrap().unwrap();
    let key = put(&other.air, &file, &name(), usize::MAX);
    let head = air::run(history::given_up(&other.air, &name(), &key)).unwrap().unwrap();
    let outcome = restore(&mut other.cluster, &other.air, &head, false, shown.revision);
    assert_eq!(outcome, Ok(Begun::Different(here.clone())));
    assert_eq!(other.cluster.position(), Ok(here));
    assert_eq!(air::run(history::head(&other.air, &name())), Ok(Some(shown)));
}

/// Each object in each way: what is told has its key or its place, and nothing is taken for whole that is not.
#[test]
fn damage_is_named_with_its_place() {
    let (world, head) = lived(6, FEW_STEPS);
    let file = String::from_utf8(saved(&world.air, &head, None).unwrap()).unwrap();
    let begins: Vec<usize> =
        file.match_indices("{\"object\":{").map(|(at, _)| at).filter(|at| file[..*at].ends_with('\n')).collect();
    let ends = begins[1..].iter().copied().chain([file.rfind("{\"end\":").unwrap()]);
    let objects: Vec<(usize, usize)> = begins.iter().copied().zip(ends).collect();
    assert!(objects.len() > 20);
    let told = |text: String| opened(text.as_bytes()).map(|opened| opened.hash).unwrap_err().to_string();
    for (number, (begin, end)) in objects.iter().copied().enumerate() {
        let line = &file[begin..begin + file[begin..].find('\n').unwrap()];
        let key = line.split('"').nth(5).unwrap();
        let middle = begin + line.len() + (end - begin - line.len()) / 2;
        let middle = file.floor_char_boundary(middle);
        let changed = told(format!("{}~{}", &file[..middle], &file[middle + 1..]));
        assert!(
            changed.contains(key) && changed.contains(&format!("byte {begin} (object {}", number + 1)),
            "{changed}"
        );
        let cut = told(file[..middle].to_owned());
        assert!(cut.contains(key) && cut.contains("the file ends after"), "{cut}");
        let without = told(format!("{}{}", &file[..begin], &file[end..]));
        assert!(without.contains("and there should be") || without.contains("has no objects"), "{without}");
        // Somebody leaves an object out and counts anew: who names it is told, or nobody reads it without the head.
        let count = format!("{{\"end\":{{\"objects\":{}", objects.len());
        let counted = format!("{{\"end\":{{\"objects\":{}", objects.len() - 1);
        let forged = told(format!("{}{}", &file[..begin], &file[end..]).replace(&count, &counted));
        assert!(forged.contains(key) || number + 1 == objects.len() || key.contains("/page/"), "{key}: {forged}");
    }
    for (text, words) in [
        (String::new(), "line 1"),
        ("{}\n".to_owned(), "tidegate backup save"),
        (file.replace("{\"tidegate_backup\":{\"format\":1", "{\"tidegate_backup\":{\"format\":2"), "has format 2"),
        (file.clone() + "x", "something follows the end"),
        (file[..file.len() - 1].to_owned(), "without the line that ends a backup"),
        (file.replacen("\"bytes\":", "\"bytes\":9", 1), "object 1"),
    ] {
        let told = told(text);
        assert!(told.contains(words), "{told}");
    }
}

/// All keys that a head names, directly and through pages.
fn named_by(air: &Air, head: &Head) -> Vec<String> {
    let mut saving = Saving::of(head.clone(), None).unwrap();
    let mut keys = Vec::new();
    while let Some(key) = saving.wants().map(str::to_owned) {
        saving.take(Some(air.value(&key))).unwrap();
        keys.push(key);
    }
    keys
}

#[test]
fn what_is_gone_of_the_past_is_said_and_what_the_state_needs_is_wanted() {
    let (world, head) = lived(7, FEW_STEPS);
    let kept = notes(&world.cluster);
    let newest: Vec<String> = head.keys().filter(|key| !key.contains("/page/")).map(str::to_owned).collect();
    let (mut n_past, mut n_needed) = (0, 0);
    for key in named_by(&world.air, &head) {
        let air = Air::of_dump(&world.air.dump());
        air.lose(|lost| lost == key);
        match saved(&air, &head, None) {
            Err(fault) => {
                assert_eq!(fault, Fault::Missing { key: key.clone() });
                assert!(newest.contains(&key));
                n_needed += 1;
            }
            Ok(file) => {
                let whole = opened(&file).unwrap();
                n_past += usize::from(whole.missing.iter().any(|missing| missing.key == key));
                let cluster = loaded(&Air::new(1), &file, &ClusterName::new("other").unwrap(), 7);
                assert_eq!(notes(&cluster), kept, "without {key}");
            }
        }
    }
    assert_eq!(n_needed, newest.len());
    assert!(n_past > 4, "{n_past}");
}

#[test]
fn less_of_the_past_can_be_saved() {
    let (mut world, head) = lived(2, STEPS);
    let all = saved(&world.air, &head, None).unwrap();
    let some = saved(&world.air, &head, Some(Timestamp(head.at.0 - 300_000))).unwrap();
    let none = saved(&world.air, &head, Some(head.at)).unwrap();
    assert!(none.len() < some.len() && some.len() < all.len(), "{} {} {}", none.len(), some.len(), all.len());
    for file in [some, none] {
        let mut cluster = loaded(&Air::new(1), &file, &ClusterName::new("other").unwrap(), 2);
        assert_eq!(cluster.position(), world.cluster.position());
        // What answers still needed of the past is known to be missing.
        assert!(!cluster.missing().unwrap().is_empty());
    }
}
