//! How long jobs waited.

use serde::Serialize;

/// Waits of some jobs, in milliseconds.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Waits {
    pub started: u64,
    pub p50_ms: i64,
    pub p95_ms: i64,
    pub p99_ms: i64,
    #[serde(skip)]
    all: Vec<i64>,
}

impl Waits {
    pub(super) fn add(&mut self, wait_ms: i64) {
        self.all.push(wait_ms);
    }

    pub(super) fn close(&mut self) {
        self.all.sort_unstable();
        self.started = self.all.len() as u64;
        (self.p50_ms, self.p95_ms, self.p99_ms) = (self.rank(50), self.rank(95), self.rank(99));
    }

    /// The smallest wait that at least this many of a hundred jobs do not exceed.
    fn rank(&self, percent: usize) -> i64 {
        let at = (self.all.len() * percent).div_ceil(100);
        self.all.get(at.saturating_sub(1)).copied().unwrap_or(0)
    }
}
