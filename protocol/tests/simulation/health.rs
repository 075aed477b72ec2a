//! What is said of how a cluster does: each sign with its time and numbers, and none while nothing is wrong.
#![expect(clippy::unwrap_used, reason = "a panic is a failed test")]

use engine::unit::time::Millis;
use engine::unit::time::Timestamp;
use protocol::agents::contact::Contact;
use protocol::agents::contact::Contacts;
use protocol::cluster::Cluster;
use protocol::cluster::SLOT_MS;
use protocol::fault::Fault;
use protocol::health::Condition;
use protocol::health::Failed;
use protocol::health::Reason;
use protocol::health::Seen;
use protocol::history;
use protocol::limits::Limits;
use protocol::log::LogStore;
use protocol::log::Meta;
use protocol::log::Write;
use protocol::profile::Pace;
use protocol::profile::Profile;
use protocol::publish;
use protocol::publish::Due;
use protocol::publish::Occasion;
use serde_json::json;

use crate::air;
use crate::air::Air;
use crate::disk::Disk;
use crate::memory::START;
use crate::memory::founded;
use crate::memory::founded_on;
use crate::memory::publish;
use crate::memory::submission;
use crate::world::envelope;
use crate::world::name;
use crate::world::sender;

const MINUTE: i64 = Millis::MINUTE.0;

fn after(minutes: i64) -> Timestamp {
    Timestamp(START.0 + minutes * MINUTE)
}

fn told(cluster: &mut Cluster<Disk>, seen: &Seen, now: Timestamp) -> (Condition, Vec<Reason>) {
    let health = cluster.health(seen, now).unwrap();
    (health.state, health.reasons)
}

fn codes(cluster: &mut Cluster<Disk>, seen: &Seen, now: Timestamp) -> Vec<String> {
    told(cluster, seen, now).1.into_iter().map(|reason| reason.code.into_owned()).collect()
}

/// A cluster that is published, with its rounds up to a minute.
fn well(pace: Pace, minutes: i64) -> (Cluster<Disk>, Air) {
    let (mut cluster, air) = (founded(Profile { pace, ..Profile::default() }), Air::new(1));
    publish(&mut cluster, &air, START);
    (1..=minutes).for_each(|minute| tick(&mut cluster, minute));
    (cluster, air)
}

fn tick(cluster: &mut Cluster<Disk>, minute: i64) {
    cluster.run_slot(after(minute).0 / SLOT_MS, after(minute)).unwrap();
}

#[test]
fn nothing_is_said_of_a_cluster_that_does_well() {
    for pace in [Pace::EachRound, Pace::AtMostEvery(Millis(1_000))] {
        let (mut cluster, air) = well(pace, 10);
        // Rounds in which nothing happens wait for their head.
        assert_eq!(cluster.due(Occasion::Round, after(10)), Ok(Due::No));
        let shown = Some(air::run(history::head(&air, &name())));
        let seen = Seen { shown, memory_bytes: 40 << 20, stored_bytes: 1 << 20, ..Seen::default() };
        assert_eq!(told(&mut cluster, &seen, after(10)), (Condition::Ok, Vec::new()), "{pace:?}");
    }
}

#[test]
fn news_that_are_not_published_are_told_with_the_time_of_the_first() {
    let (mut cluster, air) = well(Pace::AtMostEvery(Millis(1_000)), 4);
    cluster.submit(&submission(1), &sender(), after(4)).unwrap();
    (5..=7).for_each(|minute| tick(&mut cluster, minute));
    let seen = Seen::default();
    assert!(codes(&mut cluster, &seen, Timestamp(after(6).0 + 1_000)).is_empty(), "a publication may be late");
    for is_new in [false, true] {
        if is_new {
            cluster.forget();
        }
        let (state, reasons) = told(&mut cluster, &seen, after(7));
        assert_eq!(state, Condition::Degraded);
        assert_eq!((&*reasons[0].code, reasons[0].since), ("publication_behind", Some(after(4))), "{is_new}");
        // Four empty rounds, the job, and three rounds.
        assert_eq!((reasons[0].figures["entries"], reasons[0].figures["seconds"]), (8, 180), "{is_new}");
    }
    // What has been put together and not put is not there either, whatever memory knows.
    let sealed = cluster.seal(after(7)).unwrap();
    assert!(sealed.is_some());
    cluster.submit(&submission(2), &sender(), after(7)).unwrap();
    cluster.forget();
    assert_eq!(told(&mut cluster, &seen, after(8)).1[0].since, Some(after(4)));
    publish(&mut cluster, &air, after(8));
    assert!(codes(&mut cluster, &seen, after(9)).is_empty());
}

#[test]
fn what_is_in_a_snapshot_that_was_never_put_is_not_published_either() {
    let mut cluster = founded(Profile { snapshot_every: 1, ..Profile::default() });
    assert!(cluster.seal(after(1)).unwrap().is_some());
    cluster.forget();
    let (_, reasons) = told(&mut cluster, &Seen::default(), after(3) + Millis(2_000));
    assert_eq!((&*reasons[0].code, reasons[0].since), ("publication_behind", Some(after(1))));
}

