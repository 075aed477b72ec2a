//! Notes: texts that hosts keep beside the log, such as what people say of a job and the engine does not look at.
//!
//! The protocol never looks inside; a store can take one field out of many notes, so that nobody has to read them all.
//! A note changes with a command or not at all, and it goes to KV with the publication of that command, so that KV alone
//! gives it back. To be few keys, notes are published in buckets by the digest of their names ([`crate::pack`]).

use engine::unit::id::UserId;
use serde::Deserialize;
use serde::Serialize;

use crate::digest::sha256;

/// A bucket's number.
pub type Bucket = u8;

/// A note with its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Its name.
    pub name: String,
    /// What it says.
    pub text: String,
    /// Whose share it counts for; nobody's for what administrators keep.
    pub owner: Option<UserId>,
}

impl Note {
    /// A note without an owner: that is set when the note is kept.
    #[must_use]
    pub fn new(name: String, text: String) -> Self {
        Self { name, text, owner: None }
    }
}

/// What a note that is kept counts for, and for whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// What it counts for in its bucket.
    pub bytes: u64,
    /// Whose share it counts for.
    pub owner: Option<UserId>,
}

/// A change of a note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoteChange {
    /// It says this now.
    Put(Note),
    /// It is not needed any more.
    Drop(String),
}

/// A bucket that has changed since it was published, and how often: the same number means that nothing was added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stale {
    /// The bucket.
    pub bucket: Bucket,
    /// Its changes so far.
    pub changes: u64,
}

/// The bucket that a note is in.
#[must_use]
pub fn bucket(name: &str) -> Bucket {
    u8::from_str_radix(&sha256(name.as_bytes())[..2], 16).unwrap_or_default()
}

/// What a note counts for in its bucket: its name, its text and its owner as JSON, with what is between them.
#[must_use]
pub fn weight(name: &str, text: &str, owner: Option<&UserId>) -> u64 {
    let owner = owner.map_or(0, |owner| encoded(owner.as_str()) + 3);
    encoded(name) + encoded(text) + owner + 2
}

/// How many bytes a text has as JSON, with its quotes.
fn encoded(text: &str) -> u64 {
    let escaped = |byte: u8| match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 0x08 | 0x0c => 2,
        0..=0x1f => 6,
        _ => 1,
    };
    2 + text.bytes().map(escaped).sum::<u64>()
}

#[cfg(test)]
mod tests {
    use engine::unit::id::UserId;

    use super::weight;

    #[test]
    fn a_note_counts_as_it_is_written() {
        for text in ["", "plain", "\"\\\n\r\t\u{8}\u{c}", "\u{0}\u{1}\u{1f}\u{7f}", "ä/€/𝄞\u{2028}"] {
            let line = format!("{}:{},", serde_json::json!(text), serde_json::json!(text));
            assert_eq!(weight(text, text, None), line.len() as u64, "{line}");
            let owner = UserId::new("ann").ok();
            let line = format!("{}:{},", serde_json::json!(text), serde_json::json!([text, owner]));
            assert_eq!(weight(text, text, owner.as_ref()), line.len() as u64, "{line}");
        }
    }
}
