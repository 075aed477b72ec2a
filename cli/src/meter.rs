//! What only the host can tell: how much time has passed, and how much memory is held.

use std::time::Duration;
use std::time::Instant;

/// Where something is measured: each place has its own targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Native,
    Wasm,
}

/// A clock, and a look at the memory.
pub trait Meter {
    /// Where this is.
    fn place(&self) -> Place;
    /// The time since some moment that stays the same.
    fn now(&self) -> Duration;
    /// The memory that is held now, in bytes, where the host says so.
    fn held_bytes(&self) -> Option<u64>;
    /// The most memory that has ever been held, in bytes, where the host says so.
    fn peak_bytes(&self) -> Option<u64>;

    /// The time since then.
    fn since(&self, then: Duration) -> Duration {
        self.now().saturating_sub(then)
    }

    /// The target of this place.
    fn target(&self, native: f64, wasm: f64) -> f64 {
        match self.place() {
            Place::Native => native,
            Place::Wasm => wasm,
        }
    }
}

/// A process of the operating system.
#[derive(Clone, Copy, Debug)]
pub struct Process {
    start: Instant,
}

impl Process {
    /// This process; its time begins now.
    #[must_use]
    pub fn this() -> Self {
        Self { start: Instant::now() }
    }
}

impl Meter for Process {
    fn place(&self) -> Place {
        Place::Native
    }

    fn now(&self) -> Duration {
        self.start.elapsed()
    }

    fn held_bytes(&self) -> Option<u64> {
        status_bytes("VmRSS:")
    }

    fn peak_bytes(&self) -> Option<u64> {
        status_bytes("VmHWM:")
    }
}

/// A line of the process's status, which is in KiB.
fn status_bytes(field: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with(field))?;
    line.split_whitespace().nth(1)?.parse().ok().map(|kib: u64| kib * 1024)
}
