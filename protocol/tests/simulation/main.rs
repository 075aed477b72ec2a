//! Everything that can go wrong, in thousands of seeded steps: stores that fail before and after they have stored, stale
//! reads, doubled and missing crons, crashes between any two steps. After each step the invariants hold.
//!
//! A failure prints its seed. `SIMULATION_SEED=n` runs that seed alone, `SIMULATION_SEEDS=n` runs more of them.

mod adopted;
mod agents;
mod air;
mod backup;
mod busy;
mod controls;
mod costs;
mod damage;
mod deletion;
mod deletion_blind;
mod deletion_lost;
mod desk;
mod disk;
mod exchange;
mod figures;
mod health;
mod hostile;
mod idle;
mod limits;
mod list;
mod lost;
mod memory;
mod newest;
mod notes;
mod past;
mod random;
mod restored;
mod shares;
mod silence;
mod steps;
mod stored;
mod world;
mod year;

use engine::unit::time::Millis;
use protocol::limits::Limits;
use protocol::profile::Pace;
use protocol::profile::Profile;
use protocol::publish::Occasion;

use crate::air::Weather;
use crate::world::World;

const STEPS: u32 = 1_200;
const SEEDS: u64 = 3;

/// The limits as they are, where they can be named in a constant.
const PROFILE: Profile = Profile {
    pace: Pace::AtMostEvery(Millis(1000)),
    rounds_apart: Millis(0),
    idle: Millis(15 * Millis::MINUTE.0),
    alarm_gap: Millis(1000),
    snapshot_every: 1000,
    segments_max: 16,
    object_bytes_max: 8 * 1024 * 1024,
    entries_kept: 1000,
    past_kept: None,
    answers_kept: Millis(7 * 24 * Millis::HOUR.0),
    limits: Limits::USUAL,
};

/// Small limits, so that everything happens often.
fn profile(seed: u64) -> Profile {
    let pace = if seed.is_multiple_of(3) { Pace::EachRound } else { Pace::AtMostEvery(Millis(1000)) };
    Profile {
        pace,
        snapshot_every: 40 + seed % 60,
        segments_max: 5,
        object_bytes_max: 3_000,
        entries_kept: seed % 30,
        ..Profile::default()
    }
}

/// How many alarms found something, and how many objects were deleted.
fn simulate(seed: u64) -> (usize, usize) {
    let mut world = World::new(seed, profile(seed));
    world.air.set_weather(Weather { fail_before: 4, fail_after: 4, fail_read: 2, stale_read: 20 });
    for step in 0..STEPS {
        match world.random.below(100) {
            0..=44 => world.submit_new(),
            45..=54 => world.submit_again(),
            55..=57 => world.submit_other_body(),
            58..=66 => world.tick(),
            67..=69 => world.alarm(),
            70..=82 => world.publish(Occasion::Command),
            83..=84 => world.collect(),
            85..=88 => world.crash(),
            89..=96 => world.pass(90_000),
            97..=98 => world.drill(),
            _ => world.check_all(),
        }
        world.pass(300);
        world.check();
        if step % 500 == 499 {
            world.finish();
            world.air.set_weather(Weather { fail_before: 4, fail_after: 4, fail_read: 2, stale_read: 20 });
        }
    }
    world.finish();
    println!(
        "seed {seed}: {STEPS} steps, {} entries ({} by alarm), {} acknowledged, {} rows kept, {} objects in KV, {} deleted",
        world.n_entries(),
        world.n_alarms,
        world.n_acknowledged(),
        world.disk.n_rows(),
        world.air.n_objects(),
        world.n_collected
    );
    (world.n_alarms, world.n_collected)
}

#[test]
fn whatever_fails_the_invariants_hold() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let seeds = match (number("SIMULATION_SEED"), number("SIMULATION_SEEDS")) {
        (Some(seed), _) => seed..seed + 1,
        (None, count) => 1..count.unwrap_or(SEEDS) + 1,
    };
    let (mut n_alarms, mut n_collected) = (0, 0);
    for seed in seeds.clone() {
        let outcome = std::panic::catch_unwind(|| simulate(seed));
        let found = outcome.unwrap_or_else(|_| panic!("the simulation failed: SIMULATION_SEED={seed} repeats it"));
        n_alarms += found.0;
        n_collected += found.1;
    }
    assert!(n_alarms > 0 && n_collected > 20 || seeds.count() == 1, "{n_alarms} alarms, {n_collected} deleted");
}
