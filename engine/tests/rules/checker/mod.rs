//! The policy checker: bad policies that are planted are found, and what is found is so.
//!
//! A failure prints the seed of its tree, which makes the same tree again.
#![expect(clippy::unwrap_used, reason = "a panic is a failed test")]
#![expect(clippy::wildcard_enum_match_arm, reason = "a test looks at few kinds of what it is told")]

mod oracle;
mod planted;
mod trees;
mod true_findings;
