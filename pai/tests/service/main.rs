//! Requests at work on a cluster: every operation that is served is called, and its answer fits what the SDKs read.
#![expect(clippy::unwrap_used, reason = "a panic is a failed test")]

mod answers;
mod confirmed;
mod elastic;
mod evictions;
#[path = "../operations/fields.rs"]
mod fields;
mod filters;
mod kept;
mod logs;
mod model;
mod names;
mod office;
mod refusals;
mod repeated;
mod resized;
mod restarts;
mod services;
mod switches;
mod things;
mod trainings;
