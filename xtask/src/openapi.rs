//! The documents of both surfaces.
//!
//! They are made by a program of its own beside this one, which needs the engine: everybody who builds anything would
//! compile that otherwise.
use crate::process::{Failure, show};

pub(crate) fn write() -> Result<(), Failure> {
    let remedy = "correct what is named above; a new call needs an arm in xtask/openapi/src/page.rs and an example";
    show("cargo", &["run", "--locked", "--quiet", "--bin", "openapi"], remedy)
}
