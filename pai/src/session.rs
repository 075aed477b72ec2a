//! Session tokens of the console: who has shown a key's secret once carries a token instead, for some hours.
//!
//! A token names the key and the generation of the secret that was shown, so it ends when these do; what it says is
//! proved by a code that only the master secret makes. Nothing of it is stored.

use engine::unit::time::Millis;
use engine::unit::time::Timestamp;
use engine::workspace::key::AccessKey;
use engine::workspace::key::KeyId;
use subtle::ConstantTimeEq;

use crate::key::Master;
use crate::key::Secret;
use crate::key::by_generation;

/// How long a session lasts.
pub const SESSION: Millis = Millis(12 * 3_600_000);

const MARK: &str = "tgs-";

/// A session, as its token tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// The key whose secret was shown.
    pub key: KeyId,
    /// Which of its secrets that was.
    pub generation: u32,
    /// When the session ends.
    pub expires: Timestamp,
}

impl Session {
    /// The session of whoever shows a secret of a key; none if the secret serves no more, or never did. A temporary key
    /// opens none: it is for programs, which sign.
    #[must_use]
    pub fn open(master: &Master, id: &KeyId, key: &AccessKey, shown: &Secret, now: Timestamp) -> Option<Self> {
        let mut serving = by_generation(master, id, key, now);
        let is_shown = |secret: &Secret| bool::from(secret.reveal().as_bytes().ct_eq(shown.reveal().as_bytes()));
        let (generation, _) = serving.find(|(_, one)| one.security_token.is_none() && is_shown(&one.secret))?;
        Some(Self { key: id.clone(), generation, expires: now + SESSION })
    }

    /// The token, to be kept like a secret.
    #[must_use]
    pub fn token(&self, master: &Master) -> Secret {
        let text = self.text();
        Secret::new(&format!("{text}.{}", master.session_code(&text).reveal()))
    }

    /// The session of a token; none if it is not one of ours, or is over.
    #[must_use]
    pub fn read(master: &Master, token: &str, now: Timestamp) -> Option<Self> {
        let (text, code) = token.rsplit_once('.')?;
        let is_proved = |one: &Master| bool::from(one.session_code(text).reveal().as_bytes().ct_eq(code.as_bytes()));
        if !master.each().any(is_proved) {
            return None;
        }
        let mut parts = text.strip_prefix(MARK)?.rsplitn(3, '.');
        let expires = Timestamp(parts.next()?.parse().ok()?);
        let generation = parts.next()?.parse().ok()?;
        let key = KeyId::new(parts.next()?)?;
        (now < expires).then_some(Self { key, generation, expires })
    }

    /// Whether a token claims to be one of ours.
    #[must_use]
    pub fn is_token(text: &str) -> bool {
        text.starts_with(MARK)
    }

    fn text(&self) -> String {
        let Self { key, generation, expires } = self;
        format!("{MARK}{key}.{generation}.{}", expires.0)
    }
}

#[cfg(test)]
mod tests {
    use engine::unit::id::UserId;
    use engine::unit::time::Millis;
    use engine::unit::time::Timestamp;
    use engine::workspace::key::AccessKey;
    use engine::workspace::key::KeyId;

    use super::SESSION;
    use super::Session;
    use crate::key::Master;
    use crate::key::Secret;

    fn master() -> Master {
        Master::new(&[7; 32]).unwrap()
    }

    fn id() -> KeyId {
        KeyId::new("demo.0a").unwrap()
    }

    fn key(expires: Option<Timestamp>) -> AccessKey {
        AccessKey::new(UserId::new("ann").unwrap(), false, Timestamp(0), expires)
    }

    fn open(key: &AccessKey, secret: &Secret, at: i64) -> Option<Session> {
        Session::open(&master(), &id(), key, secret, Timestamp(at))
    }

    #[test]
    fn a_token_tells_its_session_until_it_ends() {
        let session = open(&key(None), &master().secret(&id(), 1), 5).unwrap();
        assert_eq!((session.generation, session.expires), (1, Timestamp(5) + SESSION));
        let token = session.token(&master());
        let read = |at: Timestamp| Session::read(&master(), token.reveal(), at);
        assert_eq!(read(Timestamp(6)), Some(session.clone()));
        assert_eq!(read(session.expires), None);
    }

    #[test]
    fn sessions_go_on_when_the_master_secret_is_changed() {
        let next = || Master::new(&[9; 32]).unwrap();
        let both = next().after(Some(master()));
        let old = open(&key(None), &master().secret(&id(), 1), 5).unwrap().token(&master());
        assert!(Session::read(&both, old.reveal(), Timestamp(6)).is_some());
        assert!(Session::read(&next(), old.reveal(), Timestamp(6)).is_none());
        for secret in [master().secret(&id(), 1), next().secret(&id(), 1)] {
            let opened = Session::open(&both, &id(), &key(None), &secret, Timestamp(5)).unwrap();
            assert!(Session::read(&next(), opened.token(&both).reveal(), Timestamp(6)).is_some(), "its token is new");
        }
    }

    #[test]
    fn a_token_with_anything_changed_is_none() {
        let session = open(&key(None), &master().secret(&id(), 1), 5).unwrap();
        let token = session.token(&master()).reveal().to_owned();
        for at in 0..token.len() {
            let mut other = token.clone().into_bytes();
            other[at] = if other[at] == b'0' { b'1' } else { b'0' };
            let other = String::from_utf8(other).unwrap();
            assert_eq!(Session::read(&master(), &other, Timestamp(6)), None, "{other}");
        }
        assert_eq!(Session::read(&Master::new(&[8; 32]).unwrap(), &token, Timestamp(6)), None);
    }

    #[test]
    fn only_a_serving_secret_opens_a_session() {
        let (first, second) = (master().secret(&id(), 1), master().secret(&id(), 2));
        assert!(open(&key(None), &second, 0).is_none());
        let rotated = key(None).rotated(Timestamp(0), Millis(10));
        assert_eq!(open(&rotated, &first, 9).map(|session| session.generation), Some(1));
        assert_eq!(open(&rotated, &second, 9).map(|session| session.generation), Some(2));
        assert!(open(&rotated, &first, 10).is_none());
        assert!(open(&AccessKey { is_revoked: true, ..rotated }, &second, 9).is_none());
        assert!(open(&key(Some(Timestamp(100))), &first, 9).is_none());
    }
}
