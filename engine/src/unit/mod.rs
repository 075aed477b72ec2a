//! The vocabulary of quantities: amounts, priorities, times, names, limits. No behaviour of the scheduler.

pub mod amount;
pub mod decimal;
pub mod few;
pub mod id;
pub mod limit;
pub mod ordered;
pub mod priority;
pub mod quantity;
pub mod resource;
#[cfg(feature = "schema")]
mod schema;
mod short;
pub mod slots;
pub mod sort;
pub mod sparse;
pub mod time;
