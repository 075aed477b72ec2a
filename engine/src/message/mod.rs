//! Everything that is serialised: what people ask for, what has happened, and the whole state as a document.
//!
//! Messages carry a `format` number, refuse unknown fields and never change their meaning: a stored example of each
//! must decode for ever.

pub mod command;
pub mod envelope;
pub mod event;
pub mod plan;
mod read;
pub mod rejection;
pub mod snapshot;

pub use read::MESSAGE_BYTES_MAX;
pub use read::read;

/// The format of every message that is written today.
pub const FORMAT: u32 = 1;
