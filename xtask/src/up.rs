//! The service and an agent on this computer, from the release build.
use std::os::unix::process::CommandExt;

use crate::bundle;
use crate::process::{Failure, command, show};

/// Builds what is missing, and becomes `tidegate up` with these words.
pub(crate) fn serve(words: &[&str]) -> Result<(), Failure> {
    bundle::build(bundle::Profile::Release, &[])?;
    show("cargo", &["build", "--locked", "--release", "--bin", "tidegate"], "correct what the compiler says above")?;
    let program = bundle::cargo_output_dir().join("release/tidegate");
    let error = command(&program.display().to_string(), &["up"]).args(words).exec();
    Err(Failure::new(format!("{} did not start: {error}", program.display()), "build it again"))
}
