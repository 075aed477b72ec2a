//! Which run, and which state of the service.

use std::fmt;
use std::str::Utf8Error;

use serde::Deserialize;
use serde::Deserializer;
use serde::Serialize;
use serde::Serializer;
use serde::de::Error;
use serde::de::Visitor;
use serde::ser::Error as _;

/// Two numbers of 20 digits, and what is between them.
const TEXT_BYTES_MAX: usize = 41;

/// A state of the service's log. A restore raises the epoch, so that versions only rise whatever was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Version {
    /// How often the cluster was restored.
    pub epoch: u64,
    /// How many events made the state.
    pub revision: u64,
}

/// A run of a job: the version whose event granted it. As text, `0-1204`, it is a valid name of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RunId(Version);

impl RunId {
    /// The run that was granted by this event.
    #[must_use]
    pub fn new(granted: Version) -> Self {
        Self(granted)
    }

    /// The version that granted it.
    #[must_use]
    pub fn granted(self) -> Version {
        self.0
    }

    /// The epoch in which it was granted.
    #[must_use]
    pub fn epoch(self) -> u64 {
        self.0.epoch
    }

    /// Its text, as it is displayed.
    fn written(self, room: &mut [u8; TEXT_BYTES_MAX]) -> Result<&str, Utf8Error> {
        let Self(Version { epoch, revision }) = self;
        let mut at = TEXT_BYTES_MAX;
        let mut put = |digit| {
            at -= 1;
            room[at] = digit;
        };
        write_back(revision, &mut put);
        put(b'-');
        write_back(epoch, &mut put);
        std::str::from_utf8(&room[at..])
    }

    /// The run with this text. There is one text for each run, so that names of files compare as runs do.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (epoch, revision) = text.split_once('-')?;
        Some(Self(Version { epoch: number(epoch)?, revision: number(revision)? }))
    }
}

/// Says the digits of a number, the last one first.
fn write_back(mut number: u64, put: &mut impl FnMut(u8)) {
    loop {
        put(b'0' + u8::try_from(number % 10).unwrap_or_default());
        number /= 10;
        if number == 0 {
            return;
        }
    }
}

/// The number with this text, if it is the one that is written for it: without a sign, and with no zero before it.
fn number(text: &str) -> Option<u64> {
    let is_written = text == "0" || text.starts_with(|letter: char| matches!(letter, '1'..='9'));
    text.parse().ok().filter(|_| is_written)
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(Version { epoch, revision }) = self;
        write!(f, "{epoch}-{revision}")
    }
}

/// A text that names no run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadRun(String);

impl fmt::Display for BadRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown: String = self.0.chars().filter(|letter| !letter.is_control()).take(40).collect();
        write!(f, "\"{shown}\" is not a run; write EPOCH-REVISION, such as 0-1204")
    }
}

// Messages name thousands of runs, so that their texts are read and written in place.
impl Serialize for RunId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut room = [0; TEXT_BYTES_MAX];
        serializer.serialize_str(self.written(&mut room).map_err(S::Error::custom)?)
    }
}

impl<'de> Deserialize<'de> for RunId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(RunText)
    }
}

struct RunText;

impl Visitor<'_> for RunText {
    type Value = RunId;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a run, such as 0-1204")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<RunId, E> {
        RunId::parse(text).ok_or_else(|| E::custom(BadRun(text.to_owned())))
    }
}

#[cfg(test)]
mod tests {
    use super::RunId;
    use super::Version;

    #[test]
    fn a_run_has_one_text() {
        assert_eq!(RunId::parse("0-1204").map(|run| run.to_string()).as_deref(), Some("0-1204"));
        for bad in ["", "-", "1", "1-", "01-2", "1-02", "+1-2", "1-2-3", "../1-2", "1-2/", "1-99999999999999999999"] {
            assert_eq!(RunId::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_message_has_the_text_that_is_displayed() {
        for (epoch, revision) in [(0, 0), (0, 9), (7, 10), (1_700_000_000, 1_204), (u64::MAX, u64::MAX)] {
            let run = RunId::new(Version { epoch, revision });
            let message = serde_json::to_string(&run).expect("it is JSON");
            assert_eq!(message, format!("\"{run}\""));
            assert_eq!(serde_json::from_str::<RunId>(&message).expect("it is a run"), run);
        }
    }

    #[test]
    fn a_later_epoch_is_later_than_every_revision() {
        assert!(RunId::parse("1-1") > RunId::parse("0-900"));
    }
}
