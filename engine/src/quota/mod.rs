//! Quotas: guaranteed amounts in a tree, and what each may take from whom (rules 2, 4 and 5).

pub mod policy;
pub mod settings;
pub mod tree;
