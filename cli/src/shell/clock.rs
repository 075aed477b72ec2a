//! Times as they are printed: in one zone, so that two terminals say the same.

use engine::market::bill::date;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;

/// `2026-11-23T20:41:40Z`.
#[must_use]
pub fn text(at: Timestamp) -> String {
    let day = 24 * Millis::HOUR.0;
    let seconds = at.0.rem_euclid(day) / 1_000;
    format!("{}T{:02}:{:02}:{:02}Z", date(at.0.div_euclid(day)), seconds / 3_600, seconds / 60 % 60, seconds % 60)
}

#[cfg(test)]
mod tests {
    use engine::unit::time::Timestamp;

    use super::text;

    #[test]
    fn times_read_back() {
        for told in ["1970-01-01T00:00:00Z", "2026-11-23T20:41:40Z", "2028-02-29T23:59:59Z"] {
            assert_eq!(trace::calendar::timestamp(told).map(text).as_deref(), Some(told));
        }
        assert_eq!(text(Timestamp(-1)), "1969-12-31T23:59:59Z");
    }
}
