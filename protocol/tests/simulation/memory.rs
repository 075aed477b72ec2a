//! What the log remembers, for how long, and what of it a reader gets.

use engine::message::envelope::Entry;
use engine::message::envelope::Envelope;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;
use protocol::cluster::Cluster;
use protocol::history;
use protocol::log::decode;
use protocol::past;
use protocol::past::Search;
use protocol::profile::Profile;
use protocol::publish;
use protocol::restore::Begun;
use serde_json::json;

use crate::air;
use crate::air::Air;
use crate::disk::Disk;
use crate::past::at_hand;
use crate::restored::copy;
use crate::restored::restore;
use crate::world::envelope;
use crate::world::founding;
use crate::world::name;
use crate::world::sender;

pub(crate) const START: Timestamp = Timestamp(1_700_000_000_000);

pub(crate) fn founded(profile: Profile) -> Cluster<Disk> {
    founded_on(&Disk::default(), profile)
}

pub(crate) fn founded_on(disk: &Disk, profile: Profile) -> Cluster<Disk> {
    let mut cluster = Cluster::new(name(), profile, disk.clone());
    cluster.found(None, None).expect("nothing is published");
    for envelope in founding() {
        cluster.submit(&envelope, &sender(), START).expect("the founding works");
    }
    cluster
}

pub(crate) fn submission(number: u32) -> Envelope {
    let job = json!({ "job": format!("job-{number}"), "quota": "a", "pods": [{ "amount": { "gpu": 1000 } }] });
    envelope(&format!("command-{number}"), &json!({ "submit_job": job }))
}

/// Everything that is committed is in the air.
pub(crate) fn publish(cluster: &mut Cluster<Disk>, air: &Air, now: Timestamp) {
    let publication = cluster.seal(now).expect("sealing works").expect("there is something to publish");
    air::run(publish::put(air, &publication)).expect("putting works");
    cluster.settle(&publication, now).expect("settling works");
}

#[test]
fn an_answer_is_remembered_for_as_long_as_the_profile_says() {
    let profile = Profile { answers_kept: Millis::HOUR, ..Profile::default() };
    let (mut cluster, air) = (founded(profile), Air::new(1));
    let late = START + Millis::HOUR + Millis(1);
    cluster.submit(&submission(1), &sender(), START).expect("it is accepted");
    let young = cluster.submit(&submission(2), &sender(), START + Millis(1)).expect("it is accepted");
    cluster.submit(&submission(3), &sender(), late).expect("it is accepted");
    publish(&mut cluster, &air, late);
    let again = cluster.submit(&submission(2), &sender(), late).expect("it is answered");
    assert_eq!((again.receipt, again.record), (young.receipt, None), "as old as the hour: the first answer");
    let new = cluster.submit(&submission(1), &sender(), late).expect("it is accepted");
    assert!(new.record.is_some(), "older than the hour: a new command");
    assert_eq!(new.receipt.events, [], "which finds the job there already");
    publish(&mut cluster, &air, late + Millis(1));
    let head = air::run(history::head(&air, &name())).expect("reading works").expect("there is a head");
    let mut copy = copy(&air, &head, profile).expect("KV is enough, although the log has the name twice").cluster;
    let again = copy.submit(&submission(1), &sender(), late).expect("it is answered");
    assert_eq!((again.receipt, again.record), (new.receipt, None), "the newer answer");
}

#[test]
fn a_restore_never_takes_readers_back() {
    let (mut cluster, air) = (founded(Profile::default()), Air::new(1));
    publish(&mut cluster, &air, START);
    let head = air::run(history::head(&air, &name())).expect("reading works").expect("there is a head");
    let again = |cluster: &mut Cluster<Disk>, shown| restore(cluster, &air, &head, true, shown);
    let shown = cluster.submit(&submission(1), &sender(), START).expect("it is accepted").receipt.revision;
    let restored = head.revision;
    assert!(restored < shown);
    assert_eq!(again(&mut cluster, 0), Ok(Begun::Behind { shown, restored }), "the log has been further");
    assert_eq!(cluster.mark().expect("reading works").revision, shown, "nothing has changed");
    let mut empty = Cluster::new(name(), Profile::default(), Disk::default());
    assert_eq!(again(&mut empty, shown), Ok(Begun::Behind { shown, restored }), "KV has been further");
    assert_eq!(again(&mut empty, restored), Ok(Begun::Yes), "as far as readers have seen");
}

