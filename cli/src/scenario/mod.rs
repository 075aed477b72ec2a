//! Scenarios: small situations with the answer that is right.

pub mod play;
pub mod report;
