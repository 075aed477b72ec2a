//! The service under load for some minutes: how long commands take, and how much memory its runtime has.
use crate::process::{Failure, show};

pub(crate) fn run(minutes: &[&str]) -> Result<(), Failure> {
    let remedy = "see the message above; `cargo xtask bench load [MINUTES]` needs what `cargo xtask build` makes";
    show("node", &[&["e2e/load.mjs"], minutes].concat(), remedy)
}
