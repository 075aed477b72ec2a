//! The three hosts of the same two functions: the copy that counts, the console's copy, and copies to try things on.

pub mod authority;
pub mod clock;
pub mod plan;
pub mod planner;
pub mod replica;
pub mod visibility;
