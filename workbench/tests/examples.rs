//! The examples that plans begin with, and links to plans.
#![expect(clippy::unwrap_used, reason = "a panic is a failed test")]

use std::fs;
use std::path::Path;
use std::path::PathBuf;

use workbench::example::Example;
use workbench::link;

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

#[test]
fn a_link_holds_the_whole_text() {
    for name in names() {
        let link = link::pack(text(&name).as_bytes());
        assert!(link.len() < 2000, "{name}: {}", link.len());
        assert_eq!(link::unpack(&link), Ok(text(&name)), "{name}");
    }
}

#[test]
fn a_link_that_was_cut_off_says_so() {
    let link = link::pack(text("idle").as_bytes());
    for length in 2..link.len() {
        assert_eq!(link::unpack(&link[..length]), Err(CUT_OFF.to_owned()), "{length} of {}", link.len());
    }
}

#[test]
fn a_link_of_another_kind_says_so() {
    let link = link::pack(text("idle").as_bytes());
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
    let link = link::pack(&vec![b' '; link::BYTES_MAX + 1]);
    assert_eq!(link::unpack(&link), Err("the link holds a plan of more than 8 MiB, which is not read".to_owned()));
}
