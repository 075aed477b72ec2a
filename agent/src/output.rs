//! What a run prints, relayed while somebody watches: the service names the run on the agent's bell, the agent sends pieces
//! until it is told that nobody watches any more. Unwatched, nothing is sent.

use serde::Deserialize;
use serde::Serialize;

use crate::message::BadMessage;
use crate::message::FORMAT;
use crate::run::RunId;

/// How many bytes a piece may have, and how many the service keeps of a run.
pub const OUTPUT_BYTES_MAX: usize = 64 * 1024;
/// A byte that was no text takes three as text.
const TEXT_BYTES_MAX: usize = 3 * OUTPUT_BYTES_MAX;

/// What the bell says before a run's name.
const WORD: &str = "log ";

/// What the bell says when somebody watches a run.
#[must_use]
pub fn asked(run: RunId) -> String {
    format!("{WORD}{run}")
}

/// The run that the bell names, if it names one.
#[must_use]
pub fn asked_for(said: &str) -> Option<RunId> {
    RunId::parse(said.strip_prefix(WORD)?)
}

/// A piece of what a run has printed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Output {
    /// The format of messages.
    pub format: u32,
    /// Who sends it.
    pub incarnation: u64,
    /// Which run.
    pub run: RunId,
    /// Where in the log it begins, in bytes.
    pub offset: u64,
    /// How many bytes of the log it is.
    pub bytes: u64,
    /// These bytes. What was no text is marked as such.
    pub text: String,
}

/// The answer to [`Output`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutputTaken {
    /// Where to go on, in bytes.
    pub next: u64,
    /// Whether somebody still watches.
    pub is_watched: bool,
}

impl Output {
    /// A piece that begins and ends with whole letters: what is cut off at its end comes with the next one.
    #[must_use]
    pub fn of(incarnation: u64, run: RunId, offset: u64, printed: &[u8]) -> Self {
        let printed = &printed[..whole(printed)];
        let text = String::from_utf8_lossy(printed).into_owned();
        Self { format: FORMAT, incarnation, run, offset, bytes: printed.len() as u64, text }
    }

    /// Whether the service can take it.
    pub fn check(&self) -> Result<(), BadMessage> {
        if self.format != FORMAT {
            return Err(BadMessage::Format(self.format));
        }
        let is_small = self.text.len() <= TEXT_BYTES_MAX && self.bytes <= OUTPUT_BYTES_MAX as u64;
        if is_small { Ok(()) } else { Err(BadMessage::TooMany("bytes of a log")) }
    }
}

/// How many of these bytes end with a whole letter.
fn whole(bytes: &[u8]) -> usize {
    for (behind, byte) in bytes.iter().rev().take(3).enumerate() {
        let length = match byte {
            0x80..=0xBF => continue,
            0xC0..=0xDF => 2,
            0xE0..=0xEF => 3,
            0xF0..=0xF7 => 4,
            0x00..=0x7F | 0xF8..=0xFF => 1,
        };
        return if length > behind + 1 { bytes.len() - behind - 1 } else { bytes.len() };
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::Output;
    use super::asked;
    use super::asked_for;
    use crate::run::RunId;

    fn run() -> RunId {
        RunId::parse("0-7").expect("it is one")
    }

    #[test]
    fn the_bell_names_a_run() {
        assert_eq!(asked_for(&asked(run())), Some(run()));
        for other in ["7", "pong", "log", "log ", "log 7", "log 0-7 "] {
            assert_eq!(asked_for(other), None, "{other}");
        }
    }

    #[test]
    fn a_letter_that_is_cut_comes_with_the_next_piece() {
        let printed = "Größe 漢字 🦀".as_bytes();
        for cut in 0..=printed.len() {
            let first = Output::of(1, run(), 0, &printed[..cut]);
            let second = Output::of(1, run(), first.bytes, &printed[usize::try_from(first.bytes).unwrap()..]);
            assert_eq!(format!("{}{}", first.text, second.text), "Größe 漢字 🦀", "cut at {cut}");
        }
    }

    #[test]
    fn what_is_no_text_is_not_waited_for() {
        for bytes in [&b"a\xff"[..], b"\x80\x80\x80\x80", b"a\x80"] {
            assert_eq!(Output::of(1, run(), 0, bytes).bytes, bytes.len() as u64, "{bytes:?}");
        }
    }
}
