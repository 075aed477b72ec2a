//! What notes add up to is remembered: a note that is accepted costs as much however many there are, and what is
//! remembered is what there is.

use engine::transition::Sender;
use engine::unit::id::UserId;
use protocol::cluster::Cluster;
use protocol::limits::Limits;
use protocol::note;
use protocol::note::Note;
use protocol::note::NoteChange;
use protocol::profile::Profile;

use crate::disk::Disk;
use crate::memory::START;
use crate::memory::founded_on;
use crate::memory::submission;
use crate::random::Random;
use crate::world::sender;

fn user(name: &str) -> Sender {
    Sender { user: UserId::new(name).expect("a good name"), administers: false }
}

/// Names that are in one bucket.
fn names(count: usize) -> Vec<String> {
    (0_u32..).map(|number| format!("service/{number}")).filter(|name| note::bucket(name) == 0).take(count).collect()
}

#[test]
fn a_note_costs_as_much_however_many_there_are() {
    let disk = Disk::default();
    let mut cluster = founded_on(&disk, Profile::default());
    let mut keep = |who: &str, name: &str, length: usize| {
        let before = disk.n_read();
        let note = Note::new(name.to_owned(), "n".repeat(length));
        cluster.keep_notes(&[NoteChange::Put(note)], &user(who)).expect("there is room");
        disk.n_read() - before
    };
    // 600 notes of two users come to more than the share of one.
    let names = names(600);
    let kept = (0..).zip(&names).map(|(at, name)| keep(["ann", "bob"][at % 2], name, 2_000));
    let counts: Vec<u64> = kept.collect();
    println!("rows read for 600 new notes of a bucket: {}", counts.iter().sum::<u64>());
    // What each of them has in this bucket is added up once it could be more than their share.
    let added_up: Vec<u64> = counts.iter().copied().filter(|count| *count > 0).collect();
    assert!(added_up.len() == 2 && added_up.iter().all(|count| *count < 300), "{added_up:?}");
    let again: Vec<u64> = names.iter().take(100).map(|name| keep("ann", name, 2_010)).collect();
    assert!(again.iter().all(|count| *count == 1), "the row that is replaced: {again:?}");
}

/// A change that may be accepted or not.
fn changes(random: &mut Random, names: &[String]) -> Vec<NoteChange> {
    let change = |random: &mut Random| {
        let name = names[usize::try_from(random.below(12)).expect("small")].clone();
        let length = usize::try_from(random.below(900)).expect("small");
        let note = Note::new(name.clone(), "n".repeat(length));
        if random.percent(20) { NoteChange::Drop(name) } else { NoteChange::Put(note) }
    };
    (0..=random.below(3)).map(|_| change(random)).collect()
}

#[test]
fn what_is_remembered_is_what_there_is() {
    let limits = Limits { note_bytes_of_user: 2_500, note_bytes_in_bucket: 1_800, ..Limits::USUAL };
    let profile = Profile { limits, ..Profile::default() };
    let (names, mut accepted, mut refused) = (names(12), 0, 0);
    for seed in 0..20 {
        let mut random = Random::new(seed);
        let mut cluster = founded_on(&Disk::default(), profile);
        let mut forgetful = founded_on(&Disk::default(), profile);
        for step in 0..100 {
            let who = if random.percent(15) { sender() } else { user(["ann", "bob"][usize::from(random.percent(50))]) };
            let changes = changes(&mut random, &names);
            forgetful.forget();
            let keep = |cluster: &mut Cluster<Disk>| cluster.keep_notes(&changes, &who);
            let outcome = keep(&mut cluster);
            assert_eq!(outcome, keep(&mut forgetful), "seed {seed}, step {step}: {changes:?} of {who:?}");
            *if outcome.is_ok() { &mut accepted } else { &mut refused } += 1;
        }
    }
    assert!(accepted > 500 && refused > 500, "{accepted} accepted, {refused} refused");
}

#[test]
fn notes_of_a_command_that_is_refused_count_for_nobody() {
    let limits = Limits { note_bytes_of_user: 2_500, ..Limits::USUAL };
    let mut cluster = founded_on(&Disk::default(), Profile { limits, ..Profile::default() });
    let note = |name: &str| [NoteChange::Put(Note::new(name.to_owned(), "n".repeat(2_000)))];
    let (by_ann, mut dry) = (submission(1), submission(1));
    dry.dry_run = true;
    for name in ["one", "two"] {
        let outcome = cluster.submit_noted(&by_ann, &user("ann"), &note(name), START);
        assert!(outcome.is_err(), "ann is no member of anything");
    }
    cluster.submit_noted(&dry, &sender(), &note("three"), START).expect("it would be accepted");
    assert_eq!(cluster.keep_notes(&note("four"), &user("ann")), Ok(()), "nothing has been kept of hers before");
    assert!(cluster.keep_notes(&note("five"), &user("ann")).is_err());
}
