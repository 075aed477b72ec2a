//! Plans of what is stored, and plans in their stored form.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use engine::host::plan::base::Base;
use engine::host::plan::outcome::Outcome;
use engine::host::plan::run::Horizon;
use engine::host::plan::run::Run as Plan;
use engine::message::snapshot::Snapshot;
use sha2::Digest;
use sha2::Sha256;

use crate::history::seeds;

use super::CASES;
use super::Case;
use super::case;

/// The same in the stored form that e2e/determinism.test.mjs runs in Wasm.
#[test]
fn plans_are_stored_for_the_other_targets() {
    let mut text = String::new();
    for seed in 0..CASES {
        let Case { base, variant, until } = case(seed);
        let mut plan = Plan::new(&base, &variant, Horizon::Until(until));
        let mut digest = Sha256::new();
        while let Some(step) = plan.step() {
            digest.update(serde_json::to_vec(&step.answer).unwrap());
        }
        digest.update(serde_json::to_vec(&Outcome::of(&plan)).unwrap());
        let sha256 = digest.finalize().iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        });
        let input = serde_json::json!({
            "snapshot": Snapshot::of(&base.state),
            "from": base.from,
            "until": until,
            "ahead": &base.ahead[..],
            "variant": variant,
        });
        writeln!(text, "{}", serde_json::json!({ "seed": seed, "sha256": sha256, "input": input.to_string() }))
            .unwrap();
    }
    fs::write(Path::new(env!("CARGO_TARGET_TMPDIR")).join("plans.jsonl"), text).unwrap();
}

/// A plan of a state is the plan of what is stored of it.
#[test]
fn a_plan_of_a_restored_state_is_the_same() {
    for seed in seeds(CASES) {
        let Case { base, variant, until } = case(seed);
        let restored = Snapshot::of(&base.state).restore().unwrap();
        let restored = Base::new(restored, base.from, base.ahead.to_vec()).unwrap();
        let mut plan = Plan::new(&base, &variant, Horizon::Until(until));
        let mut again = Plan::new(&restored, &variant, Horizon::Until(until));
        while let Some(step) = plan.step() {
            assert_eq!(again.step(), Some(step), "seed {seed}");
        }
        assert_eq!(again.step(), None, "seed {seed}");
    }
}
