//! How a run ended, and whose fault that is.

use std::fmt;

use serde::Deserialize;
use serde::Serialize;

/// How many bytes a reason may have.
pub const REASON_BYTES_MAX: usize = 300;

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Exit {
    /// By itself, with this code. The first pod that failed speaks for all.
    Code(i32),
    /// By this signal.
    Signal(i32),
    /// The command cannot be executed.
    Command(String),
    /// It was stopped before anything was started. It never will be: what stands in its place is a tombstone.
    Unstarted,
    /// The machine could not begin it.
    Start(String),
    /// What watched over it is gone, and so are its processes; how they ended is not known.
    Lost(String),
}

/// Whose fault a failure is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The job's own: it would fail again.
    Job,
    /// The machine's: it could not begin the run.
    Start,
    /// The machine's: the run was there, and is lost.
    Node,
}

impl Exit {
    /// Whose fault the end is; none if there is no failure. Whether a signal was asked for only the service knows.
    #[must_use]
    pub fn fault(&self) -> Option<Fault> {
        match self {
            Self::Code(0) | Self::Unstarted => None,
            Self::Code(_) | Self::Signal(_) | Self::Command(_) => Some(Fault::Job),
            Self::Start(_) => Some(Fault::Start),
            Self::Lost(_) => Some(Fault::Node),
        }
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit code {code}"),
            Self::Signal(signal) => write!(f, "signal {signal}"),
            Self::Command(reason) => write!(f, "the command cannot be executed: {reason}"),
            Self::Unstarted => f.write_str("stopped before it started"),
            Self::Start(reason) => write!(f, "the machine could not start it: {reason}"),
            Self::Lost(reason) => write!(f, "lost: {reason}"),
        }
    }
}

/// As much of a reason as a message takes.
#[must_use]
pub fn shorten(reason: &str) -> String {
    reason[..reason.floor_char_boundary(REASON_BYTES_MAX)].to_owned()
}

#[cfg(test)]
mod tests {
    use super::Exit;
    use super::Fault;
    use super::shorten;

    #[test]
    fn whose_fault_it_is() {
        let reason = || "x".to_owned();
        for (exit, fault) in [
            (Exit::Code(0), None),
            (Exit::Code(1), Some(Fault::Job)),
            (Exit::Signal(9), Some(Fault::Job)),
            (Exit::Command(reason()), Some(Fault::Job)),
            (Exit::Unstarted, None),
            (Exit::Start(reason()), Some(Fault::Start)),
            (Exit::Lost(reason()), Some(Fault::Node)),
        ] {
            assert_eq!(exit.fault(), fault, "{exit}");
        }
    }

    #[test]
    fn a_long_reason_is_cut_between_letters() {
        assert_eq!(shorten(&"ä".repeat(200)).len(), 300);
        assert_eq!(shorten(&format!("a{}", "ä".repeat(200))).len(), 299);
    }
}
