//! The engine's figures, measured by the native command.
use crate::process::{Failure, show};

pub(crate) fn run(options: &[&str]) -> Result<(), Failure> {
    let mut arguments = vec!["run", "--locked", "--release", "--package", "tidegate", "--", "bench"];
    arguments.extend(options);
    show("cargo", &arguments, "see the message above; `tidegate bench` must exist in cli/")
}
