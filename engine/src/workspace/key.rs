//! Access keys: whose they are, and which of their secrets serve. The secrets are derived elsewhere, from what only the
//! host knows, so that whoever reads this has stolen nothing.

use std::fmt;
use std::sync::Arc;

use serde::Deserialize;
use serde::Serialize;

use crate::unit::id::GroupId;
use crate::unit::id::UserId;
use crate::unit::id::WorkspaceId;
use crate::unit::time::Millis;
use crate::unit::time::Timestamp;

/// How many characters a key's name may have.
pub const KEY_ID_CHARS_MAX: usize = 96;

/// The name of an access key: letters, digits, `.`, `_` and `-`, so that it needs no escape in any header.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("pattern" = "^[A-Za-z0-9._-]{1,96}$")))]
#[serde(try_from = "String", into = "String")]
pub struct KeyId(Arc<str>);

impl KeyId {
    /// The name, if it is acceptable.
    #[must_use]
    pub fn new(name: &str) -> Option<Self> {
        let is_known = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        let is_good = (1..=KEY_ID_CHARS_MAX).contains(&name.len()) && name.chars().all(is_known);
        is_good.then(|| Self(name.into()))
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for KeyId {
    type Error = String;
    fn try_from(name: String) -> Result<Self, String> {
        let shown: String = name.chars().take(40).collect();
        Self::new(&name).ok_or_else(|| {
            format!(
                "the key \"{shown}\" must have 1 to {KEY_ID_CHARS_MAX} letters, digits, dots, hyphens and underscores"
            )
        })
    }
}

impl From<KeyId> for String {
    fn from(id: KeyId) -> Self {
        id.0.as_ref().to_owned()
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What is kept of an access key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct AccessKey {
    /// Whose it is: what it signs counts as theirs.
    pub owner: UserId,
    /// Whether what it signs counts as sent by an administrator of the cluster.
    pub administers: bool,
    /// When it was created.
    pub created: Timestamp,
    /// Which of its secrets is the newest; the first is 1.
    pub generation: u32,
    /// Until when the secret before that still serves.
    pub previous_until: Option<Timestamp>,
    /// When a temporary key ends. Such a key has a security token, which its requests must carry.
    pub expires: Option<Timestamp>,
    /// Whether it has been revoked, which is for ever.
    pub is_revoked: bool,
    /// Of an agent: the groups on whose nodes it runs jobs, sorted. Who shows such a key may do that and nothing else.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub serves: Vec<GroupId>,
    /// Of an agent: the workspaces for which it may submit and cancel what people have submitted to its machines' own
    /// scheduler, in their names, sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub adopts: Vec<WorkspaceId>,
}

impl AccessKey {
    /// A key of a user; a temporary one if it expires.
    #[must_use]
    pub fn new(owner: UserId, administers: bool, created: Timestamp, expires: Option<Timestamp>) -> Self {
        Self {
            owner,
            administers,
            created,
            generation: 1,
            previous_until: None,
            expires,
            is_revoked: false,
            serves: Vec::new(),
            adopts: Vec::new(),
        }
    }

    /// Whether it is an agent's.
    #[must_use]
    pub fn is_agent(&self) -> bool {
        !self.serves.is_empty()
    }

    /// The key with a new secret. The one before it serves for `overlap` longer, the ones before that no more.
    #[must_use]
    pub fn rotated(&self, now: Timestamp, overlap: Millis) -> Self {
        let generation = self.generation.saturating_add(1);
        let previous_until = (overlap > Millis::ZERO).then(|| now + overlap);
        Self { generation, previous_until, ..self.clone() }
    }

    /// The secrets that serve, the newest first; none once it is revoked or has expired.
    pub fn generations(&self, now: Timestamp) -> impl Iterator<Item = u32> + use<> {
        let is_over = self.is_revoked || self.expires.is_some_and(|end| end <= now);
        let newest = (!is_over).then_some(self.generation);
        let previous = newest.filter(|_| self.previous_until.is_some_and(|end| now < end)).map(|newest| newest - 1);
        newest.into_iter().chain(previous)
    }
}

#[cfg(test)]
mod tests {
    use super::AccessKey;
    use super::KeyId;
    use crate::unit::id::UserId;
    use crate::unit::time::Millis;
    use crate::unit::time::Timestamp;

    fn key(expires: Option<Timestamp>) -> AccessKey {
        AccessKey::new(UserId::new("ann").unwrap(), false, Timestamp(0), expires)
    }

    fn serving(key: &AccessKey, at: i64) -> Vec<u32> {
        key.generations(Timestamp(at)).collect()
    }

    #[test]
    fn a_rotated_key_keeps_its_last_secret_for_a_while_and_no_earlier_one() {
        assert_eq!(serving(&key(None), 0), [1]);
        let second = key(None).rotated(Timestamp(0), Millis(100));
        assert_eq!(serving(&second, 99), [2, 1]);
        assert_eq!(serving(&second, 100), [2]);
        let third = second.rotated(Timestamp(50), Millis(100));
        assert_eq!(serving(&third, 60), [3, 2]);
        assert_eq!(serving(&third.rotated(Timestamp(60), Millis::ZERO), 60), [4]);
    }

    #[test]
    fn a_revoked_or_expired_key_has_no_secret() {
        let temporary = key(Some(Timestamp(100)));
        assert_eq!(serving(&temporary, 99), [1]);
        assert!(serving(&temporary, 100).is_empty());
        assert!(serving(&AccessKey { is_revoked: true, ..temporary }, 99).is_empty());
    }

    #[test]
    fn strange_names_are_refused() {
        for name in ["", "a,b", "a b", "a\nb", "a/b", "é", &"k".repeat(97)] {
            assert!(KeyId::new(name).is_none(), "{name}");
        }
        assert!(KeyId::new("demo.0a-_").is_some());
    }
}
