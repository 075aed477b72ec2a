//! The tests that a mutant has to get past, quickest first: what one stage lets through goes on to the next.

/// Tests that are built together.
pub(crate) struct Stage {
    pub(crate) name: &'static str,
    pub(crate) packages: &'static [&'static str],
    pub(crate) targets: &'static [&'static str],
    /// What the test programs are told.
    pub(crate) arguments: &'static [&'static str],
}

pub(crate) const STAGES: [Stage; 4] = [
    Stage {
        name: "scenarios",
        packages: &["tidegate", "cases"],
        targets: &["--test=scenarios", "--test=cases"],
        arguments: &["hold"],
    },
    Stage {
        name: "engine's tests",
        packages: &["engine"],
        targets: &[
            "--lib",
            "--test=alarm",
            "--test=authorisation",
            "--test=checker",
            "--test=limits",
            "--test=market",
            "--test=messages",
            "--test=no_room",
            "--test=plan",
            "--test=pools",
            "--test=three_teams",
        ],
        arguments: &[],
    },
    Stage {
        name: "neighbours",
        packages: &["protocol", "pai", "tidegate"],
        targets: &[
            "--test=market",
            "--test=golden",
            "--test=operations",
            "--test=service",
            "--test=offers",
            "--test=one_simulation",
            "--test=replay",
        ],
        arguments: &[],
    },
    Stage { name: "proofs", packages: &["engine"], targets: &["--test=proofs"], arguments: &PROOFS },
];

/// How many histories of each proof.
pub(crate) const HISTORIES: &str = "60";

/// Without those that store runs, and those that see too little in so few histories.
const PROOFS: [&str; 4] = ["--skip", "are_stored_for", "--skip", "coverage"];
