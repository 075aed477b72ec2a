//! How fast one sender may go: a bucket that fills at a steady rate and is emptied by requests.

use engine::unit::time::Millis;
use engine::unit::time::Timestamp;

/// Requests a second that go on for ever.
pub const PER_SECOND: i64 = 50;
/// Requests that may come at once after a pause.
pub const BURST: i64 = 1_000;

/// What one sender has left, in thousandths of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bucket {
    left: i64,
    at: Timestamp,
}

impl Bucket {
    /// A full one.
    #[must_use]
    pub fn new(now: Timestamp) -> Self {
        Self { left: BURST * 1_000, at: now }
    }

    /// Takes a request in, or says how long to wait before the next one.
    pub fn take(&mut self, now: Timestamp) -> Result<(), Millis> {
        let passed = (now - self.at).0.clamp(0, BURST * 1_000);
        // A thousandth of a request each millisecond, for each request a second.
        self.left = (self.left + passed * PER_SECOND).min(BURST * 1_000);
        self.at = self.at.max(now);
        if self.left >= 1_000 {
            self.left -= 1_000;
            return Ok(());
        }
        Err(Millis((1_000 - self.left + PER_SECOND - 1) / PER_SECOND))
    }

    /// Whether it is as good as a new one, so that it need not be kept.
    #[must_use]
    pub fn is_full(&self, now: Timestamp) -> bool {
        self.left + (now - self.at).0.clamp(0, BURST * 1_000) * PER_SECOND >= BURST * 1_000
    }
}

#[cfg(test)]
mod tests {
    use engine::unit::time::Millis;
    use engine::unit::time::Timestamp;

    use super::BURST;
    use super::Bucket;
    use super::PER_SECOND;

    #[test]
    fn after_a_burst_requests_come_at_the_steady_rate() {
        let mut bucket = Bucket::new(Timestamp(0));
        for _ in 0..BURST {
            assert_eq!(bucket.take(Timestamp(0)), Ok(()));
        }
        let wait = bucket.take(Timestamp(0)).unwrap_err();
        assert_eq!(wait, Millis(1_000 / PER_SECOND));
        assert!(bucket.take(Timestamp(wait.0 - 1)).is_err());
        assert_eq!(bucket.take(Timestamp(wait.0)), Ok(()));
        let taken = (0..=1_000).filter(|ms| bucket.take(Timestamp(wait.0 + ms)).is_ok()).count();
        assert_eq!(i64::try_from(taken), Ok(PER_SECOND));
    }

    #[test]
    fn a_pause_fills_the_bucket_and_no_more() {
        let mut bucket = Bucket::new(Timestamp(0));
        assert!(bucket.is_full(Timestamp(0)));
        assert_eq!(bucket.take(Timestamp(0)), Ok(()));
        assert!(!bucket.is_full(Timestamp(0)));
        assert!(bucket.is_full(Timestamp(20)));
        let taken = (0..2 * BURST).filter(|_| bucket.take(Timestamp(i64::MAX)).is_ok()).count();
        assert_eq!(i64::try_from(taken), Ok(BURST));
        // A clock that goes back gives nothing.
        assert!(bucket.take(Timestamp(0)).is_err());
    }
}
