//! Workspaces: who belongs to which, and what that allows (semantics section 9).

pub mod key;
pub mod may;
pub mod role;
pub mod space;
