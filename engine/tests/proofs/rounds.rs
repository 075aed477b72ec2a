//! No ping-pong: rounds without new commands come to rest (rules 5.7).
//!
//! A job that ends by itself is news as well: it may let an owner start who takes back what was lent in the meantime.
//! So nobody is evicted twice between two ends.

use std::collections::BTreeMap;

use engine::host::authority;
use engine::message::command::Command;
use engine::message::command::Round;
use engine::message::event::Event;
use engine::unit::id::JobNo;
use engine::unit::time::Millis;

use crate::random::Random;
use crate::run::Run;

const STARTS: u64 = 1_000;
const ROUNDS: i64 = 1_000;

#[test]
fn nobody_is_evicted_twice_while_nothing_new_happens() {
    for seed in 0..STARTS {
        let mut random = Random::new(!seed);
        let setup = Run::new(seed).layout.setup.len();
        let mut run = Run::after(seed, setup + 20 + random.index(60));
        let slot = run.now.0 / 60_000 + 100;
        let mut evicted: BTreeMap<JobNo, Event> = BTreeMap::new();
        for round in 0..ROUNDS {
            run.now = run.now + Millis(random.pick(&[1_000, 30_000, 60_000, 60_000, 60_000, 600_000]));
            let command = Command::Round(Round { slot: Some(slot + round) });
            for event in authority::step(&mut run.state, &command, run.now).unwrap() {
                if matches!(event, Event::Ended { .. }) {
                    evicted.clear();
                }
                if let Event::Evicted { job, .. } = &event
                    && let Some(before) = evicted.insert(*job, event.clone())
                {
                    panic!("seed {seed}, round {round}: {before:?}\nand again {event:?}");
                }
            }
        }
    }
}
