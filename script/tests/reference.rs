//! The reference says what the parser reads, and nothing else.
#![expect(clippy::unwrap_used, reason = "a panic is a failed test")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use script::line;
use script::reference;
use script::reference::PARTS;

/// The words that stand as a pattern before `=>`, or behind `word ==`, in the files that read lines.
fn words_of_the_parser() -> BTreeSet<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut words = BTreeSet::new();
    for file in ["line.rs", "words.rs", "market.rs"] {
        let text = fs::read_to_string(folder.join(file)).unwrap();
        let text = text.split("#[cfg(test)]").next().unwrap();
        for line in text.lines() {
            let pattern = line.trim_start().strip_prefix("Some(").unwrap_or_else(|| line.trim_start());
            let is_arm = pattern.starts_with('"') && line.contains("=>");
            let is_guard = line.contains("if word == \"");
            if is_arm || is_guard {
                let before = line.split("=>").next().unwrap();
                words.extend(before.split('"').skip(1).step_by(2).map(str::to_owned));
            }
        }
    }
    words
}

fn words_of_the_reference() -> BTreeSet<String> {
    let forms = PARTS.iter().flat_map(|part| part.entries).map(|entry| entry.form);
    let is_between = |letter: char| letter.is_whitespace() || "[]|".contains(letter);
    forms.flat_map(|form| form.split(is_between)).map(str::to_owned).collect()
}

#[test]
fn what_is_read_stands_in_the_reference() {
    let (read, told) = (words_of_the_parser(), words_of_the_reference());
    // Units of periods, and the modules, which stand in what the parts say.
    let missing: Vec<&String> = read.difference(&told).filter(|word| word.len() > 1).collect();
    assert!(missing.is_empty() && read.len() > 60, "{missing:?} of {}", read.len());
}

#[test]
fn what_stands_in_the_reference_is_read() {
    for entry in PARTS.iter().flat_map(|part| part.entries) {
        let line = line::read(entry.example).unwrap_or_else(|fault| panic!("{}: {fault}", entry.example));
        assert!(line.is_some(), "{}", entry.example);
        // It shows what it is an example of.
        let word = entry.form.split_whitespace().next().unwrap();
        let is_a_name = word.chars().all(char::is_uppercase) && word.len() > 3;
        assert!(is_a_name || entry.example.contains(word) || entry.form.contains(" | "), "{}", entry.form);
    }
}

#[test]
fn the_book_has_the_reference_as_it_is() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/book/src/language.md");
    let is = fs::read_to_string(page).unwrap();
    assert!(is == reference::markdown(), "write it anew: tidegate scenario --reference > docs/book/src/language.md");
}
