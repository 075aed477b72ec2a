//! The agent without its hands: what it says to the service, and what follows from what is wanted and what is there.
//!
//! - Messages: one exchange, `sync`, in which the agent tells everything it has and is told everything it should have.
//!   So an exchange may be lost, doubled or overtaken by another one.
//! - Decision: [`agent::Agent::decide`] compares the newest answer with what the runner lists, and says what to do. It
//!   keeps nothing that a restarted agent would miss.
//! - No IO, no clock, no threads: times are milliseconds of the machine's own clock, and arguments.
//!
//! What must hold, whatever is lost and whichever process is killed: no GPU has living processes of two runs (R1); no run starts
//! twice, and no two runs of a job live at once (R2); every run ends in a report (R3); silence alone starts nothing (R5).
#![warn(missing_docs)]

pub mod run;

pub mod exit;
pub mod script;

pub mod adopt;
pub mod pods;

pub mod brief;
pub mod message;
pub mod output;

pub mod seen;

pub mod act;
pub mod agent;
pub mod silence;
