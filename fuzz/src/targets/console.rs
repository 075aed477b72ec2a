//! What people write and share: scenarios, tables of traces, links.

use planner::address;
use planner::embed::scenario::Scenario;
use planner::page::import;
use planner::page::sheet::Sheet;

use crate::told::Told;
use crate::told::refused;
use crate::told::same;

/// Between the tables of a trace.
const BETWEEN: &[u8] = b"\n---\n";

pub(crate) fn scenarios(input: &[u8]) -> Result<Told, String> {
    let text = String::from_utf8_lossy(input);
    match Scenario::read(&text) {
        Ok(scenario) => {
            let far: Vec<i64> = scenario.controls.iter().map(|_| i64::MAX).collect();
            let _ = (scenario.until(), scenario.variant(&[]), scenario.variant(&far));
            Ok(if scenario.acts.is_empty() { Told::Read } else { Told::Accepted })
        }
        Err(words) => refused(&words),
    }
}

pub(crate) fn traces(input: &[u8]) -> Result<Told, String> {
    let mut files = Vec::new();
    let mut rest = input;
    while let Some(at) = rest.windows(BETWEEN.len()).position(|part| part == BETWEEN) {
        files.push((format!("table-{}.csv", files.len()), rest[..=at].to_vec()));
        rest = &rest[at + BETWEEN.len()..];
    }
    files.push((format!("table-{}.csv", files.len()), rest.to_vec()));
    match import::tables(&files) {
        Ok(_) => Ok(Told::Accepted),
        Err(words) => refused(&words),
    }
}

pub(crate) fn links(input: &[u8]) -> Result<Told, String> {
    let text = String::from_utf8_lossy(input);
    let shared = match address::read(&text) {
        Ok(shared) => {
            let lines: Vec<String> = shared.text.lines().map(str::to_owned).collect();
            let written = address::write(&lines, &shared.values);
            drop(address::read(&written).map_err(|fault| format!("it cannot be read again: {fault}"))?);
            Told::Accepted
        }
        Err(fault) => refused(&fault)?,
    };
    let sheet = if text.trim_start().starts_with('{') { Sheet::read(&text) } else { Sheet::read_link(&text) };
    let sheet = match sheet {
        Ok(sheet) => sheet,
        Err(words) => return refused(&words).map(|_| shared),
    };
    same(&sheet.text(), Sheet::read(&sheet.text()).map(|again| again.text()))?;
    match sheet.base() {
        Ok(_) => Ok(Told::Accepted),
        Err(words) => refused(&words).map(|_| Told::Read),
    }
}
