//! What time it is for the service. A computer whose clock is an hour off would say that jobs are over which go on.

use std::sync::atomic::AtomicI64;
use std::sync::atomic::Ordering;
use std::time::SystemTime;
use std::time::UNIX_EPOCH;

use engine::unit::time::Millis;
use engine::unit::time::Timestamp;

/// Answers tell whole seconds, and are under way for a while: what differs less is the same.
const SAME: Millis = Millis(5_000);
const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// How far the service's clock is ahead of this computer's, as its last answer told. A process talks to one service.
static AHEAD_MS: AtomicI64 = AtomicI64::new(0);

/// The time by the service's clock, once it has answered; by this computer's until then.
#[must_use]
pub fn now() -> Timestamp {
    here() + Millis(AHEAD_MS.load(Ordering::Relaxed))
}

/// Takes the time that an answer tells.
pub(super) fn hear(date: Option<&str>) {
    if let Some(told) = date.and_then(read) {
        AHEAD_MS.store(ahead(told, here()).0, Ordering::Relaxed);
    }
}

fn here() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

fn ahead(told: Timestamp, here: Timestamp) -> Millis {
    let apart = told - here;
    if (-SAME.0..=SAME.0).contains(&apart.0) { Millis::ZERO } else { apart }
}

/// `Wed, 25 Nov 2026 00:47:06 GMT`, as HTTP has it.
fn read(date: &str) -> Option<Timestamp> {
    let (_, date) = date.split_once(", ")?;
    let [day, month, year, time, "GMT"] = date.split(' ').collect::<Vec<_>>()[..] else { return None };
    let month = MONTHS.iter().position(|known| *known == month)? + 1;
    trace::calendar::timestamp(&format!("{year}-{month:02}-{day}T{time}Z"))
}

#[cfg(test)]
mod tests {
    use engine::unit::time::Millis;
    use engine::unit::time::Timestamp;

    use super::ahead;
    use super::read;

    #[test]
    fn dates_of_answers_are_read() {
        let told = read("Wed, 25 Nov 2026 00:47:06 GMT");
        assert_eq!(told, trace::calendar::timestamp("2026-11-25T00:47:06Z"));
        assert!(told.is_some());
        for bad in ["", "soon", "Wed, 25 Now 2026 00:47:06 GMT", "Wed, 25 Nov 2026 00:47:06 CET"] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_clock_that_is_an_hour_off_is_set_right_and_a_second_is_no_difference() {
        let here = Timestamp(10_000_000);
        assert_eq!(ahead(here + Millis::HOUR, here), Millis::HOUR);
        assert_eq!(ahead(here - Millis::HOUR, here), Millis(-Millis::HOUR.0));
        assert_eq!(ahead(here - Millis::from_seconds(1), here), Millis::ZERO);
    }
}
