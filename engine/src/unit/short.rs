//! Texts that mostly are short, and then stand where they are used.

use std::cmp::Ordering;
use std::fmt;
use std::hash::Hash;
use std::hash::Hasher;
use std::sync::Arc;

/// The longest text that stands where it is used, in bytes.
const BYTES: usize = 22;

/// A text without zero bytes.
#[derive(Clone)]
pub(super) enum Short {
    /// Its bytes, and zeros behind them.
    Here(u8, [u8; BYTES]),
    /// A longer one.
    There(Arc<str>),
}

impl Short {
    pub(super) fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Here(length, bytes) => &bytes[..usize::from(*length).min(BYTES)],
            Self::There(text) => text.as_bytes(),
        }
    }
}

impl From<&str> for Short {
    fn from(text: &str) -> Self {
        let mut bytes = [0; BYTES];
        match (u8::try_from(text.len()), bytes.get_mut(..text.len())) {
            (Ok(length), Some(start)) => {
                start.copy_from_slice(text.as_bytes());
                Self::Here(length, bytes)
            }
            _longer => Self::There(text.into()),
        }
    }
}

impl AsRef<str> for Short {
    fn as_ref(&self) -> &str {
        match self {
            // These are the bytes of a text, so they are one.
            Self::Here(..) => std::str::from_utf8(self.as_bytes()).unwrap_or_default(),
            Self::There(text) => text,
        }
    }
}

impl fmt::Debug for Short {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(AsRef::<str>::as_ref(self), f)
    }
}

impl PartialEq for Short {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Short {}

impl Ord for Short {
    /// In the order of the texts. The zeros behind a text put shorter ones first.
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Here(_, mine), Self::Here(_, theirs)) => mine.cmp(theirs),
            _long => self.as_bytes().cmp(other.as_bytes()),
        }
    }
}

impl PartialOrd for Short {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Hash for Short {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_bytes().hash(state);
    }
}

#[cfg(test)]
mod tests {
    use super::BYTES;
    use super::Short;

    #[test]
    fn texts_keep_their_order_and_themselves_wherever_they_stand() {
        let (longest, too_long) = ("x".repeat(BYTES), "x".repeat(BYTES + 1));
        let texts = ["", "a", "ab", "b", &longest, &too_long, "y", "ä", "日本"];
        for (at, text) in texts.iter().enumerate() {
            let short = Short::from(*text);
            assert_eq!(AsRef::<str>::as_ref(&short), *text);
            for (other_at, other) in texts.iter().enumerate() {
                assert_eq!(short.cmp(&Short::from(*other)), at.cmp(&other_at), "{text} {other}");
            }
        }
    }

    #[test]
    fn a_short_text_is_no_larger_than_three_words() {
        assert!(size_of::<Option<Short>>() <= 3 * size_of::<u64>());
    }
}
