//! Files that people write: TOML, with amounts and periods as they are said, and mistakes told with their place.
//!
//! What stands in a file are the fields of the engine's own commands; nothing here lists them.

pub mod fault;
pub mod tree;

pub mod read;
pub mod write;
