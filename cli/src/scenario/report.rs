//! Runs scenario files and prints one line for each scenario.

use std::fs;
use std::io::Write;
use std::path::Path;

use script::lines;
use script::lines::Document;
use serde_json::Value;

use crate::scenario::peer::run;
use crate::scenario::peer::run::CaseReport;
use crate::scenario::peer::run::Verdict;
use crate::scenario::play;

/// How the scenarios of some files came out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub passed: u32,
    pub failed: u32,
}

/// Runs all scenarios of these files and prints their lines and the closing line.
pub fn run_files(files: &[impl AsRef<Path>], is_verbose: bool, out: &mut impl Write) -> std::io::Result<Tally> {
    let mut tally = Tally::default();
    for file in files {
        for report in run_file(file.as_ref()) {
            let CaseReport { id, title, verdict, notes } = &report;
            match verdict {
                Verdict::Pass => writeln!(out, "PASS {id} {title}")?,
                Verdict::Fail(difference) => writeln!(out, "FAIL {id} {title}: {difference}")?,
            }
            if is_verbose {
                for note in notes {
                    writeln!(out, "     {id} {note}")?;
                }
            }
            let count = match verdict {
                Verdict::Pass => &mut tally.passed,
                Verdict::Fail(_) => &mut tally.failed,
            };
            *count += 1;
        }
    }
    let Tally { passed, failed } = tally;
    writeln!(out, "{passed} passed, {failed} failed")?;
    Ok(tally)
}

/// Runs all scenarios of one file.
#[must_use]
pub fn run_file(file: &Path) -> Vec<CaseReport> {
    let name = file.file_stem().map_or_else(|| file.display().to_string(), |stem| stem.to_string_lossy().into_owned());
    let failed = |reason: String| {
        vec![CaseReport {
            id: name.clone(),
            title: file.display().to_string(),
            verdict: Verdict::Fail(reason),
            notes: Vec::new(),
        }]
    };
    let text = match fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) => return failed(format!("the file cannot be read: {error}")),
    };
    if file.extension().is_some_and(|extension| extension == "json") {
        return match cases(&text) {
            Ok(documents) => documents.iter().map(run::case).collect(),
            Err(reason) => failed(reason),
        };
    }
    if file.extension().is_some_and(|extension| extension == "md") {
        return document(file, &name, &text);
    }
    failed("only .json and .md files hold scenarios".to_owned())
}

/// The scenarios of a Markdown file. With `UPDATE_EXPECT=1` what the engine says takes the place of the expectation.
fn document(file: &Path, name: &str, text: &str) -> Vec<CaseReport> {
    let document = Document::read(text);
    let is_update = std::env::var_os("UPDATE_EXPECT").is_some_and(|value| value == "1");
    let mut reports = Vec::new();
    let mut blocks = Vec::new();
    for (at, block) in document.blocks.iter().enumerate() {
        let id = if at == 0 { name.to_owned() } else { format!("{name}-{}", at + 1) };
        let verdict = match play::block(block) {
            Err(problem) => {
                blocks.push(block.lines.clone());
                Verdict::Fail(problem)
            }
            Ok(played) => {
                blocks.push(played.lines);
                played.difference.filter(|_| !is_update).map_or(Verdict::Pass, Verdict::Fail)
            }
        };
        reports.push(CaseReport { id, title: document.title.clone(), verdict, notes: Vec::new() });
    }
    let updated = if is_update { lines::rewritten(text, &blocks) } else { text.to_owned() };
    if updated != text
        && let Err(error) = fs::write(file, updated)
        && let Some(report) = reports.first_mut()
    {
        report.verdict = Verdict::Fail(format!("the file cannot be written: {error}"));
    }
    if reports.is_empty() {
        let verdict = Verdict::Fail("there is no block that begins with ```scenario".to_owned());
        reports.push(CaseReport { id: name.to_owned(), title: document.title, verdict, notes: Vec::new() });
    }
    reports
}

/// The cases of a document: a list, or the `scenarios` of an object, or one case.
fn cases(text: &str) -> Result<Vec<Value>, String> {
    let document: Value = serde_json::from_str(text).map_err(|error| format!("the file is not JSON: {error}"))?;
    let mut fields = match document {
        Value::Array(cases) => return Ok(cases),
        Value::Object(fields) => fields,
        other @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => {
            return Err(format!("the document must be an object with the field scenarios, here is {other}"));
        }
    };
    match fields.remove("scenarios").or_else(|| fields.remove("cases")) {
        Some(Value::Array(cases)) => Ok(cases),
        Some(other) => Err(format!("the field scenarios must be a list, here is {other}")),
        None if fields.contains_key("event") => Ok(vec![Value::Object(fields)]),
        None => Err("the document has no field scenarios; schema quota-preemption-scenarios/1 has one".to_owned()),
    }
}
