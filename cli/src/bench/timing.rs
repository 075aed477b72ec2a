//! Where and how figures are measured, and what is taken for that.

use std::time::Duration;

use trace::sheet::Source;

use crate::meter::Meter;

const RUNS: usize = 7;
/// What is slow is not measured so often.
pub(super) const ENOUGH: Duration = Duration::from_secs(5);

/// The trace that is replayed.
#[derive(Clone, Debug)]
pub struct Philly {
    pub jobs: Source,
    pub quotas: Source,
}

/// Where and how figures are measured.
#[derive(Clone, Copy)]
pub struct Bench<'a> {
    pub meter: &'a dyn Meter,
    /// Without it nothing is replayed.
    pub philly: Option<&'a Philly>,
    /// Whether everything is measured a single time, and what is long in a shorter form: for a profiler that counts
    /// instructions, which come out the same each time.
    pub is_once: bool,
}

/// What is measured, apart from what leads to it: a function of its own that a counter of instructions can single out.
#[inline(never)]
pub fn measured_work<T>(work: impl FnOnce() -> T) -> T {
    work()
}

impl Bench<'_> {
    pub(super) fn target(&self, native: f64, wasm: f64) -> f64 {
        self.meter.target(native, wasm)
    }

    pub(super) fn timed<T>(&self, work: impl FnOnce() -> T) -> (T, Duration) {
        let began = self.meter.now();
        let outcome = measured_work(work);
        (outcome, self.meter.since(began))
    }

    pub(super) fn runs(&self) -> usize {
        if self.is_once { 1 } else { RUNS }
    }
}
