//! Wiring: a page reads its address, asks the session, and composes widgets.

pub(crate) mod app;
pub(crate) mod audit;
pub(crate) mod bills;
pub(crate) mod cluster;
pub(crate) mod header;
pub(crate) mod job;
pub(crate) mod job_remedy;
pub(crate) mod jobs;
pub(crate) mod keys;
pub(crate) mod later;
pub(crate) mod market;
pub(crate) mod palette;
pub(crate) mod plan_apply;
pub(crate) mod plan_base;
mod plan_past;
mod plan_result;
pub(crate) mod plan_variants;
pub(crate) mod planner;
pub(crate) mod quota;
pub(crate) mod quota_policies;
pub(crate) mod quota_scale;
pub(crate) mod quotas;
pub(crate) mod rounds;
pub(crate) mod start;
pub(crate) mod submit;
pub(crate) mod workspace;
pub(crate) mod workspaces;
