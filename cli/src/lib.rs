//! What the command `tidegate` is made of: scenarios, replays and figures, all through the one engine.
//!
//! Nothing here decides anything. Whatever happens to a job comes out of `engine`; this crate sends commands, moves
//! the clock and reads the answers.

pub mod meter;
pub mod workload;

pub mod agents;
pub mod bench;
pub mod check;
pub mod plan;
pub mod replay;
pub mod scenario;
pub mod service;
pub mod shell;
pub mod up;
