//! What no compiler checks: the engine's layers, and the habits of the whole tree.
//!
//! Every rule has a test in which a planted fault fires.
mod layers;
mod rules;
mod source;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use source::{Fault, Source};

#[test]
fn the_engine_keeps_its_layers() {
    let faults: Vec<Fault> = Source::tree(&["engine"]).iter().flat_map(layers::check).collect();
    report(&faults);
}

#[test]
fn the_tree_is_tidy() {
    let faults: Vec<Fault> = Source::tree(&rules::CRATES).iter().flat_map(rules::check).collect();
    report(&faults);
}

#[test]
fn every_decision_has_a_number_of_its_own() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/decisions");
    let names = fs::read_dir(folder).expect("the log is there").map(|entry| entry.expect("it is readable").file_name());
    let mut numbers: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for name in names.filter_map(|name| name.into_string().ok()) {
        let number = name.split('-').next().unwrap_or_default().to_owned();
        numbers.entry(number).or_default().push(name);
    }
    let shared: Vec<_> = numbers.into_values().filter(|names| names.len() > 1).collect();
    assert!(shared.is_empty(), "decisions with the same number: {shared:?}");
}

fn report(faults: &[Fault]) {
    let lines: Vec<String> = faults.iter().map(Fault::to_string).collect();
    assert!(faults.is_empty(), "\n{}\n", lines.join("\n"));
}
