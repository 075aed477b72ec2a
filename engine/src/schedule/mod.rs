//! A round: who gets GPUs, from where, at whose expense, and why the others wait (rules 3).

mod ahead;
pub mod backfill;
pub mod decision;
pub mod grow;
pub mod judge;
mod leaving;
pub mod lending;
pub mod losers;
pub mod market;
pub mod never;
mod nobody;
mod open_round;
pub mod order;
mod precedence;
pub mod recheck;
mod reservation;
pub mod round;
pub mod source;
pub mod trial;
pub mod victims;
pub mod work;
