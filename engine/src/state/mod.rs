//! The state of a cluster: ground facts, and what is kept beside them so that a round need not recompute it.

mod bids;
mod booking;
pub mod class;
pub mod cluster;
pub mod domain;
mod due;
pub mod job_list;
pub mod jobs;
pub mod market;
mod parts;
pub mod preemption_order;
pub mod queue;
mod structure;
pub mod timer;
pub mod waiting;
pub mod waiting_line;
pub mod watch;
pub mod world;
