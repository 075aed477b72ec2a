//! The same trace with its submissions a little earlier or later: what a comparison finds has to hold for these as well.

use engine::unit::time::Timestamp;
use trace::jobs::Trace;

use crate::workload::Random;

/// How far a submission is moved at most, in milliseconds.
pub const JITTER_MS: u64 = 60_000;

/// The trace with each submission moved by up to a minute either way, by the random numbers of a seed.
#[must_use]
pub fn jittered(trace: &Trace, seed: u64) -> Trace {
    // Spread over all bits: the generator's first numbers are small for small seeds.
    let mut random = Random::of(seed.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let mut trace = trace.clone();
    for arrival in &mut trace.arrivals {
        let moved = i64::try_from(random.below(2 * JITTER_MS + 1)).unwrap_or(0);
        arrival.at = Timestamp((arrival.at.0 + moved - i64::try_from(JITTER_MS).unwrap_or(0)).max(0));
    }
    trace.arrivals.sort_by_key(|arrival| arrival.at);
    trace
}
