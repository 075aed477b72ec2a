//! Access keys. A secret is derived from the master secret, the key's name and its generation: what is stored of a key
//! is worth nothing to whoever steals it.

use std::fmt;
use std::fmt::Write;

use engine::unit::id::UserId;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;
use hmac::Hmac;
use hmac::Mac;
use sha2::Sha256;

/// How many characters a key's name may have.
pub const KEY_ID_CHARS_MAX: usize = 64;
/// How many bytes the master secret has at least: as many as the digest that secrets are made with.
pub const MASTER_BYTES_MIN: usize = 32;

/// The name of an access key: letters, digits, `.`, `_` and `-`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KeyId(String);

impl KeyId {
    /// The name, if it is acceptable.
    #[must_use]
    pub fn new(name: &str) -> Option<Self> {
        let is_known = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        let is_good = (1..=KEY_ID_CHARS_MAX).contains(&name.len()) && name.chars().all(is_known);
        is_good.then(|| Self(name.to_owned()))
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

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

/// The secret that all others come from.
pub struct Master(Vec<u8>);

impl fmt::Debug for Master {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Master(..)")
    }
}

impl Master {
    /// The master secret, if it is long enough.
    #[must_use]
    pub fn new(bytes: &[u8]) -> Option<Self> {
        (bytes.len() >= MASTER_BYTES_MIN).then(|| Self(bytes.to_owned()))
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

    /// Neither a purpose nor a key's name has a line break in it, so no two of these are the same.
    fn derived(&self, purpose: &str, key: &KeyId, generation: u32) -> String {
        let mac = hmac_sha256(&self.0, format!("{purpose}\n{}\n{generation}", key.as_str()).as_bytes());
        hex(&mac)
    }
}

/// What is kept of an access key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// Its name.
    pub id: KeyId,
    /// Whose it is.
    pub owner: UserId,
    /// Which of its secrets is the newest.
    pub generation: u32,
    /// Until when the secret before that still serves.
    pub previous_until: Option<Timestamp>,
    /// When a temporary key ends. Such a key has a security token, which its requests must carry.
    pub expires: Option<Timestamp>,
    /// Whether it has been revoked, which is for ever.
    pub is_revoked: bool,
}

/// What a request must be signed with, and the token it must carry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// The secret, and its security token if the key has one.
    pub secret: Secret,
    /// The security token of a temporary key.
    pub security_token: Option<Secret>,
}

impl Key {
    /// A key of a user; a temporary one if it expires.
    #[must_use]
    pub fn new(id: KeyId, owner: UserId, expires: Option<Timestamp>) -> Self {
        Self { id, owner, generation: 1, previous_until: None, expires, is_revoked: false }
    }

    /// Gives the key a new secret. The one before it serves for `overlap` longer, the ones before that no more.
    pub fn rotate(&mut self, now: Timestamp, overlap: Millis) {
        self.generation = self.generation.saturating_add(1);
        self.previous_until = (overlap > Millis::ZERO).then(|| now + overlap);
    }

    /// What the key's requests may be signed with, the newest first; nothing once it is revoked or has expired.
    #[must_use]
    pub fn accepted(&self, master: &Master, now: Timestamp) -> Vec<Accepted> {
        if self.is_revoked || self.expires.is_some_and(|end| end <= now) {
            return Vec::new();
        }
        let previous = self.previous_until.filter(|end| now < *end).and_then(|_| self.generation.checked_sub(1));
        let generations = std::iter::once(self.generation).chain(previous);
        let accepted = |generation| Accepted {
            secret: master.secret(&self.id, generation),
            security_token: self.expires.map(|_| master.security_token(&self.id, generation)),
        };
        generations.map(accepted).collect()
    }
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

    use super::Key;
    use super::KeyId;
    use super::Master;
    use super::hex;
    use super::hmac_sha256;

    fn master() -> Master {
        Master::new(&[7; 32]).unwrap()
    }

    fn key(expires: Option<Timestamp>) -> Key {
        Key::new(KeyId::new("key-1").unwrap(), UserId::new("ann").unwrap(), expires)
    }

    fn secrets(key: &Key, at: i64) -> Vec<String> {
        key.accepted(&master(), Timestamp(at)).iter().map(|one| one.secret.reveal().to_owned()).collect()
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
    fn a_rotated_key_keeps_its_last_secret_for_a_while_and_no_earlier_one() {
        let mut key = key(None);
        let first = secrets(&key, 0);
        key.rotate(Timestamp(0), Millis(100));
        let second = secrets(&key, 99);
        assert_eq!(second[1..], first);
        assert_eq!(secrets(&key, 100), second[..1]);
        key.rotate(Timestamp(50), Millis(100));
        assert!(!secrets(&key, 60).contains(&first[0]));
        key.rotate(Timestamp(60), Millis::ZERO);
        assert_eq!(secrets(&key, 60).len(), 1);
    }

    #[test]
    fn a_revoked_or_expired_key_has_no_secret() {
        let mut key = key(Some(Timestamp(100)));
        assert_eq!(secrets(&key, 99).len(), 1);
        assert!(secrets(&key, 100).is_empty());
        key.is_revoked = true;
        assert!(secrets(&key, 99).is_empty());
    }

    #[test]
    fn only_temporary_keys_have_security_tokens() {
        let token = |expires| key(expires).accepted(&master(), Timestamp(0))[0].security_token.is_some();
        assert!(token(Some(Timestamp(100))));
        assert!(!token(None));
    }

    #[test]
    fn a_short_master_secret_and_strange_names_are_refused() {
        assert!(Master::new(&[7; 31]).is_none());
        for name in ["", "a,b", "a b", "a\nb", "a/b", "é"] {
            assert!(KeyId::new(name).is_none(), "{name}");
        }
        assert!(KeyId::new(&"k".repeat(65)).is_none());
    }

    #[test]
    fn secrets_are_not_printed() {
        assert_eq!(format!("{:?} {:?}", master(), master().secret(&key(None).id, 1)), "Master(..) Secret(..)");
    }
}
