//! Tidegate's engine: who gets the GPUs, and why.
//!
//! Two functions hold everything. [`transition::decide`] has all judgement and changes nothing;
//! [`transition::apply`] has no judgement and is the only mutation. State is the fold of the events.
//! No IO, no clock, no randomness, no floats; the same state, time and commands give the same bytes
//! on every target.
//!
//! The modules are layers, lowest first; a module uses only those above it in this list.
#![deny(clippy::float_arithmetic)]
#![deny(clippy::cast_possible_truncation)]
#![warn(missing_docs)]

pub mod unit;

pub mod job;
pub mod market;
pub mod quota;
pub mod workspace;

pub mod ledger;
pub mod placement;
pub mod state;

pub mod schedule;

pub mod message;

pub mod transition;

pub mod host;

pub mod check;

pub mod explain;