#[test]
fn rows_are_read_from_a_revision_on() {
    let profile = Profile { snapshot_every: 8, entries_kept: 4, ..Profile::default() };
    let (mut cluster, air) = (founded(profile), Air::new(1));
    let mut revisions = Vec::new();
    for number in 0..10 {
        // Every second command is one that changes nothing.
        let envelope = Envelope { id: submission(100 + number).id, ..submission(number / 2) };
        revisions.push(cluster.submit(&envelope, &sender(), START).expect("it is accepted").receipt.revision);
    }
    let after = |cluster: &mut Cluster<Disk>, revision, count| {
        let records = cluster.records_after(revision, count).expect("reading works");
        records.map(|records| records.iter().map(|record| record.revision).collect::<Vec<_>>())
    };
    assert_eq!(after(&mut cluster, revisions[4], 3), Some(revisions[6..9].to_vec()));
    assert_eq!(after(&mut cluster, revisions[9], 3), Some(Vec::new()));
    assert_eq!(after(&mut cluster, 0, 100).map(|all| all.len()), Some(founding().len() + 10));
    publish(&mut cluster, &air, START);
    assert_eq!(after(&mut cluster, revisions[1], 3), None, "those rows are gone");
    assert_eq!(after(&mut cluster, revisions[7], 9), Some(revisions[8..].to_vec()));
    let row = cluster.record_of(revisions[8]).expect("reading works").expect("it is there");
    assert_eq!((row.revision, row.id.as_str()), (revisions[8], "command-108"));
}

#[test]
fn a_reader_folds_what_is_new_to_the_same_state() {
    let (mut cluster, air) = (founded(Profile::default()), Air::new(1));
    let mut known = None;
    for number in 0..40 {
        let now = START + Millis(i64::from(number));
        cluster.submit(&submission(number), &sender(), now).expect("it is accepted");
        publish(&mut cluster, &air, now);
        let head = air::run(history::head(&air, &name())).expect("reading works").expect("there is a head");
        let n_read = air.n_reads();
        let folded = air::run(history::fold(&air, &head, known.take())).expect("KV is enough");
        let n_read = air.n_reads() - n_read;
        let is_merged = head.segments.len() == 1;
        assert!(n_read == 1 || is_merged, "{n_read} objects were read for one new segment");
        let anew = air::run(history::fold(&air, &head, None)).expect("KV is enough");
        assert_eq!(folded.state, anew.state);
        known = Some(folded);
    }
}

#[test]
fn the_past_is_whole_although_the_log_has_dropped_some() {
    let profile = Profile { snapshot_every: 8, entries_kept: 4, segments_max: 2, ..Profile::default() };
    let (mut cluster, air) = (founded(profile), Air::new(1));
    let mut sent: Vec<(String, u64)> = Vec::new();
    for number in 0..40 {
        let done = cluster.submit(&submission(number), &sender(), START).expect("it is accepted");
        sent.push((done.receipt.id.to_string(), done.receipt.revision));
        if number % 3 == 0 {
            publish(&mut cluster, &air, START);
        }
    }
    let head = cluster.published().expect("reading works").expect("there is a head");
    let records = cluster.records(0, u64::MAX).expect("reading works");
    assert!(records[0].seq > 1, "the log has dropped something");
    let entry = |text: &str| decode::<Entry>("an entry", text).expect("it is readable");
    let own = || records.iter().map(|record| (record.seq, entry(&record.entry))).collect::<Vec<_>>();
    let submitted = |entry: &Entry| entry.envelope.id.as_str().starts_with("command-");
    for before in [0, sent[0].1, sent[10].1, records[0].revision, head.revision, u64::MAX] {
        let newest = past::newest_with(&air, Some(&head), own(), before, 100);
        let (entries, is_whole) = at_hand(air::run(newest).expect("reading works"));
        let seen: Vec<_> = entries.iter().map(|(_, entry)| entry).filter(|entry| submitted(entry)).collect();
        let seen: Vec<_> = seen.iter().map(|entry| (entry.envelope.id.to_string(), entry.revision)).collect();
        let due: Vec<_> = sent.iter().filter(|(_, revision)| *revision <= before).cloned().collect();
        assert_eq!((seen, is_whole), (due, true), "up to revision {before}");
        assert!(entries.iter().zip(1..).all(|((seq, _), due)| *seq == due), "each entry once, in order");
    }
    let mut search = Search::new(3, u64::MAX, submitted);
    at_hand(air::run(past::find(&air, &head, records[0].seq - 1, 100, &mut search)).expect("reading works"));
    let found: Vec<_> = search.found().iter().map(|entry| entry.revision).collect();
    let due = sent.iter().rev().map(|(_, revision)| *revision).filter(|revision| *revision < records[0].revision);
    assert_eq!(found, due.take(3).collect::<Vec<_>>(), "the newest ones first");
}
