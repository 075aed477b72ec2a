//! Reads of the past beside the object: what it says is bounded however long the past is, and with that a reader has the
//! state as it is, finds what was committed last, and nothing twice.

use engine::message::envelope::Entry;
use engine::state::world::State;
use engine::transition::Sender;
use protocol::cluster::Cluster;
use protocol::digest;
use protocol::history;
use protocol::log::decode;
use protocol::newest::Newest;
use protocol::past::Search;
use protocol::profile::Profile;
use protocol::publish::Occasion;

use crate::air;
use crate::air::Air;
use crate::air::Weather;
use crate::disk::Disk;
use crate::memory::START;
use crate::memory::founded_on;
use crate::memory::publish;
use crate::memory::submission;
use crate::past::at_hand;
use crate::profile;
use crate::world::World;
use crate::world::sender;

/// What an object says to whoever asks.
pub(crate) fn newest(cluster: &mut Cluster<Disk>, sender: &Sender) -> Newest {
    let text = cluster.newest(sender, Some("demo.key")).expect("reading works").expect("not too much is unpublished");
    decode("what is newest", &text).expect("it is readable")
}

/// The state as a reader beside the object has it.
fn state(air: &Air, newest: &Newest) -> State {
    let published = match &newest.head {
        Some(head) => air::run(history::fold(air, head, None)).expect("it can be read").state,
        None => State::default(),
    };
    newest.state(published).expect("it leads on")
}

/// All entries, in pages of so many from the newest on.
fn pages(air: &Air, newest: &Newest, count: usize) -> Vec<Entry> {
    let (mut found, mut before) = (Vec::new(), u64::MAX);
    loop {
        let mut search = Search::new(count, before, |_: &Entry| true);
        at_hand(air::run(newest.find(air, 2, &mut search)).expect("reading works"));
        let next = search.next();
        found.extend(search.found());
        match next {
            Some(next) => before = next,
            None => return found,
        }
    }
}

#[test]
fn a_reader_beside_the_object_has_what_is_newest() {
    let mut n_tails = 0;
    for seed in 0..12 {
        let mut world = World::new(seed, profile(seed));
        for step in 0..150 {
            world.submit_new();
            world.pass(3_000);
            if step % 9 == 0 {
                world.publish(Occasion::Demand);
            }
            if step % 10 != 5 {
                continue;
            }
            world.check();
            let newest = newest(&mut world.cluster, &sender());
            let here = world.cluster.position().expect("reading works");
            n_tails += usize::from(!newest.tail.is_empty());
            assert_eq!(newest.revision, here.revision, "seed {seed}, step {step}");
            assert_eq!(digest::of_state(&state(&world.air, &newest)), here.hash, "seed {seed}, step {step}");
            let all: Vec<&str> = world.entries.iter().rev().map(|entry| entry.envelope.id.as_str()).collect();
            for count in [1, 7, 1_000] {
                let read = pages(&world.air, &newest, count);
                let mut read: Vec<&str> = read.iter().map(|entry| entry.envelope.id.as_str()).collect();
                // Who goes on names a revision, of which the last entries come once more.
                read.dedup();
                assert_eq!(read, all, "seed {seed}, step {step}, {count} at once");
            }
            for entry in world.entries.iter().filter(|entry| !entry.events.is_empty()) {
                let found = at_hand(air::run(newest.entry_at(&world.air, entry.revision)).expect("reading works"));
                assert_eq!(found.as_ref(), Some(entry), "seed {seed}, step {step}");
            }
        }
        world.air.set_weather(Weather::default());
    }
    assert!(n_tails > 50, "{n_tails}");
}

#[test]
fn what_the_object_reads_is_bounded_however_long_the_past_is() {
    let (disk, air) = (Disk::default(), Air::new(1));
    let mut cluster = founded_on(&disk, Profile::default());
    let asked = |cluster: &mut Cluster<Disk>| {
        let before = (disk.n_read(), air.n_reads());
        let said = cluster.newest(&sender(), None).expect("reading works");
        (disk.n_read() - before.0, air.n_reads() - before.1, said.map(|text| text.len()))
    };
    for number in 0..3_000 {
        cluster.submit(&submission(number), &sender(), START).expect("it is accepted");
        if number % 100 == 0 {
            publish(&mut cluster, &air, START);
            assert_eq!(asked(&mut cluster).0, 0, "all is published");
        }
        if number % 100 == 50 {
            let (rows, calls, bytes) = asked(&mut cluster);
            assert!(rows == 50 && calls == 0 && bytes.is_some_and(|bytes| bytes < 60_000), "{rows} {calls} {bytes:?}");
        }
    }
    // Where nothing can be published, it stops at some point instead of reading all of it.
    let refused = (3_000..5_000).find(|number| {
        cluster.submit(&submission(*number), &sender(), START).expect("it is accepted");
        number % 100 == 0 && asked(&mut cluster).2.is_none()
    });
    assert_eq!((refused, asked(&mut cluster)), (Some(4_000), (0, 0, None)));
}
