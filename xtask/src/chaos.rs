//! Runs as real processes, while what watches over them is killed; and the service itself, which is killed under load and
//! loses its storage.
use crate::process::{Failure, command, show};

/// How many runs, if nobody says so; the gate's tests have some tens.
const RUNS: u64 = 600;

pub(crate) fn run(options: &[&str]) -> Result<(), Failure> {
    let remedy = "cargo xtask chaos local [--service] [--runs N], slurm [--runs N], or storage [--kills N] [--losses N] \
                  [--from N]";
    let wrong = |what: String| Failure::new(what, remedy);
    if let ["storage", words @ ..] = options {
        return of_storage(words);
    }
    let (mut has_service, mut n_runs) = (false, RUNS);
    let Some((runner @ ("local" | "slurm"), mut rest)) = options.split_first().map(|(first, rest)| (*first, rest))
    else {
        return Err(wrong("chaos needs to know of what: local, slurm or storage".to_owned()));
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

/// The service alone, with what `build` makes: its program says what it understands.
fn of_storage(words: &[&str]) -> Result<(), Failure> {
    let program = ["e2e/kills.mjs"];
    show(
        "node",
        &[&program, words].concat(),
        "see the message above; blocks of kills are numbered, and --from N begins with the Nth",
    )
}
