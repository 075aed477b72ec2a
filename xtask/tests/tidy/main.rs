//! What no compiler checks: the engine's layers, and the habits of the whole tree.
//!
//! Every rule has a test in which a planted fault fires.
mod circles;
mod crates;
mod decisions;
mod layers;
mod modules;
mod rules;
mod source;
mod specification;
mod tokens;
mod uses;

use std::collections::BTreeSet;
use std::fs;

use source::{Fault, Source};

/// The specification.
const RULES: &str = "docs/rules.md";
/// The folder of the decisions, and the file in it that lists them.
const DECISIONS: &str = "docs/decisions";
const LIST: &str = "README.md";

#[test]
fn the_engine_keeps_its_layers() {
    let faults: Vec<Fault> = Source::tree(&["engine".to_owned()]).iter().flat_map(layers::check).collect();
    report(&faults);
}

#[test]
fn crates_keep_their_layers() {
    let faults = crates::check(&crates::members());
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

#[test]
fn no_files_use_each_other_in_a_circle() {
    report(&circles::check(&Source::tree(&folders())));
}

#[test]
fn the_tree_is_tidy() {
    let faults: Vec<Fault> = Source::tree(&folders()).iter().flat_map(rules::check).collect();
    report(&faults);
}

#[test]
fn decisions_have_their_form_and_are_listed() {
    let path = |name: &str| format!("{DECISIONS}/{name}");
    let names = names_in(DECISIONS).into_iter().filter(|name| name != LIST);
    let decisions: Vec<Source> = names.map(|name| Source::file(&path(&name))).collect();
    report(&decisions::check(&Source::file(&path(LIST)), &decisions));
}

#[test]
fn code_cites_sections_that_are_there() {
    // The rules for this crate's own tests are written with planted citations.
    let mut sources = Source::tree_with_tests(&folders());
    sources.retain(|source| !source.path.starts_with("xtask/tests/tidy/"));
    report(&specification::citations(&Source::file(RULES), &sources));
}

#[test]
fn every_section_is_shown_and_every_scenario_shows_one() {
    let tests = specification::tests(&Source::tree_with_tests(&folders()));
    report(&specification::shown(&Source::file(RULES), &names_in("scenarios"), &tests));
}

/// The folders of all crates.
fn folders() -> Vec<String> {
    crates::members().into_iter().map(|member| member.folder).collect()
}

fn names_in(folder: &str) -> BTreeSet<String> {
    let entries = fs::read_dir(source::root().join(folder)).expect("the folder is there");
    entries.filter_map(|entry| entry.expect("it is readable").file_name().into_string().ok()).collect()
}

fn report(faults: &[Fault]) {
    let lines: Vec<String> = faults.iter().map(Fault::to_string).collect();
    assert!(faults.is_empty(), "\n{}\n", lines.join("\n"));
}
