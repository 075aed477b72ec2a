//! Workspaces: who belongs to which, and what that allows (rules 9.1).

pub mod key;
pub mod may;
pub mod role;
pub mod space;
