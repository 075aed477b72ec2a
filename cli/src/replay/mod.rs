//! Replays a real trace through the engine: submissions at their time, ends by the engine's own timers, a round at
//! once after each.

pub mod figures;
pub mod market;
pub mod run;
