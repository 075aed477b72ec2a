//! Runs as real processes, while what watches over them is killed.
use crate::process::{Failure, command, show};

/// How many runs, if nobody says so; the gate's tests have some tens.
const RUNS: u64 = 600;

pub(crate) fn run(options: &[&str]) -> Result<(), Failure> {
    let remedy = "cargo xtask chaos local [--service] [--runs N], or slurm [--runs N]";
    let wrong = |what: String| Failure::new(what, remedy);
    let (mut has_service, mut n_runs) = (false, RUNS);
    let Some((runner @ ("local" | "slurm"), mut rest)) = options.split_first().map(|(first, rest)| (*first, rest))
    else {
        return Err(wrong("chaos needs a runner, local or slurm".to_owned()));
    };
    while let Some((option, others)) = rest.split_first() {
        rest = match (*option, others) {
            ("--service", others) if runner == "local" => {
                has_service = true;
                others
            }
            ("--runs", [number, others @ ..]) => {
                n_runs = number.parse().map_err(|_| wrong(format!("--runs needs a number, not {number}")))?;
                others
            }
            ("--runs", []) => return Err(wrong("--runs needs a number".to_owned())),
            (name, _) => return Err(wrong(format!("chaos does not understand {name} there"))),
        };
    }
    match runner {
        "slurm" => with_service("e2e/slurm_chaos.mjs", n_runs),
        _ if has_service => with_service("e2e/chaos.mjs", n_runs),
        _ => with_stand_in(n_runs),
    }
}

/// With a stand-in for the service, which loses answers.
fn with_stand_in(n_runs: u64) -> Result<(), Failure> {
    let mut test = command("cargo", &["test", "--locked", "--package", "runner", "--test", "chaos"]);
    test.env("TIDEGATE_RUNS", n_runs.to_string());
    if test.status().is_ok_and(|status| status.success()) {
        return Ok(());
    }
    Err(Failure::new("the chaos test found something", "see the message above; processes of its runs may still live"))
}

/// With the real service in its runtime, which is killed as well; needs what `build` makes.
fn with_service(test: &str, n_runs: u64) -> Result<(), Failure> {
    show("cargo", &["build", "--locked", "--bin", "tidegate"], "correct what the compiler says above")?;
    let remedy = "see the message above; processes of its runs may still live";
    show("node", &[test, &n_runs.to_string()], remedy)
}
