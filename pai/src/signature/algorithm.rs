//! How requests are signed.

/// The algorithm that is accepted.
pub const ALGORITHM: &str = "ACS3-HMAC-SHA256";
