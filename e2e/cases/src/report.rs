//! Plays files of cases and prints a line for each case, and one below it for each word that nobody understood.

use std::fs;
use std::io::Write;
use std::path::Path;

use serde_json::Value;

use crate::run;
use crate::run::CaseReport;
use crate::run::Verdict;

/// How the cases of some files came out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub passed: u32,
    pub failed: u32,
    /// Claims in words that were not checked, since this player does not know the words.
    pub skipped: usize,
}

/// Plays all cases of these files and prints their lines and the closing line.
pub fn run_files(files: &[impl AsRef<Path>], out: &mut impl Write) -> std::io::Result<Tally> {
    let mut tally = Tally::default();
    for report in files.iter().flat_map(|file| run_file(file.as_ref())) {
        let CaseReport { id, title, verdict, skipped, notes } = &report;
        match verdict {
            Verdict::Pass => {
                writeln!(out, "PASS {id} {title}")?;
                tally.passed += 1;
            }
            Verdict::Fail(difference) => {
                writeln!(out, "FAIL {id} {title}: {difference}")?;
                tally.failed += 1;
            }
        }
        for line in skipped.iter().chain(notes) {
            writeln!(out, "     {id} {line}")?;
        }
        tally.skipped += skipped.len();
    }
    let Tally { passed, failed, skipped } = tally;
    writeln!(out, "{passed} passed, {failed} failed, {skipped} claims not understood")?;
    Ok(tally)
}

/// Plays all cases of one file.
#[must_use]
pub fn run_file(file: &Path) -> Vec<CaseReport> {
    match fs::read_to_string(file)
        .map_err(|error| format!("the file cannot be read: {error}"))
        .and_then(|text| cases(&text))
    {
        Ok(documents) => documents.iter().map(run::case).collect(),
        Err(reason) => {
            let id = file.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
            let title = file.display().to_string();
            vec![CaseReport { id, title, verdict: Verdict::Fail(reason), skipped: Vec::new(), notes: Vec::new() }]
        }
    }
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
