//! Nonces that have been used, so that a signed request that somebody has overheard cannot be sent again.
//!
//! One memory serves one key: who sends too much fills only their own. A nonce is kept until its request would be
//! refused for its age alone. A full memory refuses: it never forgets what could still be replayed.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use engine::unit::time::Timestamp;
use sha2::Digest;
use sha2::Sha256;

use crate::signature::Refused;

/// How many nonces of one key are kept. They are used within half an hour, so this is 55 requests a second.
pub const NONCES_MAX: usize = 100_000;

const MINUTE_MS: i64 = 60_000;

/// A nonce, shortened to what is enough to tell it from all others.
type Mark = [u8; 16];

/// A nonce of a request whose signature has been verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nonce {
    mark: Mark,
    expires: Timestamp,
}

impl Nonce {
    /// A nonce whose request is not accepted after `expires`.
    pub(crate) fn new(text: &str, expires: Timestamp) -> Self {
        let digest: [u8; 32] = Sha256::digest(text.as_bytes()).into();
        let mut mark = Mark::default();
        mark.copy_from_slice(&digest[..16]);
        Self { mark, expires }
    }
}

/// The nonces that a key has used.
#[derive(Clone, Debug)]
pub struct Nonces {
    limit: usize,
    count: usize,
    /// By the minute in which they expire.
    minutes: BTreeMap<i64, BTreeSet<Mark>>,
}

impl Nonces {
    /// A memory for so many nonces.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self { limit, count: 0, minutes: BTreeMap::new() }
    }

    /// Takes a nonce in. It is refused when it has been used or when there is no room to remember it.
    pub fn admit(&mut self, nonce: &Nonce, now: Timestamp) -> Result<(), Refused> {
        self.forget(now);
        if self.minutes.values().any(|used| used.contains(&nonce.mark)) {
            return Err(Refused::NonceUsed);
        }
        if self.count >= self.limit {
            return Err(Refused::TooMany { limit: self.limit });
        }
        self.count += 1;
        self.minutes.entry(minute(nonce.expires)).or_default().insert(nonce.mark);
        Ok(())
    }

    /// Forgets whole minutes, and only those that are over.
    fn forget(&mut self, now: Timestamp) {
        let kept = self.minutes.split_off(&minute(now));
        let forgotten = std::mem::replace(&mut self.minutes, kept);
        self.count -= forgotten.values().map(BTreeSet::len).sum::<usize>();
    }
}

fn minute(at: Timestamp) -> i64 {
    at.0.div_euclid(MINUTE_MS)
}

#[cfg(test)]
mod tests {
    use engine::unit::time::Timestamp;

    use super::Nonce;
    use super::Nonces;
    use crate::signature::Refused;

    fn nonce(text: &str, expires: i64) -> Nonce {
        Nonce::new(text, Timestamp(expires))
    }

    #[test]
    fn a_nonce_serves_once_whatever_its_date_until_it_has_expired() {
        let mut nonces = Nonces::new(10);
        assert_eq!(nonces.admit(&nonce("a", 600_000), Timestamp(0)), Ok(()));
        assert_eq!(nonces.admit(&nonce("a", 600_000), Timestamp(0)), Err(Refused::NonceUsed));
        assert_eq!(nonces.admit(&nonce("a", 700_000), Timestamp(600_000)), Err(Refused::NonceUsed));
        assert_eq!(nonces.admit(&nonce("b", 600_000), Timestamp(0)), Ok(()));
        assert_eq!(nonces.admit(&nonce("a", 1_600_000), Timestamp(660_000)), Ok(()));
    }

    #[test]
    fn a_full_memory_refuses_until_something_expires() {
        let mut nonces = Nonces::new(2);
        for text in ["a", "b"] {
            assert_eq!(nonces.admit(&nonce(text, 60_000), Timestamp(0)), Ok(()));
        }
        assert_eq!(nonces.admit(&nonce("c", 60_000), Timestamp(0)), Err(Refused::TooMany { limit: 2 }));
        assert_eq!(nonces.admit(&nonce("a", 60_000), Timestamp(0)), Err(Refused::NonceUsed));
        assert_eq!(nonces.admit(&nonce("c", 180_000), Timestamp(120_000)), Ok(()));
        assert_eq!(nonces.count, 1);
    }
}
