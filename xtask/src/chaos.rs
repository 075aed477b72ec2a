//! Runs as real processes, while what watches over them is killed.
use crate::process::{Failure, command};

/// How many runs, if nobody says so; the gate's tests have some tens.
const RUNS: u64 = 600;

pub(crate) fn run(options: &[&str]) -> Result<(), Failure> {
    let remedy = "cargo xtask chaos local [--runs N]";
    let wrong = |what: String| Failure::new(what, remedy);
    let n_runs = match options {
        ["local"] => RUNS,
        ["local", "--runs", number] => {
            number.parse().map_err(|_| wrong(format!("--runs needs a number, not {number}")))?
        }
        [] => return Err(wrong("chaos needs a runner".to_owned())),
        [name, ..] => return Err(wrong(format!("chaos does not understand {name} there"))),
    };
    let mut test = command("cargo", &["test", "--locked", "--package", "runner", "--test", "chaos"]);
    test.env("TIDEGATE_RUNS", n_runs.to_string());
    if test.status().is_ok_and(|status| status.success()) {
        return Ok(());
    }
    Err(Failure::new("the chaos test found something", "see the message above; processes of its runs may still live"))
}
