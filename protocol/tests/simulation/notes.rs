//! Notes that are as large as their senders can make them: heads go out all the same, with all of them.

use std::collections::BTreeMap;

use engine::transition::Sender;
use engine::unit::id::UserId;
use engine::unit::time::Millis;
use protocol::cluster::Cluster;
use protocol::fault::Failure;
use protocol::history;
use protocol::limits::Limits;
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
use crate::restored::copy;
use crate::world::envelope;
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
            return notes.into_iter().map(|note| (note.name, note.text)).collect();
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
        let note = Note::new(name.clone(), service(number));
        match cluster.keep_notes(&[NoteChange::Put(note.clone())], &sender()) {
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
    let less = Note::new(first.clone(), "{}".to_owned());
    assert_eq!(
        cluster.keep_notes(&[NoteChange::Put(less)], &sender()),
        Ok(()),
        "a full bucket takes what makes it smaller"
    );
    kept.insert(first, "{}".to_owned());
    assert_eq!(published(&mut cluster, &air, PUBLICATION_BYTES_MAX), kept);
}

#[test]
fn a_bucket_that_an_earlier_version_has_filled_is_published_in_pieces() {
    let (mut disk, air) = (Disk::default(), Air::new(1));
    let mut cluster = founded_on(&disk, Profile::default());
    let mut kept: BTreeMap<String, String> =
        names().take(520).zip(0..).map(|(name, number)| (name, service(number))).collect();
    let put =
        |(name, text): (&String, &String)| Write::ChangeNote(NoteChange::Put(Note::new(name.clone(), text.clone())));
    disk.commit(kept.iter().map(put).collect()).expect("it is stored");
    cluster.forget();
    // Again and again, so that packs are taken into others.
    for number in 0..8_u32 {
        let name = format!("job/{}", number % 3);
        let note = Note::new(name.clone(), service(number));
        cluster.keep_notes(&[NoteChange::Put(note.clone())], &sender()).expect("other buckets have room");
        kept.insert(name, note.text);
        let now = START + Millis(i64::from(number) * 2_000) + Millis::HOUR;
        let publication = cluster.seal(now).expect("it can be sealed").expect("there is something to publish");
        air::run(publish::put(&air, &publication)).expect("putting works");
        cluster.settle(&publication, now).expect("settling works");
    }
    assert_eq!(published(&mut cluster, &air, usize::MAX), kept);
}

/// Keeps a note that is as large as may be.
fn kept_by(cluster: &mut Cluster<Disk>, who: &Sender, number: u64, name: &str) -> Result<(), String> {
    let text = json!({ "Description": "d".repeat(noted::NOTE_BYTES_MAX - 100), "Number": number }).to_string();
    let note = NoteChange::Put(Note::new(name.to_owned(), text));
    cluster.keep_notes(&[note], who).map_err(|failure| failure.to_string())
}

fn user(name: &str) -> Sender {
    Sender { user: UserId::new(name).expect("a good name"), administers: false }
}

#[test]
fn who_chooses_names_in_one_bucket_leaves_room_for_others() {
    let mut cluster = founded(Profile::default());
    let mut names = names();
    let refused = loop {
        let name = names.next().expect("there are more");
        if let Err(refused) = kept_by(&mut cluster, &user("ann"), 1, &name) {
            break refused;
        }
    };
    let told = "bytes of notes of user ann in one bucket (use shorter command lines and descriptions, or cancel jobs and \
                delete what is not needed; notes of ended jobs go when the jobs are forgotten) are more than the 1048576 \
                allowed";
    assert!(refused.ends_with(told), "{refused}");
    let mut kept = |who: &Sender| {
        let kept = names.clone().skip(100).step_by(2);
        kept.take_while(|name| kept_by(&mut cluster, who, 2, name).is_ok()).count()
    };
    assert!(kept(&user("bob")) >= 30, "others have a share of their own");
}

#[test]
fn the_notes_of_a_user_are_bounded_wherever_they_are() {
    let limit = 40 * noted::NOTE_BYTES_MAX as u64;
    let limits = Limits { note_bytes_of_user: limit, ..Limits::USUAL };
    let (mut disk, air) = (Disk::default(), Air::new(1));
    let mut cluster = founded_on(&disk, Profile { limits, ..Profile::default() });
    let (ann, bob) = (user("ann"), user("bob"));
    let name = |number: u64| format!("service/{number}");
    let fill =
        |cluster: &mut Cluster<Disk>| (0..).find_map(|number| kept_by(cluster, &ann, number, &name(number)).err());
    let refused = fill(&mut cluster).expect("there is an end");
    assert!(refused.contains("bytes of notes of user ann (") && refused.contains(&limit.to_string()), "{refused}");
    assert_eq!(disk.owned_bytes(&ann.user, None).map(|bytes| bytes <= limit && bytes > limit - 40_000), Ok(true));
    // What was kept is what is counted, also by who has just begun and after a restore.
    cluster.forget();
    let again = kept_by(&mut cluster, &ann, 1_000, "service/1000");
    assert!(again.is_err());
    let notes = published(&mut cluster, &air, PUBLICATION_BYTES_MAX);
    assert!(!notes.is_empty());
    let head = air::run(history::head(&air, &crate::world::name())).expect("reading works").expect("there is a head");
    let mut copy = copy(&air, &head, cluster.profile).expect("it can be restored").cluster;
    assert_eq!(kept_by(&mut copy, &ann, 1_000, "service/1000"), again);
    assert_eq!(kept_by(&mut copy, &bob, 1_000, "service/1000"), Ok(()));
    // Who drops something, or makes it smaller, has room again, for as much and no more.
    let less = NoteChange::Put(Note::new(name(0), "{}".to_owned()));
    cluster.keep_notes(&[less, NoteChange::Drop(name(1))], &ann).expect("less is no more");
    for number in [2_000, 2_001] {
        assert_eq!(kept_by(&mut cluster, &ann, number, &name(number)), Ok(()));
    }
    assert!(kept_by(&mut cluster, &ann, 2_002, &name(2_002)).is_err());
    // What an administrator keeps for a user counts for that user, and otherwise for nobody.
    let job = json!({ "job": "for-ann", "quota": "a", "user": "ann", "pods": [{ "amount": { "gpu": 1000 } }] });
    let note = || [NoteChange::Put(Note::new("job/for-ann".to_owned(), "n".repeat(30_000)))];
    let submission = envelope("for-ann", &json!({ "submit_job": job }));
    assert!(cluster.submit_noted(&submission, &sender(), &note(), START).is_err());
    assert_eq!(disk.note("job/for-ann"), Ok(None), "nothing is kept of what is refused");
    assert_eq!(cluster.keep_notes(&note(), &sender()), Ok(()));
    // Notes that an earlier version has kept are nobody's.
    disk.commit(vec![Write::ChangeNote(NoteChange::Put(Note::new(name(3_000), service(1))))]).expect("it is stored");
    assert_eq!(disk.held(&name(3_000)).map(|held| held.and_then(|held| held.owner)), Ok(None));
}
