//! The SDKs' own requests: each is accepted as it is, and refused with anything in it changed.
#![expect(clippy::unwrap_used, reason = "a panic is a failed test")]

mod coverage;
mod replay;
mod tampering;
mod verification;
mod wire;
