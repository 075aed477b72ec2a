//! Every case of the fixtures holds, and the player sees what does not.

use std::path::Path;

use cases::report;
use cases::report::Tally;
use cases::run;
use cases::run::Verdict;
use serde_json::Value;
use serde_json::json;

/// All that a case says is understood, so no claim passes unseen.
#[test]
fn cases_of_other_systems_hold() {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/peers.json");
    let mut lines = Vec::new();
    let tally = report::run_files(&[fixture], &mut lines).unwrap();
    let lines = String::from_utf8(lines).unwrap();
    assert_eq!(tally, Tally { passed: 34, failed: 0, skipped: 0 }, "{lines}");
}

/// A case in which a job of priority 7 takes the GPUs of one of priority 3.
fn small_case() -> Value {
    json!({
        "id": "T1", "title": "one for another", "now": 1000,
        "cluster": {"gpu": 2},
        "quotas": [{"id": "Q", "parent": null, "amount": {"gpu": 2},
            "policy": {"self": {"high": [7], "low": [3], "modules": ["DLC"], "scope": "same_quota"}}}],
        "jobs": [{"id": "low", "quota": "Q", "priority": 3, "module": "DLC", "kind": "regular",
            "run": "running", "charge": "in_quota", "pods": [{"gpu": 2}]}],
        "event": {"type": "submit", "jobs": [{"id": "in", "quota": "Q", "priority": 7, "module": "DLC",
            "kind": "regular", "pods": [{"gpu": 1}], "run": "queued"}]},
        "expect": {"victims": ["low"], "start": ["in"], "stay_queued": ["low"]},
    })
}

/// The case with one field of its expectation replaced, and what the runner says of it.
fn verdict(field: &str, value: Value) -> Verdict {
    let mut case = small_case();
    case["expect"][field] = value;
    run::case(&case).verdict
}

#[track_caller]
fn check_failure(field: &str, value: Value, expected: &str) {
    match verdict(field, value) {
        Verdict::Fail(difference) => assert!(difference.contains(expected), "{difference}"),
        Verdict::Pass => panic!("{field} should fail"),
    }
}

#[test]
fn a_right_expectation_holds() {
    assert_eq!(run::case(&small_case()).verdict, Verdict::Pass);
}

#[test]
fn wrong_victims_fail() {
    check_failure("victims", json!([]), "expected victims nobody, got low");
}

#[test]
fn one_of_several_victim_sets_is_enough() {
    assert_eq!(verdict("victims_any_of", json!([["other"], ["low"]])), Verdict::Pass);
    check_failure("victims_any_of", json!([["other"]]), "got low");
}

#[test]
fn wrong_starts_fail() {
    check_failure("start", json!([]), "expected starts nobody, got in");
}

#[test]
fn a_wrong_reason_fails() {
    check_failure("reason", json!({"low": "quota_limit"}), "expected reason of low quota_limit");
}

#[test]
fn a_wrong_state_fails() {
    check_failure("state", json!({"in": "Preempted"}), "expected state of in Preempted, got In quota");
}

#[test]
fn a_wrong_charge_fails() {
    check_failure("charge", json!({"in": "not_in_quota"}), "got in_quota");
}

#[test]
fn a_wrong_time_fails() {
    check_failure("timeline", json!([[1001, "signal low"]]), "got it at 1000 s");
}

#[test]
fn a_wrong_final_usage_fails() {
    assert_eq!(verdict("final_usage", json!({"Q": {"gpu": 1}})), Verdict::Pass);
    check_failure("final_usage", json!({"Q": {"gpu": 2}}), "got 1");
}

#[test]
fn a_broken_invariant_fails() {
    assert_eq!(verdict("invariants", json!(["evictions(low) == 1 over 20 cycles"])), Verdict::Pass);
    check_failure("invariants", json!(["evictions(low) == 0"]), "got 1");
    check_failure("invariants", json!(["low not evicted"]), "expected low never");
    check_failure("invariants", json!(["in starts at +60 s"]), "got +0 s");
}

/// Words of a claim that are not known are told, and the rest of the case is checked.
#[test]
fn words_that_are_not_understood_are_told() {
    let mut case = small_case();
    case["expect"]["invariants"] = json!(["all is well", "evictions(low) == 1"]);
    case["expect"]["timeline"] = json!([[1000, "signal low, all is well"]]);
    case["must_not"] = json!(["lose anything"]);
    let report = run::case(&case);
    assert_eq!(report.verdict, Verdict::Pass);
    let claims = ["the timeline says \"all is well\"", "the invariant \"all is well\"", "the fault \"lose anything\""];
    assert_eq!(report.skipped.len(), claims.len(), "{:?}", report.skipped);
    for (line, claim) in report.skipped.iter().zip(claims) {
        assert!(line.starts_with("not checked: ") && line.contains(claim), "{line}");
    }
    case["expect"]["invariants"] = json!(["all is well", "evictions(low) == 2"]);
    assert!(matches!(run::case(&case).verdict, Verdict::Fail(_)));
}

#[test]
fn an_unknown_field_is_named() {
    check_failure("verdict", json!(1), "unknown field `verdict`");
}

#[test]
fn a_time_out_of_reach_is_refused() {
    check_failure("timeline", json!([[1_000_000_000, "signal low"]]), "keep them within 2419200 s of each other");
    let mut case = small_case();
    case["now"] = json!(i64::MAX);
    assert!(matches!(run::case(&case).verdict, Verdict::Fail(difference) if difference.starts_with("now is")));
}

#[test]
fn a_forbidden_eviction_fails() {
    let mut case = small_case();
    case["must_not"] = json!(["evict low"]);
    assert!(matches!(run::case(&case).verdict, Verdict::Fail(_)));
}

/// One instance for two bids: whoever bids more has it.
#[test]
fn a_lower_bid_waits() {
    let job = |name: &str, run: &str, price: i64| json!({"id": name, "quota": "spot", "kind": "spot", "run": run, "pods": [{"gpu": 1}], "bid": {"price": price}});
    let mut case = json!({
        "id": "T2", "title": "two bids", "now": 1000, "cluster": {"gpu": 1},
        "jobs": [job("runs", "running", 2)],
        "event": {"type": "submit", "jobs": [job("waits", "queued", 1)]},
        "expect": {"victims": [], "start": [], "stay_queued": ["waits"], "reason": "price_below_market"},
    });
    assert_eq!(run::case(&case).verdict, Verdict::Pass);
    case["event"]["jobs"][0]["bid"]["price"] = json!(3);
    assert!(matches!(run::case(&case).verdict, Verdict::Fail(_)));
}
