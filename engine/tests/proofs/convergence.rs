//! A replica with nothing pending equals the authority, for any interleaving of commands and entries.

use std::collections::VecDeque;

use engine::host::authority;
use engine::host::replica::Replica;
use engine::host::replica::Taken;
use engine::message::FORMAT;
use engine::message::command::Command;
use engine::message::envelope::Entry;
use engine::message::envelope::Envelope;
use engine::message::snapshot::Snapshot;
use engine::unit::id::CommandId;
use engine::unit::time::Timestamp;

use crate::history::seeds;
use crate::random::Random;
use crate::run::Run;

/// What the authority says to the replica.
enum Word {
    Accepted(Box<Entry>),
    Refused(CommandId),
}

#[test]
fn a_replica_comes_to_equal_the_authority() {
    let mut n_ahead = 0;
    for seed in seeds(1_000) {
        let mut random = Random::new(seed ^ 0x5eed);
        let mut run = Run::after(seed, Run::new(seed).layout.setup.len());
        let mut replica = Replica::new(Snapshot::of(&run.state)).unwrap();
        let mut to_authority: VecDeque<(Envelope, Timestamp)> = VecDeque::new();
        let mut to_replica: VecDeque<Word> = VecDeque::new();
        for at in 0..120 {
            match random.below(3) {
                // Somebody sends: this replica, which shows it at once, or another.
                0 if at < 90 => {
                    let (now, command) = run.next();
                    let envelope = envelope(at, command);
                    let is_own = random.chance(70);
                    if !is_own || replica.send(envelope.clone(), now).is_ok() {
                        to_authority.push_back((envelope, now));
                    }
                    n_ahead += usize::from(is_own);
                }
                1 => to_replica.extend(to_authority.pop_front().map(|sent| handle(&mut run, sent))),
                _ => hear(&mut replica, to_replica.pop_front()),
            }
        }
        while let Some(sent) = to_authority.pop_front() {
            to_replica.push_back(handle(&mut run, sent));
        }
        while let Some(word) = to_replica.pop_front() {
            hear(&mut replica, Some(word));
        }
        assert_eq!(replica.pending().count(), 0, "seed {seed}");
        assert_eq!(replica.revision(), run.state.revision, "seed {seed}");
        let shown = Snapshot::of(replica.state());
        assert_eq!(shown.to_bytes(), Snapshot::of(&run.state).to_bytes(), "seed {seed}");
    }
    assert!(n_ahead > 1_000, "only {n_ahead} commands were shown before their answer");
}

fn envelope(at: i64, command: Command) -> Envelope {
    let id = CommandId::new(&format!("command-{at}")).unwrap();
    Envelope { format: FORMAT, id, by: None, base: None, dry_run: false, command }
}

fn handle(run: &mut Run, (envelope, now): (Envelope, Timestamp)) -> Word {
    match authority::handle(&mut run.state, &envelope, now) {
        Ok(receipt) => {
            let (revision, events) = (receipt.revision, receipt.events);
            Word::Accepted(Box::new(Entry { format: FORMAT, revision, at: now, envelope, events }))
        }
        Err(_) => Word::Refused(envelope.id),
    }
}

/// Some words come twice.
fn hear(replica: &mut Replica, word: Option<Word>) {
    match word {
        Some(Word::Accepted(entry)) => {
            assert_eq!(replica.receive(&entry), Taken::Yes);
            assert_eq!(replica.receive(&entry), Taken::Yes);
        }
        Some(Word::Refused(id)) => replica.refused(&id),
        None => {}
    }
}
