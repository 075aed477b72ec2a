//! Names: of clusters, and of what they publish.
//!
//! | key | content | changes |
//! |---|---|---|
//! | `c/{cluster}/head` | [`crate::document::Head`] | with every publication |
//! | `c/{cluster}/log/{first}-{last}-{sha256}` | [`crate::document::Segment`] | never |
//! | `c/{cluster}/snapshot/{seq}.{part}-{sha256}` | a part of the snapshot's bytes | never |
//! | `c/{cluster}/page/{last}-{sha256}` | [`crate::document::Page`] | never |
//! | `c/{cluster}/given-up/{seq}-{sha256}` | a head that was given up, or that has come with a backup | never |
//! | `c/{cluster}/notes/{time}-{sha256}` | a pack of notes ([`crate::pack`]) | never |
//! | `deleted/{cluster}` | the [`crate::deletion::tombstone::Tombstone`] of a cluster | when the name is taken and deleted again |
//! | `c/{cluster}/notes/{bucket}` | the notes of a bucket, as earlier versions have put them | not any more |
//!
//! Everything but the head and those old notes ends with the digest of its content, so that storing it twice is storing it
//! once, and that a reader can tell a damaged object.

use std::fmt;

use engine::unit::time::Timestamp;

use crate::digest::DIGEST_CHARS;
use crate::digest::sha256;
use crate::fault::Fault;

/// How many characters a cluster's name may have.
pub const CLUSTER_CHARS_MAX: usize = 63;

/// A cluster's name: 1 to 63 lower-case letters, digits and hyphens, not beginning with a hyphen.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ClusterName(String);

impl ClusterName {
    /// The name, if it is acceptable.
    #[must_use]
    pub fn new(name: &str) -> Option<Self> {
        let is_known = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let is_good =
            (1..=CLUSTER_CHARS_MAX).contains(&name.len()) && name.chars().all(is_known) && !name.starts_with('-');
        is_good.then(|| Self(name.to_owned()))
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// How all of its keys begin.
    #[must_use]
    pub fn start(&self) -> String {
        format!("c/{self}/")
    }

    /// The key of what stays of a deleted cluster. It is none of the cluster's own.
    #[must_use]
    pub fn tombstone(&self) -> String {
        format!("deleted/{self}")
    }

    /// The key of the head.
    #[must_use]
    pub fn head(&self) -> String {
        format!("c/{self}/head")
    }

    /// The key of a head that was given up, or that has come with a backup.
    #[must_use]
    pub fn given_up(&self, seq: u64, text: &str) -> String {
        format!("{}{seq:012}-{}", self.given_up_start(), sha256(text.as_bytes()))
    }

    /// How the keys of heads begin that were given up.
    pub(crate) fn given_up_start(&self) -> String {
        format!("c/{self}/given-up/")
    }

    /// The key of a log segment.
    #[must_use]
    pub fn segment(&self, first: u64, last: u64, text: &str) -> String {
        format!("c/{self}/log/{first:012}-{last:012}-{}", sha256(text.as_bytes()))
    }

    /// The key of a part of a snapshot.
    #[must_use]
    pub fn snapshot_part(&self, seq: u64, part: usize, text: &str) -> String {
        format!("c/{self}/snapshot/{seq:012}.{part}-{}", sha256(text.as_bytes()))
    }

    /// The key of a pack of notes. Notes may become again what they were, and no key may be used again: the time tells.
    #[must_use]
    pub fn pack(&self, at: Timestamp, text: &str) -> String {
        format!("{}{:013}-{}", self.packs_start(), at.0, sha256(text.as_bytes()))
    }

    /// How the keys of packs begin.
    pub(crate) fn packs_start(&self) -> String {
        format!("c/{self}/notes/")
    }

    /// The key of a bucket of notes, as earlier versions have put it.
    #[must_use]
    pub fn notes(&self, bucket: u8) -> String {
        format!("c/{self}/notes/{bucket:02x}")
    }

    /// The key of a page of history.
    #[must_use]
    pub fn page(&self, last: u64, text: &str) -> String {
        format!("c/{self}/page/{last:012}-{}", sha256(text.as_bytes()))
    }
}

impl fmt::Display for ClusterName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whether what has this key never changes, because the key ends with the digest of it.
#[must_use]
pub fn is_fixed(key: &str) -> bool {
    let digest = promised(key);
    digest.len() == DIGEST_CHARS && digest.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Whether an object's content is what its key promises.
pub fn verify(key: &str, text: &str) -> Result<(), Fault> {
    if promised(key) == sha256(text.as_bytes()) {
        Ok(())
    } else {
        Err(Fault::damaged(key, "its content has another digest"))
    }
}

/// The digest at the end of a key, if it has one.
fn promised(key: &str) -> &str {
    key.get(key.len().saturating_sub(DIGEST_CHARS)..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use engine::unit::time::Timestamp;

    use super::ClusterName;
    use super::is_fixed;
    use super::verify;

    #[test]
    fn cluster_names() {
        for good in ["a", "demo", "eu-1", "0"] {
            assert!(ClusterName::new(good).is_some(), "{good}");
        }
        for bad in ["", "-a", "A", "a/b", "a_b", "ä", &"a".repeat(64)] {
            assert!(ClusterName::new(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn a_key_tells_a_damaged_object() {
        let key = ClusterName::new("demo").expect("a good name").segment(1, 2, "content");
        assert!(verify(&key, "content").is_ok());
        assert!(verify(&key, "Content").is_err());
        assert!(verify("short", "content").is_err());
    }

    #[test]
    fn only_what_is_named_by_its_content_is_fixed() {
        let name = ClusterName::new(&"a".repeat(63)).expect("a good name");
        let pack = name.pack(Timestamp(1), "x");
        for key in [name.segment(1, 2, "x"), name.snapshot_part(2, 0, "x"), name.page(2, "x"), pack] {
            assert!(is_fixed(&key), "{key}");
        }
        for key in [name.head(), name.notes(0xab), "clusters".to_owned()] {
            assert!(!is_fixed(&key), "{key}");
        }
    }
}
