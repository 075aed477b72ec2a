//! Nonces that have been used, so that a signed request that somebody has overheard cannot be sent again.
//!
//! A nonce is kept until its request would be refused for its age alone. Each key has room for so many: who sends too
//! much fills only their own. A full memory refuses: it never forgets what could still be replayed.

use std::collections::BTreeMap;
use std::convert::Infallible;

use engine::unit::time::Timestamp;
use sha2::Digest;
use sha2::Sha256;

use crate::key::hex;
use crate::signature::Refused;

/// How many nonces of one key are kept. They are used within half an hour, so this is 55 requests a second.
pub const NONCES_MAX: usize = 100_000;

const MINUTE_MS: i64 = 60_000;

/// A nonce of a request whose signature has been verified, shortened to what is enough to tell it from all others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nonce {
    /// What tells it from others.
    pub mark: String,
    /// The minute in which its request becomes too old.
    pub minute: i64,
}

impl Nonce {
    /// A nonce whose request is not accepted after `expires`.
    pub(crate) fn new(text: &str, expires: Timestamp) -> Self {
        let digest: [u8; 32] = Sha256::digest(text.as_bytes()).into();
        Self { mark: hex(&digest[..16]), minute: minute(expires) }
    }
}

/// Where the nonces of one key are kept.
pub trait Nonces {
    /// Why nothing can be read or written.
    type Fault;

    /// Forgets the nonces of minutes before this one.
    fn forget(&mut self, before: i64) -> Result<(), Self::Fault>;
    /// Whether a nonce is there.
    fn has(&self, mark: &str) -> Result<bool, Self::Fault>;
    /// How many are there.
    fn count(&self) -> Result<usize, Self::Fault>;
    /// Adds one.
    fn add(&mut self, nonce: &Nonce) -> Result<(), Self::Fault>;
}

/// In memory: the minute of each mark.
impl Nonces for BTreeMap<String, i64> {
    type Fault = Infallible;

    fn forget(&mut self, before: i64) -> Result<(), Infallible> {
        self.retain(|_, minute| *minute >= before);
        Ok(())
    }

    fn has(&self, mark: &str) -> Result<bool, Infallible> {
        Ok(self.contains_key(mark))
    }

    fn count(&self) -> Result<usize, Infallible> {
        Ok(self.len())
    }

    fn add(&mut self, nonce: &Nonce) -> Result<(), Infallible> {
        self.insert(nonce.mark.clone(), nonce.minute);
        Ok(())
    }
}

/// Takes a nonce in. It is refused when it has been used or when there is no room to remember it.
pub fn admit<N: Nonces>(
    nonces: &mut N,
    nonce: &Nonce,
    limit: usize,
    now: Timestamp,
) -> Result<Result<(), Refused>, N::Fault> {
    nonces.forget(minute(now))?;
    if nonces.has(&nonce.mark)? {
        return Ok(Err(Refused::NonceUsed));
    }
    if nonces.count()? >= limit {
        return Ok(Err(Refused::TooMany { limit }));
    }
    nonces.add(nonce).map(Ok)
}

fn minute(at: Timestamp) -> i64 {
    at.0.div_euclid(MINUTE_MS)
}
