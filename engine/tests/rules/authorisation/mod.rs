//! Who may do what: the table itself, cell by cell, and commands as people send them.
#![expect(clippy::unwrap_used, reason = "a panic is a failed test")]

mod commands;
mod sentences;
mod table;
mod teams;
mod visibility;
