//! Plans: what is simulated is what the authority would do, and what is told of it adds up.

mod authority;
mod clock;
mod outcome;
mod search;
mod stored;

use engine::host::plan::base::Base;
use engine::message::command::ApplyPlan;
use engine::message::command::Command;
use engine::message::plan::Change;
use engine::message::plan::Variant;
use engine::message::snapshot::Snapshot;
use engine::state::world::State;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;

use crate::random::Random;
use crate::run::Run;

const CASES: u64 = 1_000;

/// A random base with a variant of it.
struct Case {
    base: Base,
    variant: Variant,
    until: Timestamp,
}

/// Commands that people go on sending: some become changes, the others are known to follow anyway.
fn case(seed: u64) -> Case {
    let mut random = Random::new(seed ^ 0x9a7e);
    let setup = Run::new(seed).layout.setup.len();
    let mut run = Run::after(seed, setup + 10 + random.index(50));
    let from = run.now;
    let state = run.state.clone();
    let (mut changes, mut ahead) = (Vec::new(), Vec::new());
    for _ in 0..30 {
        let (at, command, _) = run.step();
        if matches!(command, Command::Round(_) | Command::CreateCluster(_) | Command::Report(_)) {
            continue;
        }
        if random.chance(50) {
            changes.push(Change { at, command, is_off: random.chance(20) });
        } else {
            ahead.push((at, command));
        }
    }
    // A plan need not be written down in the order of time.
    if changes.len() > 2 && random.chance(50) {
        let last = changes.len() - 1;
        changes.swap(0, last);
    }
    let until = Timestamp((from + Millis(3_600_000)).0.max(run.now.0.min(from.0 + 6 * 3_600_000)));
    Case { base: Base::new(state, from, ahead).unwrap(), variant: Variant { name: String::new(), changes }, until }
}

fn bytes(state: &State) -> Vec<u8> {
    Snapshot::of(state).to_bytes()
}

/// All that people send in a case, by time; of one moment the changes first, then what follows anyway.
fn asked_for(case: &Case) -> Vec<(Timestamp, u8, Vec<usize>)> {
    let Case { base, variant, until } = case;
    let mut moments: Vec<(Timestamp, u8, Vec<usize>)> = Vec::new();
    for (at, change) in variant.changes.iter().enumerate().filter(|(_, change)| !change.is_off) {
        let when = change.at.max(base.from);
        match moments.iter_mut().find(|(time, rank, _)| (*time, *rank) == (when, 1)) {
            Some((_, _, group)) => group.push(at),
            None => moments.push((when, 1, vec![at])),
        }
    }
    moments.extend(base.ahead.iter().enumerate().map(|(at, (when, _))| (*when, 2, vec![at])));
    moments.retain(|(when, _, _)| when <= until);
    moments.sort_by_key(|(when, rank, _)| (*when, *rank));
    moments
}

fn plan_of(variant: &Variant, changes: &[usize]) -> Command {
    Command::ApplyPlan(ApplyPlan { commands: changes.iter().map(|at| variant.changes[*at].command.clone()).collect() })
}