#[test]
fn what_comes_while_a_publication_is_written_is_news_after_it() {
    let (mut cluster, air) = well(Pace::AtMostEvery(Millis(1_000)), 1);
    cluster.submit(&submission(1), &sender(), after(1)).unwrap();
    let publication = cluster.seal(after(2)).unwrap().unwrap();
    cluster.submit(&submission(2), &sender(), after(2) + Millis(5)).unwrap();
    air::run(publish::put(&air, &publication)).unwrap();
    cluster.settle(&publication, after(2) + Millis(9)).unwrap();
    (3..=5).for_each(|minute| tick(&mut cluster, minute));
    let (_, reasons) = told(&mut cluster, &Seen::default(), after(5));
    assert_eq!((&*reasons[0].code, reasons[0].since), ("publication_behind", Some(after(2))));
}

#[test]
fn a_past_that_is_missing_is_told_and_makes_nothing_worse() {
    let mut disk = Disk::default();
    drop(founded_on(&disk, Profile::default()));
    let gap = json!([{ "first": 3, "last": 7, "key": "c/demo/page/1", "reason": "is gone" }]);
    disk.commit(vec![Write::SetMeta(Meta::Missing, Some(gap.to_string()))]).unwrap();
    let mut cluster = Cluster::new(name(), Profile::default(), disk);
    let (state, reasons) = told(&mut cluster, &Seen::default(), after(1));
    assert_eq!((state, &*reasons[0].code, reasons[0].figures["entries"]), (Condition::Ok, "past_missing", 5));
    let unpublished = Failed { since: after(0), times: 1, reason: "no answer".to_owned() };
    let seen = Seen { unpublished: Some(unpublished), ..Seen::default() };
    let (state, reasons) = told(&mut cluster, &seen, after(1));
    let codes: Vec<&str> = reasons.iter().map(|reason| &*reason.code).collect();
    assert_eq!((state, codes), (Condition::Degraded, vec!["kv_fails", "past_missing"]));
}

#[test]
fn a_sparing_profile_may_be_later() {
    let mut cluster = founded(Profile::of_few_writes());
    (1..=9).for_each(|minute| tick(&mut cluster, minute));
    assert!(codes(&mut cluster, &Seen::default(), after(6)).is_empty());
    assert_eq!(codes(&mut cluster, &Seen::default(), after(9)), ["publication_behind"]);
}

#[test]
fn a_storage_without_a_log_is_lost_or_nothing() {
    let (_, air) = well(Pace::EachRound, 1);
    let mut empty = Cluster::new(name(), Profile::default(), Disk::default());
    let head = air::run(history::head(&air, &name()));
    let revision = head.clone().unwrap().unwrap().revision;
    let health = empty.health(&Seen { shown: Some(head), ..Seen::default() }, after(9)).unwrap();
    assert_eq!((health.state, &*health.reasons[0].code), (Condition::Lost, "storage_lost"));
    assert_eq!((health.reasons[0].since, health.reasons[0].figures["revision"]), (Some(START), revision));
    assert_eq!(empty.health(&Seen { shown: Some(Ok(None)), ..Seen::default() }, START), None, "there never was one");
    let silent = Fault::Kv { key: "c/demo/head".to_owned(), reason: "no answer".to_owned() };
    let (state, reasons) = told(&mut empty, &Seen { shown: Some(Err(silent)), ..Seen::default() }, START);
    assert_eq!((state, &*reasons[0].code), (Condition::Lost, "kv_unreadable"));
}

#[test]
fn a_log_that_cannot_be_read_is_lost() {
    let (_, air) = well(Pace::EachRound, 1);
    let head = air::run(history::head(&air, &name())).unwrap().unwrap();
    let mut other = Cluster::new(name(), Profile::default(), Disk::default());
    other.begin_restore(head, None, true, 0).unwrap();
    let (state, reasons) = told(&mut other, &Seen::default(), START);
    assert_eq!((state, &*reasons[0].code), (Condition::Lost, "restoring"));
    assert_eq!(reasons[0].figures["read"], 0);

    let mut disk = Disk::default();
    drop(founded_on(&disk, Profile::default()));
    disk.commit(vec![Write::SetMeta(Meta::Published, Some("{".to_owned()))]).unwrap();
    let mut broken = Cluster::new(name(), Profile::default(), disk);
    let (state, reasons) = told(&mut broken, &Seen::default(), START);
    assert_eq!((state, &*reasons[0].code), (Condition::Lost, "log_damaged"));
}

