//! Workspaces: who belongs to which, and what that allows (semantics section 9).

pub mod may;
pub mod role;
pub mod space;
