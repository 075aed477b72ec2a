//! What no compiler checks: the engine's layers, and the habits of the whole tree.
//!
//! Every rule has a test in which a planted fault fires.
mod layers;
mod rules;
mod source;

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

fn report(faults: &[Fault]) {
    let lines: Vec<String> = faults.iter().map(Fault::to_string).collect();
    assert!(faults.is_empty(), "\n{}\n", lines.join("\n"));
}
