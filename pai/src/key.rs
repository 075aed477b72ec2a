//! Secrets of access keys. A secret is derived from the master secret, the key's name and its generation: what is stored
//! of a key is worth nothing to whoever steals it.

use std::fmt;
use std::fmt::Write;

use engine::unit::time::Timestamp;
use engine::workspace::key::AccessKey;
use engine::workspace::key::KeyId;
use hmac::Hmac;
use hmac::Mac;
use sha2::Sha256;

/// How many bytes the master secret has at least: as many as the digest that secrets are made with.
pub const MASTER_BYTES_MIN: usize = 32;

/// What only the holder of a key knows.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// A secret that was chosen elsewhere.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// The secret as text, to be shown once to whom it belongs.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

/// The secret that all others come from, and for a while the one before it: what was made of that serves as well.
pub struct Master {
    bytes: Vec<u8>,
    before: Option<Box<Self>>,
}

impl fmt::Debug for Master {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Master(..)")
    }
}

impl Master {
    /// The master secret, if it is long enough.
    #[must_use]
    pub fn new(bytes: &[u8]) -> Option<Self> {
        (bytes.len() >= MASTER_BYTES_MIN).then(|| Self { bytes: bytes.to_owned(), before: None })
    }

    /// With the one before it. What is made from now on is made of the new one alone.
    #[must_use]
    pub fn after(self, before: Option<Self>) -> Self {
        Self { before: before.map(Box::new), ..self }
    }

    /// Those that serve, the newest first.
    pub(crate) fn each(&self) -> impl Iterator<Item = &Self> {
        std::iter::once(self).chain(self.before.as_deref())
    }

    /// The secret of a generation of a key.
    #[must_use]
    pub fn secret(&self, key: &KeyId, generation: u32) -> Secret {
        Secret(self.derived("access key", key, generation))
    }

    /// The security token that goes with a generation of a temporary key.
    #[must_use]
    pub fn security_token(&self, key: &KeyId, generation: u32) -> Secret {
        Secret(self.derived("security token", key, generation))
    }

    /// The code that proves what a session's token says.
    #[must_use]
    pub(crate) fn session_code(&self, text: &str) -> Secret {
        Secret(hex(&hmac_sha256(&self.bytes, format!("session\n{text}").as_bytes())))
    }

    /// Neither a purpose nor a key's name has a line break in it, so no two of these are the same.
    fn derived(&self, purpose: &str, key: &KeyId, generation: u32) -> String {
        let mac = hmac_sha256(&self.bytes, format!("{purpose}\n{}\n{generation}", key.as_str()).as_bytes());
        hex(&mac)
    }
}

/// What a request must be signed with, and the token it must carry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// The secret, and its security token if the key has one.
    pub secret: Secret,
    /// The security token of a temporary key.
    pub security_token: Option<Secret>,
}

/// What a key's requests may be signed with, the newest first; nothing once it is revoked or has expired.
#[must_use]
pub fn accepted(master: &Master, id: &KeyId, key: &AccessKey, now: Timestamp) -> Vec<Accepted> {
    by_generation(master, id, key, now).map(|(_, accepted)| accepted).collect()
}

/// The same, each with its generation.
pub(crate) fn by_generation(
    master: &Master,
    id: &KeyId,
    key: &AccessKey,
    now: Timestamp,
) -> impl Iterator<Item = (u32, Accepted)> {
    let generations = key.generations(now).flat_map(|generation| master.each().map(move |one| (generation, one)));
    generations.map(|(generation, one)| {
        let security_token = key.expires.map(|_| one.security_token(id, generation));
        (generation, Accepted { secret: one.secret(id, generation), security_token })
    })
}

/// The HMAC of a message.
pub(crate) fn hmac_sha256(key: &[u8], message: &[u8]) -> [u8; 32] {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("an HMAC takes a key of any length");
    mac.update(message);
    mac.finalize().into_bytes().into()
}

/// Bytes in lower-case hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use engine::unit::id::UserId;
    use engine::unit::time::Millis;
    use engine::unit::time::Timestamp;

    use engine::workspace::key::AccessKey;
    use engine::workspace::key::KeyId;

    use super::Accepted;
    use super::Master;
    use super::accepted;
    use super::hex;
    use super::hmac_sha256;

    fn master() -> Master {
        Master::new(&[7; 32]).unwrap()
    }

    fn of(key: &AccessKey, at: i64) -> Vec<Accepted> {
        accepted(&master(), &KeyId::new("key-1").unwrap(), key, Timestamp(at))
    }

    fn key(expires: Option<Timestamp>) -> AccessKey {
        AccessKey::new(UserId::new("ann").unwrap(), false, Timestamp(0), expires)
    }

    #[test]
    fn a_known_hmac() {
        // RFC 4231, test case 2.
        let mac = hmac_sha256(b"Jefe", b"what do ya want for nothing?");
        assert_eq!(hex(&mac), "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    }

    #[test]
    fn secrets_differ_by_master_key_generation_and_purpose() {
        let id = |name| KeyId::new(name).unwrap();
        let other = Master::new(&[8; 32]).unwrap();
        let made = [
            master().secret(&id("a"), 1),
            master().secret(&id("a"), 11),
            master().secret(&id("a1"), 1),
            other.secret(&id("a"), 1),
            master().security_token(&id("a"), 1),
        ];
        for (at, one) in made.iter().enumerate() {
            assert!(!made[..at].contains(one), "{at}");
        }
        assert_eq!(master().secret(&id("a"), 1), made[0]);
    }

    #[test]
    fn a_rotated_key_has_two_secrets_for_a_while() {
        let first = of(&key(None), 0);
        let second = key(None).rotated(Timestamp(0), Millis(100));
        assert_eq!(of(&second, 99)[1..], first);
        assert_eq!(of(&second, 100), of(&second, 99)[..1]);
        assert!(of(&AccessKey { is_revoked: true, ..second }, 99).is_empty());
    }

    #[test]
    fn what_was_made_before_serves_until_the_master_before_is_gone() {
        let (id, next) = (KeyId::new("key-1").unwrap(), || Master::new(&[9; 32]).unwrap());
        let both = next().after(Some(master()));
        let serving = accepted(&both, &id, &key(None), Timestamp(0));
        assert_eq!(
            serving.iter().map(|one| &one.secret).collect::<Vec<_>>(),
            [&next().secret(&id, 1), &master().secret(&id, 1)]
        );
        assert_eq!(both.secret(&id, 1), next().secret(&id, 1), "what is shown is new");
        let temporary = accepted(&both, &id, &key(Some(Timestamp(9))), Timestamp(0));
        assert_eq!(temporary[1].security_token, Some(master().security_token(&id, 1)));
        assert_eq!(accepted(&next(), &id, &key(None), Timestamp(0)), serving[..1]);
    }

    #[test]
    fn only_temporary_keys_have_security_tokens() {
        let token = |expires| of(&key(expires), 0)[0].security_token.is_some();
        assert!(token(Some(Timestamp(100))));
        assert!(!token(None));
    }

    #[test]
    fn a_short_master_secret_is_refused() {
        assert!(Master::new(&[7; 31]).is_none());
    }

    #[test]
    fn secrets_are_not_printed() {
        assert_eq!(format!("{:?} {:?}", master(), of(&key(None), 0)[0].secret), "Master(..) Secret(..)");
    }
}
