//! Reads traces: tables of comma-separated values become commands with their times.
//!
//! Nothing here runs anything. Whoever reads a trace has its bytes; complaints name file, line, column, value and what
//! to do.

pub mod calendar;
pub mod sheet;

pub mod machines;
pub mod offers;

pub mod bid;
pub mod jobs;
