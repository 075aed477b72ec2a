//! Cases of other systems, as JSON documents (schema `quota-preemption-scenarios/1`).
//!
//! The scene is set by events through `apply`, the event of the case goes to the authority, and the answer is read
//! from the state and the log. There is no second implementation of any rule here.

pub mod case;
mod check;
mod claims;
mod course;
mod market;
mod name;
mod place;
pub mod report;
pub mod run;
mod span;
mod stage;
mod timeline;
