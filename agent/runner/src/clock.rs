//! The machine's own clock: it only rises, goes on while the machine sleeps, and all of its processes agree on it.

use rustix::time::ClockId;
use rustix::time::clock_gettime;

/// Milliseconds since the machine was started.
#[must_use]
pub fn now() -> u64 {
    let now = clock_gettime(ClockId::Boottime);
    let (seconds, nanos) = (u64::try_from(now.tv_sec), u64::try_from(now.tv_nsec));
    seconds.unwrap_or_default().saturating_mul(1_000) + nanos.unwrap_or_default() / 1_000_000
}

/// What differs after each start of the machine.
pub(crate) fn boot() -> String {
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    text.trim().to_owned()
}
