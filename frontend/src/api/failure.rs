//! What can go wrong between the console and the Worker, each with what to do.

use std::fmt;

/// A request that brought no answer to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The Worker could not be reached.
    Unreachable,
    /// No key, or a wrong one.
    NoKey,
    /// The key does not allow this.
    Forbidden(String),
    /// There is nothing under this name.
    Absent(String),
    /// So far back nothing is kept at hand.
    Gone,
    /// The request was refused, in the words of the Worker.
    Refused(String),
    /// The Worker itself failed.
    Fault(u16),
    /// An answer that this console does not understand.
    Unreadable(String),
}

impl Failure {
    /// Whether the service has understood the request and refused it.
    pub(crate) fn is_refusal(&self) -> bool {
        matches!(self, Self::Refused(_))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable => {
                f.write_str("the cluster cannot be reached; check the network, the console keeps trying")
            }
            Self::NoKey => f.write_str("a key is needed to see this cluster"),
            Self::Forbidden(reason) => write!(f, "the key does not allow this: {reason}"),
            Self::Gone => f.write_str("so far back nothing is kept at hand"),
            Self::Absent(reason) | Self::Refused(reason) => f.write_str(reason),
            Self::Fault(status) => write!(f, "the service failed (status {status}); nothing was changed, try again"),
            Self::Unreadable(reason) => {
                write!(f, "the answer cannot be read ({reason}); reload the page to get the newest console")
            }
        }
    }
}
