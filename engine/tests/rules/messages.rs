//! Every message has a stored example that must decode for ever, and encode to the same bytes.
//!
//! `engine/tests/fixtures/` holds one file for each kind of message, one example a line. Lines are added, and never
//! changed: somebody has stored such bytes.
#![expect(clippy::unwrap_used, reason = "a panic is a failed test")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use engine::market::bid::BidFault;
use engine::market::offer::OfferFault;
use engine::message::command::Command;
use engine::message::envelope::Entry;
use engine::message::envelope::Envelope;
use engine::message::envelope::Receipt;
use engine::message::event::Event;
use engine::message::plan::Variant;
use engine::message::rejection::Rejection;
use engine::message::snapshot::Snapshot;
use engine::message::snapshot::pieces::Pieces;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The examples of a file, each read and written again.
fn examples<T: DeserializeOwned + Serialize>(file: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(file);
    let text = fs::read_to_string(path).unwrap();
    assert!(!text.is_empty(), "{file} has no example");
    for line in text.lines() {
        let message: T = serde_json::from_str(line).unwrap_or_else(|error| panic!("{file}: {error}\n{line}"));
        assert_eq!(serde_json::to_string(&message).unwrap(), line, "{file}");
    }
    text.lines().map(ToOwned::to_owned).collect()
}

/// The names of the variants of the examples.
fn variants(examples: &[String]) -> BTreeSet<String> {
    let name = |line: &String| line.split('"').nth(1).unwrap().to_owned();
    examples.iter().map(name).collect()
}

/// The variants that a type knows, as its reader lists them when it meets another.
fn known<T: DeserializeOwned>() -> BTreeSet<String> {
    let error = serde_json::from_str::<T>(r#"{"nothing_of_this_name":{}}"#).err().unwrap().to_string();
    error.split('`').skip(3).step_by(2).map(ToOwned::to_owned).collect()
}

#[test]
fn every_command_has_an_example() {
    assert_eq!(variants(&examples::<Command>("commands.jsonl")), known::<Command>());
}

#[test]
fn every_event_has_an_example() {
    assert_eq!(variants(&examples::<Event>("events.jsonl")), known::<Event>());
}

#[test]
fn every_rejection_has_an_example() {
    assert_eq!(variants(&examples::<Rejection>("rejections.jsonl")), known::<Rejection>());
}

/// The faults of the market are rejections of their own, inside of two.
#[test]
fn every_fault_of_a_bid_or_an_offer_has_an_example() {
    let (mut bids, mut offers) = (Vec::new(), Vec::new());
    for line in examples::<Rejection>("rejections.jsonl") {
        let rejection = serde_json::from_str(&line).unwrap();
        if let Rejection::Bid { fault, .. } = &rejection {
            bids.push(serde_json::to_string(fault).unwrap());
        } else if let Rejection::Offer { fault, .. } = &rejection {
            offers.push(serde_json::to_string(fault).unwrap());
        }
    }
    assert_eq!(variants(&bids), known::<BidFault>());
    assert_eq!(variants(&offers), known::<OfferFault>());
}

#[test]
fn envelopes_receipts_entries_and_variants_have_examples() {
    examples::<Envelope>("envelopes.jsonl");
    examples::<Receipt>("receipts.jsonl");
    examples::<Entry>("entries.jsonl");
    examples::<Variant>("variants.jsonl");
}

#[test]
fn numbers_of_jobs_leave_no_room_between_them() {
    let stored = examples::<Snapshot>("snapshots.jsonl");
    let mut values = stored.iter().map(|line| serde_json::from_str::<serde_json::Value>(line).expect("it is JSON"));
    let with_jobs = values.find(|value| value["jobs"][0].is_array());
    let snapshot = with_jobs.expect("one of them has a job");
    let restored = |no: u64| {
        let mut snapshot = snapshot.clone();
        snapshot["jobs"][0][0] = no.into();
        let snapshot: Snapshot = serde_json::from_value(snapshot).expect("it can be read");
        snapshot.restore().map(drop).map_err(|rejection| rejection.to_string())
    };
    assert_eq!(restored(snapshot["jobs"][0][0].as_u64().expect("a number")), Ok(()));
    let refused = restored(4_000_000_000).expect_err("it would take gigabytes");
    assert!(refused.contains("the snapshot is damaged: job number 4000000000 stands twice or is above "), "{refused}");
}

#[test]
fn a_stored_snapshot_makes_the_same_state() {
    for line in examples::<Snapshot>("snapshots.jsonl") {
        let state = serde_json::from_str::<Snapshot>(&line).unwrap().restore().unwrap();
        assert_eq!(engine::ledger::check::difference(&state), None);
        assert_eq!(Snapshot::of(&state).to_bytes(), line.as_bytes());
        let mut pieces = Pieces::default();
        pieces.add(&line).unwrap();
        assert_eq!(pieces.restore().unwrap(), state);
    }
}
