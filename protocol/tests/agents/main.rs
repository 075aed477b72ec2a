//! The service's own side of agents, with the engine behind it, under the histories of the agents' simulation: messages that
//! are lost, doubled and late, agents and supervisors that are killed between any two steps, machines without power,
//! restores. The onlooker is the one that is there for the agents: he sees processes alone.
//!
//! A failure prints its seed. `SIMULATION_SEED=n` runs that history alone, `SIMULATION_SEEDS=n` runs more of them.

#[path = "../simulation/disk.rs"]
#[expect(dead_code, reason = "nothing fails on this disk")]
mod disk;
#[path = "../../../agent/tests/simulation/flaw.rs"]
#[expect(dead_code, reason = "the faults of the agents' own model are shown there")]
mod flaw;
#[path = "../../../agent/tests/simulation/machine.rs"]
mod machine;
#[path = "../../../agent/tests/simulation/oracle.rs"]
mod oracle;
#[path = "../../../agent/tests/simulation/pods.rs"]
mod pods;
#[path = "../../../agent/tests/simulation/random.rs"]
mod random;
#[path = "../../../agent/tests/simulation/world.rs"]
mod world;

mod authority;

use crate::flaw::Flaw;
use crate::oracle::Oracle;
use crate::world::World;

const SEEDS: u64 = 400;
const STEPS: u32 = 300;

/// A whole history, and what the onlooker saw of it.
fn simulate(seed: u64, flaw: Option<Flaw>) -> Oracle {
    let mut world = World::new(seed, flaw);
    for _ in 0..STEPS {
        world.step();
    }
    world.finish();
    world.oracle
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

#[test]
fn whatever_is_lost_or_killed_the_rules_of_runs_hold() {
    let seeds = match number("SIMULATION_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("SIMULATION_SEEDS").unwrap_or(SEEDS),
    };
    let mut n_started = 0;
    for seed in seeds.clone() {
        let Oracle { faults, n_started: count, .. } = simulate(seed, None);
        assert!(faults.is_empty(), "{}: SIMULATION_SEED={seed} repeats it", faults[0]);
        n_started += count;
    }
    println!("{} histories, {n_started} pods started", seeds.end - seeds.start);
    assert!(n_started > 2 * (seeds.end - seeds.start), "hardly anything was started");
}

/// Looks for the first seed whose history shows the flaw, by a fault that begins so.
fn seen(flaw: Flaw, rule: &str) {
    let fault = |seed| simulate(seed, Some(flaw)).faults.into_iter().find(|fault| fault.starts_with(rule));
    let found = (0..SEEDS).find_map(|seed| fault(seed).map(|fault| (seed, fault)));
    let (seed, fault) = found.unwrap_or_else(|| panic!("{flaw:?} is not seen in {SEEDS} histories"));
    println!("{flaw:?}: seed {seed}: {fault}");
}

#[test]
fn a_run_that_is_lost_while_it_lives_is_seen() {
    seen(Flaw::LostBeforeGone, "R");
}

#[test]
fn what_is_given_out_too_early_after_a_restore_is_seen() {
    seen(Flaw::GrantsAfterRestore, "R");
}

#[test]
fn pods_that_are_gone_too_early_are_seen() {
    seen(Flaw::GoneBeforeGone, "R");
}