#[test]
fn a_clock_that_stands_is_told_even_if_it_never_went() {
    let (mut cluster, _) = well(Pace::EachRound, 5);
    let slot = Timestamp(after(5).0 / SLOT_MS * SLOT_MS);
    assert!(codes(&mut cluster, &Seen::default(), slot + Millis(3 * MINUTE)).is_empty());
    let (_, reasons) = told(&mut cluster, &Seen::default(), slot + Millis(5 * MINUTE));
    assert_eq!((&*reasons[0].code, reasons[0].since), ("rounds_missed", Some(slot)));
    assert_eq!(reasons[0].figures["minutes"], 5);
    let (mut cluster, _) = well(Pace::EachRound, 0);
    cluster.submit(&submission(1), &sender(), after(4)).unwrap();
    assert_eq!(codes(&mut cluster, &Seen::default(), after(4)), ["rounds_missed"]);
}

#[test]
fn what_only_the_host_has_seen_is_told() {
    let (mut cluster, air) = well(Pace::EachRound, 10);
    let now = after(10);
    let mut only = |seen: Seen| told(&mut cluster, &seen, now).1.into_iter().next();
    let unpublished = Failed { since: after(9), times: 3, reason: "no quota".to_owned() };
    let reason = only(Seen { unpublished: Some(unpublished), ..Seen::default() }).unwrap();
    assert_eq!((&*reason.code, reason.since, reason.figures["failures"]), ("kv_fails", Some(after(9)), 3));
    assert!(reason.message.contains("no quota"));

    let head = air::run(history::head(&air, &name())).unwrap();
    assert_eq!(only(Seen { shown: Some(Ok(head)), ..Seen::default() }), None);
    let gone = only(Seen { shown: Some(Ok(None)), ..Seen::default() }).unwrap();
    assert_eq!((&*gone.code, gone.figures["shown"]), ("head_lost", 0));
    let silent = Fault::Kv { key: "k".to_owned(), reason: "no answer".to_owned() };
    assert_eq!(&*only(Seen { shown: Some(Err(silent)), ..Seen::default() }).unwrap().code, "kv_unreadable");

    let damage = |at| Seen { damage: Some((at, "c/demo/log/1".to_owned())), ..Seen::default() };
    assert_eq!(&*only(damage(after(0))).unwrap().code, "damage");
    assert_eq!(only(damage(Timestamp(now.0 - Millis::HOUR.0 - 1))), None, "it is told for an hour");

    let full = only(Seen { memory_bytes: 120 << 20, ..Seen::default() }).unwrap();
    assert_eq!((&*full.code, full.figures["limit"]), ("near_limit", 128 << 20));
    assert_eq!(&*only(Seen { stored_bytes: 10 << 30, ..Seen::default() }).unwrap().code, "near_limit");

    let contact = |missed| Contact { missed, ..Contact::default() };
    let contacts = [("a", None), ("b", Some(after(8))), ("c", Some(after(7)))];
    let contacts: Contacts = contacts.into_iter().map(|(name, missed)| (name.to_owned(), contact(missed))).collect();
    let missed = only(Seen { contacts, ..Seen::default() }).unwrap();
    assert_eq!((&*missed.code, missed.since, missed.figures["agents"]), ("agents_missed", Some(after(7)), 2));
}

#[test]
fn the_worst_comes_first_and_decides() {
    let (mut cluster, _) = well(Pace::EachRound, 1);
    let unpublished = Failed { since: after(9), times: 3, reason: "no quota".to_owned() };
    let seen = Seen { unpublished: Some(unpublished), ..Seen::default() };
    assert_eq!(codes(&mut cluster, &seen, after(10)), ["kv_fails", "rounds_missed"]);
}

#[test]
fn jobs_near_their_limit_are_told_by_their_number_alone() {
    let limits = Limits { jobs_of_cluster: 100, ..Limits::USUAL };
    let mut cluster = founded(Profile { limits, ..Profile::default() });
    for number in 0..90 {
        assert!(codes(&mut cluster, &Seen::default(), START).is_empty(), "{number}");
        cluster.submit(&submission(number), &sender(), START).unwrap();
    }
    let (_, reasons) = told(&mut cluster, &Seen::default(), START);
    assert_eq!((&*reasons[0].code, reasons[0].figures["used"]), ("near_limit", 90));
    let text = serde_json::to_string(&reasons).unwrap();
    assert!(!text.contains("job-"), "{text}");
}

#[test]
fn silent_nodes_are_told() {
    let mut cluster = Cluster::new(name(), Profile::default(), Disk::default());
    cluster.found(None, None).unwrap();
    let commands = [
        json!({ "create_cluster": { "dimensions": [{ "name": "gpu", "kind": "gpu" }], "execution": "reported" } }),
        json!({ "put_group": { "group": "machines", "resource_type": "lingjun" } }),
        json!({ "put_node": { "node": "n1", "group": "machines", "amount": { "gpu": 8000 } } }),
        json!({ "node_silent": { "node": "n1", "since": START.0 } }),
    ];
    for (at, command) in commands.iter().enumerate() {
        cluster.submit(&envelope(&format!("c{at}"), command), &sender(), after(1)).unwrap();
    }
    let (state, reasons) = told(&mut cluster, &Seen::default(), after(2));
    assert_eq!((state, &*reasons[0].code, reasons[0].since), (Condition::Degraded, "nodes_silent", Some(START)));
}
