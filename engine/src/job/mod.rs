//! Jobs: what is asked for, and what has become of it (rules 1.3, 4.1 and 7.1).

pub mod cause;
pub mod considered;
pub mod halt;
pub mod hold;
pub mod never;
pub mod nodes;
pub mod phase;
mod reach;
pub mod resize;
pub mod run;
pub mod shape;
pub mod spec;
pub mod story;
pub mod weight;
