//! The planner of anybody's page: scenarios as plans, what a reader can move in them, and what people read of their runs.

pub mod control;
pub mod scenario;

pub mod message;
pub mod session;

pub mod reason;
pub mod result;
