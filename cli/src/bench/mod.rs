//! The figures to reach, measured natively and printed beside their targets.

pub mod figure;
pub mod market;
pub mod measure;
