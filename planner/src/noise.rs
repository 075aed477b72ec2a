//! How much of a result is chance: the same plan with durations that differ a little. Who starts first among many depends
//! on seconds, and what follows from it may be hours, so one run of what was measured is no verdict.
//!
//! Written scenarios are as they are meant, and have no such runs.

use std::sync::Arc;

use engine::host::plan::base::Base;
use engine::message::command::Command;
use engine::message::snapshot::Snapshot;
use engine::state::world::State;
use engine::unit::time::Millis;
use engine::unit::time::Period;
use engine::unit::time::Timestamp;

/// Runs by which it is told how far a figure may go.
pub const RUNS: u32 = 20;
/// How much longer a job takes at most: nobody's clock is better.
pub const JITTER: Millis = Millis(2_000);

/// A base whose jobs take up to [`JITTER`] longer; the same for the same number, wherever it runs.
#[must_use]
pub fn jittered(base: &Base, seed: u32) -> Base {
    let mut chance = Chance(u64::from(seed));
    let state = shaken(&base.state, &mut chance).map_or_else(|| Arc::clone(&base.state), Arc::new);
    let shake = |(at, command): &(Timestamp, Command)| {
        let mut command = command.clone();
        if let Command::SubmitJob(job) = &mut command
            && let Some(duration) = &mut job.duration_ms
        {
            *duration = Millis(duration.0.saturating_add(chance.next().0));
        }
        (*at, command)
    };
    Base { state, from: base.from, ahead: base.ahead.iter().map(shake).collect() }
}

/// The jobs that are there; nothing if none of them declares how long it takes.
fn shaken(state: &State, chance: &mut Chance) -> Option<State> {
    let declares = |(_, job): (_, &engine::state::jobs::Job)| job.spec.duration.is_some() && !job.is_ended();
    if !state.jobs.iter().any(declares) {
        return None;
    }
    let mut snapshot = Snapshot::of(state);
    for (_, job) in snapshot.jobs.iter_mut().filter(|(_, job)| !job.is_ended()) {
        if let Some(duration) = job.spec.duration {
            let longer = Millis(duration.get().0.saturating_add(chance.next().0));
            job.spec.duration = Period::new(longer);
        }
    }
    snapshot.restore().ok()
}

/// Numbers that look random and are not: `SplitMix64`.
struct Chance(u64);

impl Chance {
    /// From nothing to [`JITTER`].
    fn next(&mut self) -> Millis {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        Millis(i64::try_from((mixed ^ (mixed >> 31)) % (JITTER.0.unsigned_abs() + 1)).unwrap_or(0))
    }
}
