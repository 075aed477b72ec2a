//! Runs in their stored form, with the digest of all bytes that come of them natively: e2e/determinism.test.mjs runs
//! the same in Wasm.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use engine::message::snapshot::Snapshot;
use sha2::Digest;
use sha2::Sha256;

use crate::run::Run;

const RUNS: u64 = 1_000;
const COMMANDS: usize = 90;

#[test]
fn runs_are_stored_for_the_other_targets() {
    let mut text = String::new();
    for seed in 0..RUNS {
        let (commands, bytes) = stored(seed);
        assert_eq!((&commands, &bytes), (&stored(seed).0, &stored(seed).1), "seed {seed}");
        let sha256: String = Sha256::digest(&bytes).iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        });
        let line = serde_json::json!({ "seed": seed, "sha256": sha256, "commands": commands });
        writeln!(text, "{line}").unwrap();
    }
    fs::write(Path::new(env!("CARGO_TARGET_TMPDIR")).join("runs.jsonl"), text).unwrap();
}

/// A run's commands, each line a time, a tab and a command; and the bytes of all answers and of the snapshot.
fn stored(seed: u64) -> (String, Vec<u8>) {
    let mut run = Run::new(seed);
    let mut commands = String::new();
    let mut bytes = Vec::new();
    for _ in 0..COMMANDS {
        let (now, command, outcome) = run.step();
        writeln!(commands, "{}\t{}", now.0, serde_json::to_string(&command).unwrap()).unwrap();
        bytes.extend(serde_json::to_vec(&outcome).unwrap());
        bytes.push(b'\n');
    }
    bytes.extend(Snapshot::of(&run.state).to_bytes());
    (commands, bytes)
}
