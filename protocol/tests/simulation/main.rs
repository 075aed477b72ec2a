//! Everything that can go wrong, in thousands of seeded steps: stores that fail before and after they have stored, stale
//! reads, doubled and missing crons, crashes between any two steps. After each step the invariants hold.
//!
//! A failure prints its seed. The gate has a few long lives and many short ones; `TIDEGATE_FROM` and `TIDEGATE_COUNT`
//! choose other seeds of the long ones, and `cargo xtask soak simulation` takes many.

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
mod flat;
mod health;
mod hostile;
mod idle;
mod large;
mod life;
mod limits;
mod list;
mod lost;
mod memory;
mod newest;
mod notes;
mod past;
mod random;
mod restored;
mod room;
mod shares;
mod shelf;
mod silence;
mod steps;
mod stored;
mod world;
mod year;

use std::ops::Range;

use engine::unit::time::Millis;
use heap::Counting;
use protocol::limits::Limits;
use protocol::profile::Pace;
use protocol::profile::Pages;
use protocol::profile::Profile;
use protocol::publish::Occasion;

use crate::air::Weather;
use crate::world::World;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const STEPS: u32 = 1_200;
const SEEDS: u64 = 3;
/// Of short lives there are more.
const FEW_STEPS: u32 = 25;
const MANY_SEEDS: u64 = 2_000;

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
    pages: Pages { kept: 10, at_once: 2 },
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

const ROUGH: Weather = Weather { fail_before: 4, fail_after: 4, fail_read: 2, stale_read: 20 };

/// Lives with a seed for some steps; how many alarms found something, and how many objects were deleted.
fn simulate(seed: u64, steps: u32) -> (usize, usize) {
    let mut world = World::new(seed, profile(seed));
    world.air.set_weather(ROUGH);
    for step in 0..steps {
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
            world.air.set_weather(ROUGH);
        }
    }
    world.finish();
    if steps >= STEPS {
        println!(
            "seed {seed}: {steps} steps, {} entries ({} by alarm), {} acknowledged, {} rows kept, {} objects in KV, {} \
             deleted",
            world.n_entries(),
            world.n_alarms,
            world.n_acknowledged(),
            world.disk.n_rows(),
            world.air.n_objects(),
            world.n_collected
        );
    }
    (world.n_alarms, world.n_collected)
}

/// Lives with each of the seeds; how many alarms found something, and how many objects were deleted.
fn simulate_all(seeds: Range<u64>, steps: u32) -> (usize, usize) {
    let (mut n_alarms, mut n_collected) = (0, 0);
    for seed in seeds {
        let outcome = std::panic::catch_unwind(|| simulate(seed, steps));
        let found = outcome
            .unwrap_or_else(|_| panic!("{steps} steps fail: TIDEGATE_FROM={seed} TIDEGATE_COUNT=1 repeats the seed"));
        n_alarms += found.0;
        n_collected += found.1;
    }
    (n_alarms, n_collected)
}

#[test]
fn whatever_fails_the_invariants_hold() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let (from, count) = (number("TIDEGATE_FROM").unwrap_or(1), number("TIDEGATE_COUNT").unwrap_or(SEEDS));
    let (n_alarms, n_collected) = simulate_all(from..from + count, STEPS);
    assert!(n_alarms > 0 && n_collected > 20 || count == 1, "{n_alarms} alarms, {n_collected} deleted");
}

#[test]
fn whatever_fails_in_short_lives_the_invariants_hold() {
    let (n_alarms, _) = simulate_all(0..MANY_SEEDS, FEW_STEPS);
    assert!(n_alarms > 0, "{n_alarms} alarms");
}
