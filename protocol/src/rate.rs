//! How fast one sender may go: a bucket that fills at a steady rate and is emptied by requests.

use std::collections::BTreeMap;
use std::net::Ipv6Addr;

use engine::unit::time::Millis;
use engine::unit::time::Timestamp;

/// How much may come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// What may go on for ever.
    pub per_second: i64,
    /// What may come at once after a pause.
    pub burst: i64,
}

/// Requests of one key.
pub const REQUESTS: Rate = Rate { per_second: 50, burst: 1_000 };
/// Wrong secrets from one network, or wrong signatures. Nobody guesses a secret; this is what looking at them may cost.
pub const FAILURES: Rate = Rate { per_second: 5, burst: 500 };

/// Sessions that one key opens: each is a row until it ends by itself.
pub const SIGN_INS: Rate = Rate { per_second: 1, burst: 200 };

/// How many buckets are kept before those that are as good as new ones are forgotten.
const BUCKETS_MAX: usize = 10_000;

/// What one sender has left, in thousandths of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Bucket {
    left: i64,
    at: Timestamp,
}

impl Bucket {
    fn left(&self, rate: Rate, now: Timestamp) -> i64 {
        // A thousandth of a request each millisecond, for each request a second.
        let passed = (now - self.at).0.max(0);
        self.left.saturating_add(passed.saturating_mul(rate.per_second)).min(rate.burst * 1_000)
    }
}

/// How fast senders of a kind go.
#[derive(Clone, Debug)]
pub struct Buckets<K> {
    rate: Rate,
    of: BTreeMap<K, Bucket>,
}

impl<K: Ord> Buckets<K> {
    /// Full ones.
    #[must_use]
    pub fn new(rate: Rate) -> Self {
        Self { rate, of: BTreeMap::new() }
    }

    /// Whether a sender has something left, or how long to wait until then. It takes nothing.
    pub fn check(&self, sender: &K, now: Timestamp) -> Result<(), Millis> {
        let left = self.of.get(sender).map_or(self.rate.burst * 1_000, |bucket| bucket.left(self.rate, now));
        if left >= 1_000 {
            return Ok(());
        }
        Err(Millis((1_000 - left + self.rate.per_second - 1) / self.rate.per_second))
    }

    /// Takes a request of a sender in, or says how long to wait before the next one.
    pub fn take(&mut self, sender: K, now: Timestamp) -> Result<(), Millis> {
        self.check(&sender, now)?;
        self.make_room(now);
        let full = Bucket { left: self.rate.burst * 1_000, at: now };
        let bucket = self.of.entry(sender).or_insert(full);
        // A clock that goes back gives nothing.
        *bucket = Bucket { left: bucket.left(self.rate, now) - 1_000, at: bucket.at.max(now) };
        Ok(())
    }

    /// Takes what a request has cost beyond what was taken for it, or gives back what was taken too much. A sender may owe
    /// something then, and waits for as long as that takes.
    pub fn charge(&mut self, sender: K, requests: i64, now: Timestamp) {
        let full = Bucket { left: self.rate.burst * 1_000, at: now };
        let bucket = self.of.entry(sender).or_insert(full);
        let left = bucket.left(self.rate, now).saturating_sub(requests.saturating_mul(1_000));
        *bucket = Bucket { left: left.min(self.rate.burst * 1_000), at: bucket.at.max(now) };
    }

    /// Forgets those that are full, and all of them where most are not: so many senders at once are stopped elsewhere
    /// or not at all, and looking through them again and again would cost more than they do.
    fn make_room(&mut self, now: Timestamp) {
        if self.of.len() < BUCKETS_MAX {
            return;
        }
        let rate = self.rate;
        self.of.retain(|_, bucket| bucket.left(rate, now) < rate.burst * 1_000);
        if self.of.len() > BUCKETS_MAX / 2 {
            self.of.clear();
        }
    }
}

