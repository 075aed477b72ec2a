//! The figures to reach, measured natively and printed beside their targets.

pub mod backlog;
pub mod busy;
pub mod figure;
pub mod growth;
pub mod market;
pub mod measure;
pub mod timing;
pub mod victims;
