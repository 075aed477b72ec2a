//! Why a request cannot be read.

use std::fmt;

use crate::problem::Problem;

/// What is wrong with a request. A field is named by its path, as in `JobSpecs[0].PodCount`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Misfit {
    /// No product has this version.
    Version {
        /// What was sent.
        version: String,
    },
    /// The product has no such operation.
    Action {
        /// What was sent.
        action: String,
        /// The product's version.
        version: String,
    },
    /// The operation is not served here.
    Unserved {
        /// The operation.
        action: String,
        /// Why not.
        why: &'static str,
    },
    /// Method or path are not those of the operation.
    Path {
        /// The operation.
        action: &'static str,
        /// Its method.
        method: &'static str,
        /// Its path.
        path: &'static str,
    },
    /// The query cannot be decoded.
    Query,
    /// The body is no JSON object.
    Body {
        /// What the reader says.
        reason: String,
    },
    /// The operation has no such field.
    Unknown {
        /// The operation.
        action: String,
        /// The field.
        field: String,
    },
    /// A field that is needed is not there.
    Missing {
        /// The field.
        field: String,
    },
    /// A field has a value that it cannot have.
    Invalid {
        /// The field.
        field: String,
        /// The value.
        value: String,
        /// What it can be.
        expected: String,
    },
    /// A header or parameter was sent twice.
    Repeated {
        /// Its name.
        field: String,
    },
}

impl Misfit {
    fn code(&self) -> (u16, &'static str) {
        match self {
            Self::Version { .. } => (400, "InvalidVersion"),
            Self::Action { .. } => (404, "InvalidAction.NotFound"),
            Self::Unserved { .. } => (400, "UnsupportedOperation"),
            Self::Path { .. } => (404, "InvalidPath"),
            Self::Query | Self::Repeated { .. } | Self::Unknown { .. } | Self::Invalid { .. } => {
                (400, "InvalidParameter")
            }
            Self::Body { .. } => (400, "InvalidBody"),
            Self::Missing { .. } => (400, "MissingParameter"),
        }
    }
}

impl From<Misfit> for Problem {
    fn from(misfit: Misfit) -> Self {
        let (status, code) = misfit.code();
        Self::new(status, code, misfit.to_string())
    }
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version { version } => write!(f, "no product here has the version {version:?}"),
            Self::Action { action, version } => write!(f, "version {version} has no operation {action:?}"),
            Self::Unserved { action, why } => write!(f, "{action} is not served here: {why}"),
            Self::Path { action, method, path } => write!(f, "{action} is sent as {method} {path}"),
            Self::Query => f.write_str("the query is not UTF-8 with escapes of % and two hexadecimal digits"),
            Self::Body { reason } => write!(f, "the body must be a JSON object: {reason}"),
            Self::Unknown { action, field } => write!(f, "{action} has no field {field}"),
            Self::Missing { field } => write!(f, "{field} is missing"),
            Self::Invalid { field, value, expected } => write!(f, "{field} is {value}; it must be {expected}"),
            Self::Repeated { field } => write!(f, "{field} was sent more than once; send it once"),
        }
    }
}

impl std::error::Error for Misfit {}
