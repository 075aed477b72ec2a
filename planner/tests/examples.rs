//! The examples that plans begin with, and links to plans.
#![expect(clippy::unwrap_used, reason = "a panic is a failed test")]

use std::cell::Cell;
use std::fs;
use std::path::Path;
use std::path::PathBuf;

use planner::page::example::Example;
use planner::page::link;
use serde::Serialize;
use serde::Serializer;

const CUT_OFF: &str = "the end of the link is missing; copy it again, all of it";
const DAMAGED: &str = "the link was changed on its way; copy it again";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../public/workbench/plans")
}

fn text(name: &str) -> String {
    fs::read_to_string(folder().join(format!("{name}.json"))).unwrap()
}

fn names() -> Vec<String> {
    let files = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let plans = files.filter(|path| path.extension().is_some_and(|extension| extension == "json"));
    plans.map(|path| path.file_stem().unwrap().to_string_lossy().into_owned()).collect()
}

#[test]
fn every_example_can_be_read_and_begun() {
    assert!(names().len() >= 3);
    for name in names() {
        let example = Example::read(&text(&name)).unwrap_or_else(|problem| panic!("{name}: {problem}"));
        let base = example.base().unwrap_or_else(|problem| panic!("{name}: {problem}"));
        assert!(base.state.live_quotas().count() > 0, "{name}");
    }
}

#[test]
fn an_example_from_the_future_says_so() {
    let newer = text("idle").replacen("\"format\": 1", "\"format\": 2, \"colours\": []", 1);
    let told = Example::read(&newer).unwrap_err();
    assert!(told.starts_with("the plan has format 2"), "{told}");
    let endless = text("idle").replacen("\"for_ms\": ", "\"for_ms\": 99999", 1);
    assert!(Example::read(&endless).unwrap_err().contains("366 days"));
}

#[test]
fn a_base_that_does_not_add_up_says_which_command() {
    let broken = text("idle").replacen("\"gpu\": 16000", "\"gpu\": 15000", 1);
    let told = Example::read(&broken).unwrap().base().unwrap_err();
    assert_eq!(told, "command 3 of the plan is refused: Root would need 16 GPUs, resource group pool has 15 left");
}

fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap()
}

fn packed(name: &str) -> String {
    link::pack(&json(&text(name)), 2_000).unwrap_or_else(|| panic!("{name}"))
}

#[test]
fn a_link_holds_the_whole_document() {
    for name in names() {
        assert_eq!(json(&link::unpack(&packed(&name)).unwrap()), json(&text(&name)), "{name}");
    }
}

#[test]
fn a_link_is_as_long_as_it_may_be_or_there_is_none() {
    let (document, length) = (json(&text("idle")), packed("idle").len());
    assert_eq!(link::pack(&document, length + 4), Some(packed("idle")));
    for letters_max in [0, 1, 2, 10, length / 2, length - 4] {
        assert_eq!(link::pack(&document, letters_max), None, "{letters_max} of {length}");
    }
}

/// A list that counts how much of itself is written.
struct Endless<'a>(&'a Cell<u64>);

impl Serialize for Endless<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let numbers = (0..1_000_000_u64).map(|number| {
            self.0.set(number);
            number.wrapping_mul(6_364_136_223_846_793_005)
        });
        serializer.collect_seq(numbers)
    }
}

#[test]
fn what_is_too_large_is_not_packed_to_its_end() {
    let written = Cell::new(0);
    assert_eq!(link::pack(&Endless(&written), 30_000), None);
    // 22 KB of digits that hardly pack, and what is under way.
    assert!(written.get() < 20_000, "{}", written.get());
}

#[test]
fn a_link_that_was_cut_off_says_so() {
    let link = packed("idle");
    for length in 2..link.len() {
        assert_eq!(link::unpack(&link[..length]), Err(CUT_OFF.to_owned()), "{length} of {}", link.len());
    }
}

#[test]
fn a_link_of_another_kind_says_so() {
    let link = packed("idle");
    for foreign in ["", "https://example.org/a.html", &link.replacen('1', "0", 1)] {
        let told = link::unpack(foreign).unwrap_err();
        assert!(told.starts_with("this is no link to a plan"), "{told}");
    }
    let future = link::unpack(&link.replacen('1', "2", 1)).unwrap_err();
    assert!(future.contains("newer planner (version 2)"), "{future}");
    let at = link.len() / 2;
    let other = if &link[at..=at] == "A" { "B" } else { "A" };
    assert!(link::unpack(&format!("{}{other}{}", &link[..at], &link[at + 1..])).is_err());
    assert_eq!(link::unpack(&format!("{}!{}", &link[..at], &link[at + 1..])), Err(DAMAGED.to_owned()));
}

#[test]
fn a_link_to_what_is_too_large_says_so() {
    let link = link::pack(&" ".repeat(link::BYTES_MAX + 1), 30_000).unwrap();
    assert_eq!(link::unpack(&link), Err("the link holds a plan of more than 8 MiB, which is not read".to_owned()));
}
