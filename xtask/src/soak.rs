//! Proofs over many more random histories than the gate has time for. A later run goes on where an earlier one ended:
//! the histories are numbered, and what each run prints adds up.
use crate::process::{Failure, command};

/// What is proved under a name: the package, its test binary, and the test.
struct Soak {
    name: &'static str,
    package: &'static str,
    binary: &'static str,
    test: &'static str,
    /// How many histories, if nobody says so.
    count: u64,
}

const SOAKS: [Soak; 24] = [
    Soak::of_engine("tips", "tips::every_tip_that_is_followed_starts_the_job", 7_000),
    Soak::of_engine("untold", "tips::no_single_change_that_works_goes_untold", 3_000),
    Soak::of_engine("estimates", "estimates::a_job_starts_when_it_was_told_that_it_would", 3_000),
    Soak::of_engine("reasons", "reasons::", 10_000),
    Soak::of_engine("guaranteed", "guaranteed::", 20_000),
    Soak::of_engine("evicted-twice", "rounds::nobody_is_evicted_twice", 20_000),
    Soak::of_engine("evicted-at-once", "rounds::nobody_starts_to_be_evicted", 10_000),
    Soak::of_engine("stuck", "stuck::", 20_000),
    Soak::of_engine("kept", "kept::", 10_000),
    Soak { name: "simulation", package: "protocol", binary: "simulation", test: "whatever_fails_the_", count: 2_000 },
    Soak { name: "idle-days", package: "protocol", binary: "simulation", test: "year::idle_", count: 365 },
    Soak { name: "busy-days", package: "protocol", binary: "simulation", test: "busy::busy_", count: 30 },
    Soak { name: "hostile", package: "protocol", binary: "simulation", test: "hostile_users_are_not", count: 200 },
    Soak { name: "agent", package: "agent", binary: "simulation", test: "whatever_", count: 50_000 },
    Soak::of_fuzz("fuzz-commands", "commands"),
    Soak::of_fuzz("fuzz-snapshots", "snapshots"),
    Soak::of_fuzz("fuzz-segments", "segments"),
    Soak::of_fuzz("fuzz-notes", "notes"),
    Soak::of_fuzz("fuzz-bodies", "bodies"),
    Soak::of_fuzz("fuzz-signatures", "signatures"),
    Soak::of_fuzz("fuzz-scenarios", "scenarios"),
    Soak::of_fuzz("fuzz-traces", "traces"),
    Soak::of_fuzz("fuzz-links", "links"),
    Soak::of_fuzz("fuzz-exchanges", "exchanges"),
];

impl Soak {
    const fn of_engine(name: &'static str, test: &'static str, count: u64) -> Self {
        Self { name, package: "engine", binary: "proofs", test, count }
    }

    /// A target of the fuzzer, of which each execution is a history.
    const fn of_fuzz(name: &'static str, test: &'static str) -> Self {
        Self { name, package: "fuzz", binary: "targets", test, count: 1_000_000 }
    }
}

pub(crate) fn run(options: &[&str]) -> Result<(), Failure> {
    let names: Vec<&str> = SOAKS.iter().map(|soak| soak.name).collect();
    let remedy = format!("cargo xtask soak NAME [--from N] [--count N], where NAME is one of {}", names.join(", "));
    let wrong = |what: String| Failure::new(what, remedy.clone());
    let (name, mut rest) = options.split_first().ok_or_else(|| wrong("soak needs a name".to_owned()))?;
    let soak =
        SOAKS.iter().find(|soak| soak.name == *name).ok_or_else(|| wrong(format!("no soak is called {name}")))?;
    let (mut from, mut count) = (0, soak.count);
    while let [option, value, others @ ..] = rest {
        let number = value.parse::<u64>().map_err(|_| wrong(format!("{option} needs a number, not {value}")))?;
        match *option {
            "--from" => from = number,
            "--count" => count = number,
            _ => return Err(wrong(format!("soak has no option {option}"))),
        }
        rest = others;
    }
    if let [left, ..] = rest {
        return Err(wrong(format!("{left} has no value")));
    }
    let mut test =
        command("cargo", &["test", "--locked", "--release", "--package", soak.package, "--test", soak.binary]);
    test.args(["--", "--nocapture", soak.test]);
    test.env("TIDEGATE_FROM", from.to_string()).env("TIDEGATE_COUNT", count.to_string());
    if test.status().is_ok_and(|status| status.success()) {
        println!(
            "{name}: histories {from} to {} hold; go on with --from {}",
            (from + count).saturating_sub(1),
            from + count
        );
        return Ok(());
    }
    Err(Failure::new(
        format!("soak {name} found a history that fails"),
        "see the history above; its seed makes it again",
    ))
}
