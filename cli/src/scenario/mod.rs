//! Scenarios: small situations with the answer that is right.

pub mod peer;
pub mod place;
pub mod play;
pub mod report;
