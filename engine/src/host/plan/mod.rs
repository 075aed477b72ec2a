//! What if: variants of one base, each simulated forward by the authority's own step, and compared.
//!
//! Nothing here decides. A run sends commands and rounds at their times and adds up what happens; the commands and
//! rounds of a plan, sent to the authority at the same times, make the same events.

pub mod base;
pub mod run;

pub mod account;
pub mod course;
pub mod record;
pub mod supply;
pub mod tally;

pub mod difference;
pub mod outcome;

pub mod apply;
pub mod goal;
pub mod search;
