//! Replays a real trace through the engine: submissions at their time, and whatever time brings by itself as in a plan
//! (`engine::host::clock`).

pub mod compare;
pub mod figures;
pub mod jitter;
pub mod market;
mod number;
pub mod run;
pub mod served;
pub mod waits;
