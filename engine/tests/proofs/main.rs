//! Proofs over random runs: what must hold for every cluster, every sequence of commands and every time.
//!
//! A failure prints the seed of its run, which makes the same run again.
#![expect(clippy::unwrap_used, reason = "a panic is a failed test")]
#![expect(clippy::wildcard_enum_match_arm, reason = "a test looks at few kinds of what it is told")]

mod bids;
mod cluster;
mod conservation;
mod convergence;
mod coverage;
mod estimates;
mod explanations;
mod fold;
mod ground;
mod guaranteed;
mod history;
mod kept;
mod market;
mod memory;
mod never;
mod parts;
mod plans;
mod policy;
mod random;
mod reasons;
mod resized;
mod rounds;
mod run;
mod runs;
mod scale;
mod shortlist;
mod solver;
mod stored;
mod stuck;
mod time;
mod tips;