/// The network that an address belongs to: whoever has one address of the newer kind has as many as they like.
#[must_use]
pub fn network(address: &str) -> String {
    match address.parse::<Ipv6Addr>() {
        Ok(parsed) => Ipv6Addr::from(u128::from(parsed) >> 64 << 64).to_string(),
        Err(_) => address.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use engine::unit::time::Millis;
    use engine::unit::time::Timestamp;

    use super::BUCKETS_MAX;
    use super::Buckets;
    use super::FAILURES;
    use super::REQUESTS;
    use super::network;

    const BURST: i64 = REQUESTS.burst;

    #[test]
    fn after_a_burst_requests_come_at_the_steady_rate() {
        let mut buckets = Buckets::new(REQUESTS);
        for _ in 0..BURST {
            assert_eq!(buckets.take("ann", Timestamp(0)), Ok(()));
        }
        let wait = buckets.take("ann", Timestamp(0)).unwrap_err();
        assert_eq!(wait, Millis(1_000 / REQUESTS.per_second));
        assert_eq!(buckets.take("bob", Timestamp(0)), Ok(()), "everybody has their own");
        assert!(buckets.take("ann", Timestamp(wait.0 - 1)).is_err());
        assert_eq!(buckets.take("ann", Timestamp(wait.0)), Ok(()));
        let taken = (0..=1_000).filter(|ms| buckets.take("ann", Timestamp(wait.0 + ms)).is_ok()).count();
        assert_eq!(i64::try_from(taken), Ok(REQUESTS.per_second));
    }

    #[test]
    fn a_pause_fills_the_bucket_and_no_more() {
        let mut buckets = Buckets::new(REQUESTS);
        let taken = |buckets: &mut Buckets<&str>, at: i64| {
            let taken = (0..2 * BURST).filter(|_| buckets.take("ann", Timestamp(at)).is_ok()).count();
            i64::try_from(taken).unwrap()
        };
        assert_eq!(taken(&mut buckets, 0), BURST);
        assert_eq!(taken(&mut buckets, 100), REQUESTS.per_second / 10);
        assert_eq!(taken(&mut buckets, i64::MAX), BURST);
        // A clock that goes back gives nothing.
        assert_eq!(taken(&mut buckets, 0), 0);
    }

    #[test]
    fn asking_takes_nothing() {
        let mut buckets = Buckets::new(FAILURES);
        for _ in 0..FAILURES.burst {
            assert_eq!(buckets.check(&1, Timestamp(0)), Ok(()));
        }
        for _ in 0..FAILURES.burst {
            assert_eq!(buckets.take(1, Timestamp(0)), Ok(()));
        }
        assert_eq!(buckets.check(&1, Timestamp(0)), Err(Millis(1_000 / FAILURES.per_second)));
    }

    #[test]
    fn a_read_counts_for_as_many_requests_as_it_costs() {
        let mut buckets = Buckets::new(REQUESTS);
        for _ in 0..BURST / 100 {
            assert_eq!(buckets.take("ann", Timestamp(0)), Ok(()));
            buckets.charge("ann", 99, Timestamp(0));
        }
        assert_eq!(buckets.take("ann", Timestamp(0)), Err(Millis(1_000 / REQUESTS.per_second)));
        // Who owes something waits until it is paid.
        buckets.charge("ann", 500, Timestamp(0));
        let wait = 501 * 1_000 / REQUESTS.per_second;
        assert_eq!(buckets.check(&"ann", Timestamp(0)), Err(Millis(wait)));
        assert_eq!(buckets.check(&"ann", Timestamp(wait)), Ok(()));
        // What was taken too much comes back, and no more than fits.
        buckets.charge("bob", -10, Timestamp(0));
        let taken = (0..2 * BURST).filter(|_| buckets.take("bob", Timestamp(0)).is_ok()).count();
        assert_eq!(i64::try_from(taken), Ok(BURST));
    }

    #[test]
    fn many_senders_take_limited_room() {
        let mut buckets = Buckets::new(FAILURES);
        for sender in 0..3 * BUCKETS_MAX {
            assert_eq!(buckets.take(sender, Timestamp(0)), Ok(()));
            assert!(buckets.of.len() <= BUCKETS_MAX);
        }
        // Those that have had a pause are forgotten first.
        let mut buckets = Buckets::new(FAILURES);
        for sender in 0..BUCKETS_MAX {
            assert_eq!(buckets.take(sender, Timestamp(0)), Ok(()));
        }
        let later = Timestamp(1_000);
        assert_eq!(buckets.take(0, later), Ok(()));
        assert_eq!(buckets.of.len(), 1);
        assert_eq!(buckets.take(1, later), Ok(()));
        assert_eq!(buckets.of.len(), 2);
    }

    #[test]
    fn a_network_of_the_newer_kind_is_one_sender() {
        assert_eq!(network("2001:db8:0:1::1"), network("2001:db8:0:1:ffff::2"));
        assert_ne!(network("2001:db8:0:1::1"), network("2001:db8:0:2::1"));
        assert_ne!(network("192.0.2.1"), network("192.0.2.2"));
        assert_eq!(network("nowhere"), "nowhere");
    }
}
