//! Notes that are as large as their senders can make them: heads go out all the same, with all of them.

use std::collections::BTreeMap;

use engine::unit::time::Millis;
use protocol::cluster::Cluster;
use protocol::fault::Failure;
use protocol::history;
use protocol::log::LogStore;
use protocol::log::Write;
use protocol::note;
use protocol::note::Note;
use protocol::note::NoteChange;
use protocol::noted;
use protocol::pack;
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
use crate::memory::submission;
use crate::world::name;
use crate::world::sender;

/// Bytes of the largest value that is written to KV: a pack and a note more. KV takes 25 MiB.
const VALUE_BYTES_MAX: usize = 5 * 1024 * 1024;
/// Bytes that one publication holds at once.
const PUBLICATION_BYTES_MAX: usize = 12 * 1024 * 1024;

/// Names that are in one bucket: who knows the digest chooses them.
fn names() -> impl Iterator<Item = String> + Clone {
    (0_u32..).map(|number| format!("service/{number}")).filter(|name| note::bucket(name) == 0)
}

/// Publishes until nothing is left to do, so many bytes at once at most, and tells the notes that KV has then.
fn published(cluster: &mut Cluster<Disk>, air: &Air, bytes_max: usize) -> BTreeMap<String, String> {
    let mut now = START + Millis::MINUTE;
    for _ in 0..100 {
        now = now + Millis(2_000);
        if cluster.due(Occasion::Command, now).expect("it is known") == Due::No {
            let head = air::run(history::head(air, &name())).expect("reading works").expect("there is a head");
            assert_eq!(head.revision, cluster.mark().expect("reading works").revision, "the head is the newest");
            let notes = air::run(pack::read(air, &head)).expect("all notes are there");
            return notes.into_iter().map(|Note { name, text }| (name, text)).collect();
        }
        let publication = cluster.seal(now).expect("it can be sealed").expect("there is something to publish");
        let sizes = publication.objects.iter().map(|(_, text)| text.len());
        assert!(sizes.clone().max() <= Some(VALUE_BYTES_MAX), "{:?}", sizes.max());
        assert!(sizes.clone().sum::<usize>() <= bytes_max, "{}", sizes.sum::<usize>());
        air::run(publish::put(air, &publication)).expect("putting works");
        cluster.settle(&publication, now).expect("settling works");
    }
    panic!("publication does not come to an end")
}

/// What is kept of a service whose name is made of backslashes.
fn service(number: u32) -> String {
    json!({ "Name": "\\".repeat(noted::NOTE_BYTES_MAX / 2 - 100), "Number": format!("{number:05}") }).to_string()
}

#[test]
fn services_with_names_of_backslashes_hold_up_no_head() {
    let (mut cluster, air) = (founded(Profile::default()), Air::new(1));
    let mut kept = BTreeMap::new();
    let mut refused = Vec::new();
    for (number, name) in (0..).zip(names().take(520)) {
        let note = Note { name: name.clone(), text: service(number) };
        match cluster.keep_notes(&[NoteChange::Put(note.clone())]) {
            Ok(()) => drop(kept.insert(name, note.text)),
            Err(Failure::Refused(rejection)) => refused.push(rejection.to_string()),
            Err(failure) => panic!("{failure}"),
        }
    }
    assert!(kept.len() > 50 && !refused.is_empty(), "{} kept", kept.len());
    assert!(refused[0].contains("bytes of notes in one bucket"), "{}", refused[0]);
    cluster.submit(&submission(1), &sender(), START).expect("others go on");
    assert_eq!(published(&mut cluster, &air, PUBLICATION_BYTES_MAX), kept);
    let first = names().next().expect("there is one");
    let less = Note { name: first.clone(), text: "{}".to_owned() };
    assert_eq!(cluster.keep_notes(&[NoteChange::Put(less)]), Ok(()), "a full bucket takes what makes it smaller");
    kept.insert(first, "{}".to_owned());
    assert_eq!(published(&mut cluster, &air, PUBLICATION_BYTES_MAX), kept);
}

#[test]
fn a_bucket_that_an_earlier_version_has_filled_is_published_in_pieces() {
    let (mut disk, air) = (Disk::default(), Air::new(1));
    let mut cluster = founded_on(&disk, Profile::default());
    let mut kept: BTreeMap<String, String> =
        names().take(520).zip(0..).map(|(name, number)| (name, service(number))).collect();
    let put = |(name, text): (&String, &String)| {
        Write::ChangeNote(NoteChange::Put(Note { name: name.clone(), text: text.clone() }))
    };
    disk.commit(&kept.iter().map(put).collect::<Vec<_>>()).expect("it is stored");
    cluster.forget();
    // Again and again, so that packs are taken into others.
    for number in 0..8_u32 {
        let name = format!("job/{}", number % 3);
        let note = Note { name: name.clone(), text: service(number) };
        cluster.keep_notes(&[NoteChange::Put(note.clone())]).expect("other buckets have room");
        kept.insert(name, note.text);
        let now = START + Millis(i64::from(number) * 2_000) + Millis::HOUR;
        let publication = cluster.seal(now).expect("it can be sealed").expect("there is something to publish");
        air::run(publish::put(&air, &publication)).expect("putting works");
        cluster.settle(&publication, now).expect("settling works");
    }
    assert_eq!(published(&mut cluster, &air, usize::MAX), kept);
}
