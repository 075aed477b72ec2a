//! The planner without a page: what it is asked and what it tells are messages, and it works in portions.
//!
//! Nothing here decides: every plan is run by `engine::host::plan`.

pub mod address;
pub mod base64;

pub mod control;
pub mod scenario;

pub mod desk;
pub mod message;

pub mod picture;
pub mod reason;
pub mod result;
pub mod words;
