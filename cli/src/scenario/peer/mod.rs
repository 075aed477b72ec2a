//! Scenarios from the field, as JSON documents (schema `quota-preemption-scenarios/1`).
//!
//! The scene is set by events through `apply`, the event of the case goes to the authority, and the answer is read
//! from the state and the log. There is no second implementation of any rule here.

pub mod case;
pub mod check;
pub mod claims;
pub mod course;
pub mod market;
pub mod name;
pub mod run;
pub mod span;
pub mod stage;
pub mod timeline;
