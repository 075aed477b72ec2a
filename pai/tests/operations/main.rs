//! What requests ask for: the recorded ones of the SDKs, and ones that cannot be read.
#![expect(clippy::unwrap_used, reason = "a panic is a failed test")]

mod fields;
mod misfits;
mod recorded;
mod sdks;
mod sent;
#[path = "../golden/wire.rs"]
mod wire;
