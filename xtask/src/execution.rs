//! How long it takes until what is decided runs, and what that costs: the real service, a real agent, real processes.
use crate::bundle::cargo_output_dir;
use crate::process::{Failure, command, show};

pub(crate) fn run(sizes: &[&str]) -> Result<(), Failure> {
    let build = ["build", "--locked", "--profile", "agent", "--bin", "tidegate-agent"];
    show("cargo", &build, "correct what the compiler says above")?;
    let mut load = command("node", &["e2e/execution.mjs"]);
    load.args(sizes).env("TIDEGATE_PROGRAM", cargo_output_dir().join("agent/tidegate-agent"));
    if load.status().is_ok_and(|status| status.success()) {
        return Ok(());
    }
    Err(Failure::new("the load run came to nothing", "see the message above; build first: `cargo xtask build`"))
}
