//! The tests that a mutant has to get past, quickest first: what one stage lets through goes on to the next.

/// Tests that are built together.
pub(crate) struct Stage {
    pub(crate) name: &'static str,
    pub(crate) package: &'static str,
    pub(crate) targets: &'static [&'static str],
    /// What the test programs are told.
    pub(crate) arguments: &'static [&'static str],
    /// How long they may run, on a machine that has other work too.
    pub(crate) timeout_s: u32,
}

pub(crate) const STAGES: [Stage; 3] = [
    Stage {
        name: "scenarios",
        package: "tidegate",
        targets: &["--test=scenarios"],
        arguments: &["hold"],
        timeout_s: 60,
    },
    Stage {
        name: "engine's tests",
        package: "engine",
        targets: &[
            "--lib",
            "--test=authorisation",
            "--test=market",
            "--test=messages",
            "--test=plan",
            "--test=pools",
            "--test=three_teams",
        ],
        arguments: &[],
        timeout_s: 120,
    },
    Stage { name: "proofs", package: "engine", targets: &["--test=proofs"], arguments: &PROOFS, timeout_s: 600 },
];

/// How many histories of each proof.
pub(crate) const HISTORIES: &str = "60";

/// Without those that store runs, and those that see too little in so few histories.
const PROOFS: [&str; 4] = ["--skip", "are_stored_for", "--skip", "coverage"];
