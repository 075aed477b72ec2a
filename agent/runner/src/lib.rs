//! Where runs become processes.
//!
//! - [`verbs`]: what every runner can do; [`local`] does it on this machine, [`slurm`] on a
//!   Slurm cluster.
//! - [`supervise`]: one small process for each run, which outlives the agent.
//! - [`serve`]: the agent's loop, between a runner and a [`serve::Link`] to the service; [`leave`]: its end, where what
//!   runs is to end as well.
//!
//! The truth about a run is in its folder and in its processes, never in the agent's memory: the agent may be killed at
//! any moment and come back.
#![warn(missing_docs)]

pub mod clock;
pub mod gpus;
pub mod log;

mod cgroup;
mod folder;
mod processes;
mod store;
mod stored;

pub mod verbs;

mod pod;
mod watch;

pub mod supervise;

pub mod leave;
pub mod local;
pub mod serve;
pub mod slurm;
