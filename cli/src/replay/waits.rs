//! How long jobs waited.

use std::fmt;

use engine::host::plan::account::Wait;
use engine::host::plan::account::rank;
use engine::unit::time::Millis;
use serde::Serialize;

use crate::replay::number::period;

/// Waits of some jobs, in milliseconds. A job that still waits counts with the time until the end, as in a plan.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Waits {
    pub started: u64,
    pub mean_ms: i64,
    pub p50_ms: i64,
    pub p95_ms: i64,
    pub p99_ms: i64,
    #[serde(skip)]
    ranks: [Wait; 3],
    #[serde(skip)]
    all: Vec<Wait>,
}

impl Waits {
    /// One that has ended with a start.
    pub(super) fn add(&mut self, wait_ms: i64) {
        self.started += 1;
        self.all.push(Wait { length: Millis(wait_ms), is_open: false });
    }

    /// One that lasts so far.
    pub(super) fn add_open(&mut self, wait_ms: i64) {
        self.all.push(Wait { length: Millis(wait_ms), is_open: true });
    }

    pub(super) fn close(&mut self) {
        self.all.sort_unstable();
        self.ranks = [50, 95, 99].map(|percent| rank(&self.all, percent).unwrap_or_default());
        [self.p50_ms, self.p95_ms, self.p99_ms] = self.ranks.map(|wait| wait.length.0);
        let sum: i128 = self.all.iter().map(|wait| i128::from(wait.length.0)).sum();
        let jobs = i128::try_from(self.all.len().max(1)).unwrap_or(1);
        self.mean_ms = i64::try_from(sum / jobs).unwrap_or(i64::MAX);
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }
}

/// `p50 0 s, p95 3.1 h, p99 more than 9.8 h`.
impl fmt::Display for Waits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (name, Wait { length, is_open })) in ["p50", "p95", "p99"].iter().zip(self.ranks).enumerate() {
            let (before, more) = (if at == 0 { "" } else { ", " }, if is_open { "more than " } else { "" });
            write!(f, "{before}{name} {more}{}", period(length.0))?;
        }
        Ok(())
    }
}
