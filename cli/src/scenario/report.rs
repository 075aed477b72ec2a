//! Runs scenario files and prints one line for each scenario.

use std::fs;
use std::io::Write;
use std::path::Path;

use script::lines;
use script::lines::Document;

use crate::scenario::play;

/// What a scenario comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    pub id: String,
    pub title: String,
    /// The first difference between what the scenario expects and what the engine says, or why it cannot be played.
    pub difference: Option<String>,
}

/// How the scenarios of some files came out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub passed: u32,
    pub failed: u32,
}

/// Runs all scenarios of these files and prints their lines and the closing line.
pub fn run_files(files: &[impl AsRef<Path>], out: &mut impl Write) -> std::io::Result<Tally> {
    let mut tally = Tally::default();
    for Report { id, title, difference } in files.iter().flat_map(|file| run_file(file.as_ref())) {
        match difference {
            None => {
                writeln!(out, "PASS {id} {title}")?;
                tally.passed += 1;
            }
            Some(difference) => {
                writeln!(out, "FAIL {id} {title}: {difference}")?;
                tally.failed += 1;
            }
        }
    }
    let Tally { passed, failed } = tally;
    writeln!(out, "{passed} passed, {failed} failed")?;
    Ok(tally)
}

/// Runs all scenarios of one file.
#[must_use]
pub fn run_file(file: &Path) -> Vec<Report> {
    let name = file.file_stem().map_or_else(|| file.display().to_string(), |stem| stem.to_string_lossy().into_owned());
    let failed =
        |reason: String| vec![Report { id: name.clone(), title: file.display().to_string(), difference: Some(reason) }];
    if file.extension().is_none_or(|extension| extension != "md") {
        return failed("only .md files hold scenarios".to_owned());
    }
    match fs::read_to_string(file) {
        Ok(text) => document(file, &name, &text),
        Err(error) => failed(format!("the file cannot be read: {error}")),
    }
}

/// The scenarios of a Markdown file. With `UPDATE_EXPECT=1` what the engine says takes the place of the expectation.
fn document(file: &Path, name: &str, text: &str) -> Vec<Report> {
    let document = Document::read(text);
    let is_update = std::env::var_os("UPDATE_EXPECT").is_some_and(|value| value == "1");
    let mut reports = Vec::new();
    let mut blocks = Vec::new();
    for (at, block) in document.blocks.iter().enumerate() {
        let id = if at == 0 { name.to_owned() } else { format!("{name}-{}", at + 1) };
        let difference = match play::block(block) {
            Err(problem) => {
                blocks.push(block.lines.clone());
                Some(problem)
            }
            Ok(played) => {
                blocks.push(played.lines);
                played.difference.filter(|_| !is_update)
            }
        };
        reports.push(Report { id, title: document.title.clone(), difference });
    }
    let updated = if is_update { lines::rewritten(text, &blocks) } else { text.to_owned() };
    if updated != text
        && let Err(error) = fs::write(file, updated)
        && let Some(report) = reports.first_mut()
    {
        report.difference = Some(format!("the file cannot be written: {error}"));
    }
    if reports.is_empty() {
        let difference = Some("there is no block that begins with ```scenario".to_owned());
        reports.push(Report { id: name.to_owned(), title: document.title, difference });
    }
    reports
}
