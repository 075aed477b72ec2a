//! Replays a real trace through the engine: submissions at their time, ends by the engine's own timers, a round at
//! once after each.

pub mod bid;
pub mod figures;
pub mod machines;
pub mod market;
pub mod offers;
pub mod run;
pub mod sheet;
pub mod trace;
