//! Why a request's sender is not believed.

use std::fmt;

use engine::unit::time::Millis;
use engine::unit::time::Timestamp;

use crate::calendar;
use crate::problem::Problem;
use crate::request::Repeated;
use crate::signature::ALGORITHM;

/// Why a request is refused before anything it asks for is looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// It says nothing of its sender.
    Anonymous,
    /// It says two different things of its sender.
    TwoCredentials,
    /// It is signed in another way.
    Algorithm {
        /// The algorithm's name.
        name: String,
    },
    /// Its `Authorization` cannot be read.
    Malformed {
        /// The first part that is wrong.
        part: &'static str,
    },
    /// The names of the signed headers are not in order.
    Unsorted,
    /// The signature leaves out what it must cover.
    Unsigned {
        /// Names of headers.
        headers: Vec<String>,
    },
    /// A signed header is not there.
    Absent {
        /// Its name.
        header: String,
    },
    /// A header that decides was sent more than once.
    Repeated {
        /// Its name.
        header: String,
    },
    /// There is no such key; it may have been revoked or have expired.
    UnknownKey {
        /// Its name.
        key: String,
    },
    /// The body is not the one whose digest was signed.
    ContentHash,
    /// The date cannot be read.
    BadDate {
        /// What was sent.
        date: String,
    },
    /// The date is too far off.
    Stale {
        /// The request's.
        date: Timestamp,
        /// The server's.
        now: Timestamp,
    },
    /// The query cannot be read.
    BadQuery,
    /// The signature is not that of this request with the key's secret.
    Mismatch {
        /// What should have been signed.
        to_sign: String,
    },
    /// The security token does not belong to the key.
    SecurityToken,
    /// The bearer token does not serve, or not any more.
    Token,
    /// The nonce has no acceptable form.
    BadNonce,
    /// The nonce has been used.
    NonceUsed,
    /// The key has sent so many requests that their nonces cannot be remembered.
    TooMany {
        /// How many can be.
        limit: usize,
    },
}

impl From<Repeated> for Refused {
    fn from(Repeated(header): Repeated) -> Self {
        Self::Repeated { header }
    }
}

impl Refused {
    /// The status, and the code by which the vendor's gateway tells the same thing.
    fn code(&self) -> (u16, &'static str) {
        match self {
            Self::Anonymous => (400, "MissingAuthorization"),
            Self::TwoCredentials | Self::Malformed { .. } | Self::Unsorted => (400, "InvalidAuthorization"),
            Self::Algorithm { .. } => (400, "InvalidSignatureMethod"),
            Self::Unsigned { .. } | Self::Absent { .. } | Self::Repeated { .. } => (400, "IncompleteSignature"),
            Self::UnknownKey { .. } => (404, "InvalidAccessKeyId.NotFound"),
            Self::ContentHash => (400, "InvalidContentSha256"),
            Self::BadDate { .. } => (400, "InvalidTimeStamp.Format"),
            Self::Stale { .. } => (400, "InvalidTimeStamp.Expired"),
            Self::BadQuery => (400, "InvalidQuery"),
            Self::Mismatch { .. } => (400, "SignatureDoesNotMatch"),
            Self::SecurityToken => (400, "InvalidSecurityToken"),
            Self::Token => (401, "InvalidBearerToken"),
            Self::BadNonce => (400, "InvalidSignatureNonce"),
            Self::NonceUsed => (400, "SignatureNonceUsed"),
            Self::TooMany { .. } => (429, "Throttling"),
        }
    }
}

impl From<Refused> for Problem {
    fn from(refused: Refused) -> Self {
        if let Refused::TooMany { .. } = &refused {
            return Self::too_soon(refused, Millis::MINUTE);
        }
        let (status, code) = refused.code();
        Self::new(status, code, refused.to_string())
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Anonymous => write!(f, "the request is not signed; sign it with {ALGORITHM} or send a bearer token"),
            Self::TwoCredentials => f.write_str("the request names two senders; send one credential"),
            Self::Algorithm { name } => write!(f, "signatures of the kind {name:?} are not accepted; sign with {ALGORITHM}"),
            Self::Malformed { part } => write!(
                f,
                "{part} of the Authorization header cannot be read; it must be {ALGORITHM} \
                 Credential=KEY,SignedHeaders=A;B,Signature=64 lower-case hexadecimal digits"
            ),
            Self::Unsorted => f.write_str("SignedHeaders must be in order, in lower case and without repetition"),
            Self::Unsigned { headers } => write!(f, "these headers must be signed: {}", headers.join(", ")),
            Self::Absent { header } => write!(f, "the signed header {header} was not sent"),
            Self::Repeated { header } => write!(f, "the header {header} was sent more than once; send it once"),
            Self::UnknownKey { key } => write!(f, "there is no access key {key:?}; it may have been revoked or have expired"),
            Self::ContentHash => f.write_str("x-acs-content-sha256 is not the SHA-256 of the body"),
            Self::BadDate { date } => write!(f, "x-acs-date is {date:?}; it must be UTC like 2026-01-02T03:04:05Z"),
            Self::Stale { date, now } => write!(
                f,
                "x-acs-date is {}, here it is {}; they may be 15 minutes apart, so set the clock",
                calendar::written(*date),
                calendar::written(*now)
            ),
            Self::BadQuery => f.write_str("the query has an escape that is not % and two hexadecimal digits"),
            Self::Mismatch { to_sign } => {
                write!(f, "the signature is not that of this request with the key's secret; here {to_sign:?} was signed")
            }
            Self::SecurityToken => {
                f.write_str("the security token does not belong to the access key; send the one that came with it, or none for a permanent key")
            }
            Self::Token => f.write_str("the bearer token does not serve, or not any more; sign in again"),
            Self::BadNonce => f.write_str("x-acs-signature-nonce must have 1 to 64 visible ASCII characters"),
            Self::NonceUsed => f.write_str("the nonce was used before; a request is signed anew for each time it is sent"),
            Self::TooMany { limit } => {
                write!(f, "the key has sent {limit} requests within half an hour, which is the limit")
            }
        }
    }
}

impl std::error::Error for Refused {}
