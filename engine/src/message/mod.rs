//! Everything that is serialised: what people ask for, what has happened, and the whole state as a document.
//!
//! Messages carry a `format` number, refuse unknown fields and never change their meaning: a stored example of each
//! must decode for ever.

pub mod command;
pub mod envelope;
pub mod event;
pub mod plan;
pub mod rejection;
pub mod snapshot;

/// The format of every message that is written today.
pub const FORMAT: u32 = 1;

use serde::de::DeserializeOwned;

use crate::message::rejection::Rejection;

/// The largest message that is read, in bytes.
pub const MESSAGE_BYTES_MAX: usize = 1 << 20;

/// Reads a message that somebody sent: not too large, not too deep (128 levels), complete, without unknown fields.
pub fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Rejection> {
    if bytes.len() > MESSAGE_BYTES_MAX {
        return Err(Rejection::TooLarge { bytes: bytes.len() as u64, limit: MESSAGE_BYTES_MAX as u64 });
    }
    serde_json::from_slice(bytes).map_err(|error| Rejection::Malformed { reason: error.to_string() })
}
