//! The planner page of the console: where plans begin, variants that people edit, and what is told of their runs.

pub mod example;
pub mod import;
pub mod link;
pub mod past;
pub mod sheet;
pub mod source;

pub mod wish;

pub(crate) mod finished;
pub mod found;
pub mod message;
pub mod session;

pub mod course;
pub mod lanes;
pub mod range;
pub mod table;
pub mod timeline;
pub mod whose;
