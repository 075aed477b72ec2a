//! The life of one cluster, over two small traits and without a runtime.
//!
//! [`log::LogStore`] is the truth: a strongly consistent log with transactions, owned by one [`cluster::Cluster`].
//! [`kv::KvStore`] is where the world reads: eventually consistent, and it may fail before or after it has stored.
//!
//! - Sequencing: a command is checked, applied and written in one synchronous call; there is no await inside.
//! - Idempotency: a command's name is unique in the log. The same name with the same body gets the first answer again.
//! - Publication: what is committed goes to KV as objects named by their content; a small head is written last.
//! - Notes: what hosts keep beside the log changes with a command, is published with it and comes back with it.
//! - Restore: KV alone gives the same state, bit by bit.
//! - Slots: a scheduled minute is decided at most once.
//!
//! Nothing read from KV has any influence on what is decided, but for a restore that somebody asks for.
//! All memory can be rebuilt from the log at any moment, and is after every fault.
#![warn(missing_docs)]

pub mod answer;
pub mod clock;
pub mod digest;
pub mod fault;
pub mod founding;
pub mod limits;
pub mod name;
pub mod profile;
pub mod rate;

pub mod kv;
pub mod log;

pub mod document;

pub mod agents;
pub mod backup;
pub mod cluster;
mod memory;
pub mod newest;
pub mod note;
pub mod noted;
pub mod pack;
mod packing;
pub mod publish;
pub mod replay;
pub mod sealed;
mod share;
mod spelling;

pub mod deletion;
pub mod gap;
pub mod garbage;
pub mod health;
pub mod history;
pub mod incident;
pub mod market;
pub mod meter;
pub mod past;
pub mod ready;
pub mod restore;
pub mod route;
