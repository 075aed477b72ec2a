//! Nonces serve once.

use std::collections::BTreeMap;

use engine::unit::time::Millis;
use engine::unit::time::Timestamp;
use pai::nonce::Nonce;
use pai::nonce::admit;
use pai::signature::Refused;
use pai::signature::SKEW_MAX;

use crate::verification::date;
use crate::verification::verify_at;
use crate::wire;

#[derive(Default)]
struct Memory(BTreeMap<String, i64>);

impl Memory {
    /// Whether a nonce is taken in.
    fn admit(&mut self, nonce: &Nonce, limit: usize, now: Timestamp) -> Result<(), Refused> {
        let Ok(outcome) = admit(&mut self.0, nonce, limit, now);
        outcome
    }

    fn admit_named(&mut self, mark: &str, minute: i64, limit: usize, now: i64) -> Result<(), Refused> {
        self.admit(&Nonce { mark: mark.to_owned(), minute }, limit, Timestamp(now))
    }
}

#[test]
fn a_replayed_request_is_refused_until_its_date_refuses_it() {
    let wire = wire::named("dlc_StopJob");
    let mut nonces = Memory::default();
    let mut now = date(&wire) - SKEW_MAX;
    let mut n_refused = 0;
    assert_eq!(nonces.admit(&verify_at(&wire, now).unwrap(), 10, now), Ok(()));
    while let Ok(nonce) = verify_at(&wire, now) {
        assert_eq!(nonces.admit(&nonce, 10, now), Err(Refused::NonceUsed));
        n_refused += 1;
        now = now + Millis(1_000);
    }
    assert_eq!(n_refused, 1_801);
}

#[test]
fn a_nonce_serves_once_whatever_its_date_until_it_has_expired() {
    let mut nonces = Memory::default();
    assert_eq!(nonces.admit_named("a", 10, 10, 0), Ok(()));
    assert_eq!(nonces.admit_named("a", 10, 10, 0), Err(Refused::NonceUsed));
    assert_eq!(nonces.admit_named("a", 11, 10, 600_000), Err(Refused::NonceUsed));
    assert_eq!(nonces.admit_named("b", 10, 10, 0), Ok(()));
    assert_eq!(nonces.admit_named("a", 26, 10, 660_000), Ok(()));
}

#[test]
fn a_full_memory_refuses_until_something_expires() {
    let mut nonces = Memory::default();
    for mark in ["a", "b"] {
        assert_eq!(nonces.admit_named(mark, 1, 2, 0), Ok(()));
    }
    assert_eq!(nonces.admit_named("c", 1, 2, 0), Err(Refused::TooMany { limit: 2 }));
    assert_eq!(nonces.admit_named("a", 1, 2, 0), Err(Refused::NonceUsed));
    assert_eq!(nonces.admit_named("c", 3, 2, 120_000), Ok(()));
    assert_eq!(nonces.0.len(), 1);
}
