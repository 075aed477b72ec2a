//! The planner page without a page: what it asks and what it is told are messages, and it works in portions.
//!
//! Nothing here decides: every variant is run by `engine::host::plan`.

pub mod example;
pub mod import;
pub mod link;
pub mod past;
pub mod sheet;
pub(crate) mod source;

pub mod wish;

pub mod bench;
pub(crate) mod finished;
pub mod found;
pub mod message;

pub mod course;
pub mod lanes;
pub mod table;
pub mod timeline;
pub mod whose;
