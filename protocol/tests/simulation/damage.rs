//! Somebody has damaged what KV holds: a restore names the object, or gives exactly the cluster that was. It never gives
//! another one.

use std::collections::BTreeMap;

use protocol::document::FORMAT;
use protocol::document::Head;
use protocol::fault::Fault;
use protocol::history;
use protocol::note::Note;
use protocol::note::NoteChange;
use protocol::note::bucket;
use protocol::profile::Profile;
use serde_json::json;

use crate::air;
use crate::air::Air;
use crate::memory::START;
use crate::memory::founded;
use crate::memory::publish;
use crate::memory::submission;
use crate::restored::copy;
use crate::world::name;
use crate::world::notes;
use crate::world::sender;

/// What a restore gives: the digest of the state, and the notes.
type Outcome = (String, BTreeMap<String, String>);

const JOBS: u32 = 24;

/// Small limits, so that there is a past.
const PROFILE: Profile = Profile { snapshot_every: 10, entries_kept: 4, segments_max: 3, ..crate::PROFILE };

fn note(number: u32) -> NoteChange {
    NoteChange::Put(Note::new(format!("job/job-{number}"), format!("{{\"command\":\"train {number}\"}}")))
}

/// A small cluster with a past and notes, all of it published, and what a restore of it gives.
fn whole() -> (Air, Outcome) {
    let (mut cluster, air) = (founded(PROFILE), Air::new(1));
    for number in 0..JOBS {
        let notes = if number % 3 == 0 { vec![] } else { vec![note(number)] };
        cluster.submit_noted(&submission(number), &sender(), &notes, START).expect("it is accepted");
        if number % 2 == 0 {
            publish(&mut cluster, &air, START);
        }
    }
    publish(&mut cluster, &air, START);
    let known = restored(&air).expect("it is whole");
    assert_eq!(known.0, cluster.position().expect("reading works").hash);
    assert_eq!(known.1.len(), (JOBS - JOBS / 3) as usize);
    (air, known)
}

fn head(air: &Air) -> Head {
    air::run(history::head(air, &name())).expect("reading works").expect("there is a head")
}

fn restored(air: &Air) -> Result<Outcome, Fault> {
    let mut copy = copy(air, &head(air), PROFILE)?;
    Ok((copy.cluster.position()?.hash, notes(&copy.cluster)))
}

/// A copy of what KV holds, with one object changed.
fn damaged(air: &Air, change: impl FnOnce(&Air)) -> Result<Outcome, Fault> {
    let copy = Air::of_dump(&air.dump());
    change(&copy);
    restored(&copy)
}

/// The first letter of a text that is in quotes becomes another one: JSON stays JSON, and says something else.
fn altered(text: &str) -> String {
    let at = text.rfind("train ").map_or_else(|| text.rfind('1'), |at| Some(at + 6)).expect("something to change");
    format!("{}7{}", &text[..at], &text[at + 1..])
}

#[test]
fn each_object_that_is_damaged_is_named_or_not_needed() {
    let (air, known) = whole();
    let named: Vec<String> = head(&air).keys().map(str::to_owned).collect();
    assert!(named.iter().any(|key| key.contains("/notes/")), "{named:?}");
    let mut n_named = 0;
    let is_past =
        |key: &str| key.contains("/page/") || key.contains("/log/") && !named.iter().any(|named| named == key);
    for key in air.keys().into_iter().filter(|key| *key != name().head() && !is_past(key)) {
        let text = air.value(&key);
        let kind = |key: &str| key.split('/').nth(2).map(str::to_owned);
        let other = air.keys().into_iter().find(|other| *other != key && kind(other) == kind(&key));
        let other = other.map(|other| air.value(&other)).unwrap_or_default();
        let outcomes = [
            ("gone", damaged(&air, |air| air.lose(|lost| lost == key))),
            ("cut", damaged(&air, |air| air.forge(&key, &text[..text.len() / 2]))),
            ("exchanged", damaged(&air, |air| air.forge(&key, &other))),
            ("altered", damaged(&air, |air| air.forge(&key, &altered(&text)))),
        ];
        for (damage, outcome) in outcomes {
            match outcome {
                Ok(outcome) => assert!(outcome == known, "{key} is {damage}: a wrong cluster was restored"),
                Err(fault) => {
                    n_named += 1;
                    assert!(fault.to_string().contains(&key), "{key} is {damage}, and what is told is: {fault}");
                }
            }
        }
        assert!(
            !named.contains(&key) || damaged(&air, |air| air.lose(|lost| lost == key)).is_err(),
            "{key} is not needed"
        );
    }
    let n_needed = named.iter().filter(|key| !key.contains("/page/")).count();
    assert_eq!(n_named, 4 * n_needed, "each in each way, and nothing else");
}

