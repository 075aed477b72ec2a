//! What a person can set in a change. The command is the only truth: a field shows one thing of it, and writes that one
//! thing back.
//!
//! Each change is one file: its fields, how it begins, and what it says in one line. [`change`] lists them.

pub mod facts;
pub mod field;
pub mod list;
pub mod number;

pub mod change;

mod amounts;
mod bid;
mod cancel;
mod inventory;
mod job;
mod node;
mod pool;
mod price;
mod priority;
mod settings;
mod size;
mod submission;
