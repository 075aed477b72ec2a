//! Plans as documents, and links to them.
#![expect(clippy::unwrap_used, reason = "a panic is a failed test")]

use std::fs;
use std::path::Path;
use std::path::PathBuf;

use planner::document::Document;
use planner::link;
use planner::link::LinkFault;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../public/workbench/plans")
}

fn text(name: &str) -> String {
    fs::read_to_string(folder().join(format!("{name}.json"))).unwrap()
}

fn document(name: &str) -> Document {
    Document::read(&text(name)).unwrap_or_else(|problem| panic!("{name}: {problem}"))
}

fn names() -> Vec<String> {
    let files = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let plans = files.filter(|path| path.extension().is_some_and(|extension| extension == "json"));
    let mut names: Vec<String> = plans.map(|path| path.file_stem().unwrap().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn a_link_holds_the_whole_plan() {
    for name in names() {
        let document = document(&name);
        let link = link::write(&document);
        assert!(link.len() < 2000, "{name}: {}", link.len());
        assert_eq!(link::read(&link), Ok(document), "{name}");
    }
}

#[test]
fn a_link_that_was_cut_off_says_so() {
    let link = link::write(&document("idle"));
    for length in 2..link.len() {
        assert_eq!(link::read(&link[..length]), Err(LinkFault::CutOff), "{length} of {}", link.len());
    }
    let told = link::read(&link[..link.len() / 2]).unwrap_err().to_string();
    assert_eq!(told, "the end of the link is missing; copy it again, all of it");
}

#[test]
fn a_link_of_another_kind_says_so() {
    let link = link::write(&document("idle"));
    assert_eq!(link::read(""), Err(LinkFault::Foreign));
    assert_eq!(link::read("https://example.org/a.html"), Err(LinkFault::Foreign));
    assert_eq!(link::read(&link.replacen('1', "0", 1)), Err(LinkFault::Foreign));
    let future = link::read(&link.replacen('1', "2", 1)).unwrap_err();
    assert!(future.to_string().contains("newer planner (version 2)"), "{future}");
    let at = link.len() / 2;
    let other = if &link[at..=at] == "A" { "B" } else { "A" };
    let changed = format!("{}{other}{}", &link[..at], &link[at + 1..]);
    assert!(link::read(&changed).is_err());
    assert_eq!(link::read(&format!("{}!{}", &link[..at], &link[at + 1..])), Err(LinkFault::Damaged));
}

#[test]
fn a_document_from_the_future_says_so() {
    let newer = text("idle").replacen("\"format\": 1", "\"format\": 2, \"colours\": []", 1);
    let told = Document::read(&newer).unwrap_err();
    assert!(told.starts_with("the plan has format 2"), "{told}");
    let endless = text("idle").replacen("\"for_ms\": ", "\"for_ms\": 99999", 1);
    assert!(Document::read(&endless).unwrap_err().contains("366 days"));
}

#[test]
fn a_base_that_does_not_add_up_says_which_command() {
    let broken = text("idle").replacen("\"gpu\": 16000", "\"gpu\": 15000", 1);
    let told = Document::read(&broken).unwrap().base().unwrap_err();
    assert_eq!(told, "command 3 of the plan is refused: Root would need 16 GPUs, resource group pool has 15 left");
}