/// The negative control: notes that no digest stands for, as earlier versions have put them, are restored as they are
/// found, forged ones as well.
#[test]
fn notes_without_digests_are_restored_although_they_are_forged() {
    let (air, known) = whole();
    let mut buckets: BTreeMap<u8, BTreeMap<&str, &str>> = BTreeMap::new();
    for (name, text) in &known.1 {
        buckets.entry(bucket(name)).or_default().insert(name, text);
    }
    for (bucket, notes) in buckets {
        air.forge(&name().notes(bucket), &json!({ "format": FORMAT, "notes": notes }).to_string());
    }
    let old = Head { notes: None, ..head(&air) };
    air.forge(&name().head(), &serde_json::to_string(&old).expect("a head can be written"));
    assert_eq!(restored(&air), Ok(known.clone()), "a cluster of an earlier version is restored");
    let key = name().notes(bucket("job/job-1"));
    let (hash, notes) = damaged(&air, |air| air.forge(&key, &altered(&air.value(&key)))).expect("nobody notices");
    assert!(hash == known.0 && notes != known.1, "an equal state with other notes");
}

/// The state does not need it: whatever of the past is gone or damaged, the rest is restored, and what is missing is said.
#[test]
fn what_is_missing_of_the_past_is_said_and_the_rest_restored() {
    let (air, known) = whole();
    let head = head(&air);
    let newest: Vec<&str> = head.keys().filter(|key| !key.contains("/page/")).collect();
    assert_eq!(copy(&air, &head, PROFILE).expect("it is whole").missing, []);
    let mut n_missing = 0;
    for key in air.keys().into_iter().filter(|key| key.contains("/page/") || key.contains("/log/")) {
        if newest.contains(&key.as_str()) {
            continue;
        }
        for reason in ["is gone", "is damaged"] {
            let air = Air::of_dump(&air.dump());
            if reason == "is gone" {
                air.lose(|lost| lost == key);
            } else {
                air.forge(&key, "{}");
            }
            let mut restored = copy(&air, &head, PROFILE).expect("the state is whole");
            assert_eq!(restored.cluster.position().expect("it is open").hash, known.0);
            assert_eq!(restored.cluster.missing(), Ok(restored.missing.clone()), "it is told later too");
            let missing: u64 = restored.missing.iter().map(|gap| gap.last - gap.first + 1).sum();
            assert_eq!(restored.n_remembered() as u64 + missing, head.seq, "{key} {reason}: {:?}", restored.missing);
            assert!(restored.missing.iter().all(|gap| gap.key == key && gap.reason.starts_with(reason)));
            n_missing += usize::from(missing > 0);
        }
    }
    assert!(n_missing > 4, "{n_missing}");
}

/// The negative control: who wants all of the past has nothing as soon as one old object is gone.
#[test]
fn a_restore_that_wants_all_of_the_past_fails_for_one_old_page() {
    let (air, known) = whole();
    let head = head(&air);
    let key = head.history.clone().expect("there is a past");
    air.lose(|lost| lost == key);
    let all = air::run(history::segments_back(&air, &head, usize::MAX, |_| true));
    assert_eq!(all, Err(Fault::Missing { key }));
    assert_eq!(restored(&air), Ok(known));
}
