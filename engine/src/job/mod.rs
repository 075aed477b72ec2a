//! Jobs: what is asked for, and what has become of it (semantics sections 1, 4 and 7).

pub mod hold;
pub mod never;
pub mod phase;
mod reach;
pub mod shape;
pub mod spec;
pub mod story;
