//! `tidegate agent`: this machine's side of a cluster.

pub mod joined;
pub mod session;

pub mod bell;
pub mod join;
pub mod link;
pub mod mirror;
pub mod plugin;
pub mod relay;
pub mod run;
pub mod setup;

pub mod task;
