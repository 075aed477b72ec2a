//! The policy checker on a file: what it finds, an example that can be played, and the change that ends it.

use std::fmt::Write as _;
use std::io::Write;
use std::path::Path;

use engine::check;
use engine::check::finding::Act;
use engine::check::finding::Example;
use engine::check::finding::Finding;
use engine::check::finding::Severity;
use engine::explain;
use engine::explain::FindingWords;
use engine::message::command::Command;
use engine::message::snapshot::Snapshot;
use engine::state::world::State;
use script::fault::Fault;
use script::line::Line;
use script::lines::Block;
use script::lines::Document;
use script::session::Session;
use script::stage::Stage;
use script::write;
use trace::machines::Machines;
use trace::machines::Setting;
use trace::sheet::Source;

use crate::scenario::play;

/// Checks a file and prints what is found; whether any of it is a fault.
pub fn run(file: &Path, has_preemption: bool, out: &mut impl Write) -> Result<bool, String> {
    let mut has_faults = false;
    for (name, state) in states(file, has_preemption)? {
        let findings = check::check(&state);
        let faults = findings.iter().filter(|finding| finding.flaw.severity() == Severity::Fault).count();
        has_faults |= faults > 0;
        let text = report(&name, &state, &findings, faults);
        out.write_all(text.as_bytes()).map_err(|error| error.to_string())?;
    }
    Ok(has_faults)
}

/// The clusters of a file with their names.
fn states(file: &Path, has_preemption: bool) -> Result<Vec<(String, State)>, String> {
    let source = Source::open(file)?;
    let name = source.name.clone();
    match file.extension().and_then(|extension| extension.to_str()) {
        Some("md") => {
            let text = String::from_utf8(source.bytes).map_err(|_| format!("{name} is not text"))?;
            let blocks = Document::read(&text).blocks;
            if blocks.is_empty() {
                return Err(format!("{name} has no block that begins with ```scenario"));
            }
            let named = |block: &Block| Ok((format!("{name}, line {}", block.first), scene(&name, block)?));
            blocks.iter().map(named).collect()
        }
        Some("csv") => Ok(vec![(name, table(&source, has_preemption)?)]),
        Some("json") => {
            let snapshot: Snapshot = serde_json::from_slice(&source.bytes)
                .map_err(|error| format!("{name} is not a snapshot: {error}; download one of the cluster"))?;
            let state = snapshot.restore().map_err(|rejection| format!("{name}: {rejection}"))?;
            Ok(vec![(name, state)])
        }
        Some(_) | None => Err(format!("{name} cannot be checked; give a .md, .csv or .json file")),
    }
}

/// The cluster that a scenario begins with.
fn scene(name: &str, block: &Block) -> Result<State, String> {
    let mut stage = Stage::new().map_err(|rejection| rejection.to_string())?;
    for (at, text) in block.lines.iter().enumerate() {
        let wrong = |fault: Fault| format!("{name}, {}", fault.in_line(block.first + at));
        match stage.read(text).map_err(wrong)? {
            Some(Line::Scene(scene)) => stage.set(&scene).map_err(|trouble| wrong(trouble.to_string().into()))?,
            None => {}
            Some(_) => break,
        }
    }
    Ok(stage.session.state)
}

fn table(quotas: &Source, has_preemption: bool) -> Result<State, String> {
    let machines = Machines::read(&Setting { quotas, nodes: None, gpus_per_node: None, has_preemption })?;
    let mut session = Session::at(machines.begin);
    for setup in &machines.setup {
        session.stage(&setup.command, machines.begin).map_err(|rejection| setup.complaint(&rejection))?;
    }
    Ok(session.state)
}

fn report(name: &str, state: &State, findings: &[Finding], faults: usize) -> String {
    let warnings = findings.len() - faults;
    let count = |number: usize, word: &str| format!("{number} {word}{}", if number == 1 { "" } else { "s" });
    let mut text = format!("{name}: {}, {}\n", count(faults, "fault"), count(warnings, "warning"));
    for (at, finding) in findings.iter().enumerate() {
        let FindingWords { severity, what, change } = explain::finding(state, finding);
        let _ = writeln!(text, "\n{}. {severity}: {what}", at + 1);
        text += &indented(&example(&finding.example));
        let _ = writeln!(text, "   {}", change.as_deref().unwrap_or("No single change that was tried ends it."));
        text += &indented(&finding.fix.as_ref().and_then(lines).unwrap_or_default());
    }
    if !findings.is_empty() {
        text.push('\n');
    }
    text
}

fn indented(lines: &[String]) -> String {
    lines.iter().fold(String::new(), |text, line| text + "     " + line + "\n")
}

/// The example as a scenario, with what the engine says when it is played.
fn example(example: &Example) -> Vec<String> {
    let block = scenario(example).map(|lines| Block { first: 1, lines });
    match block.and_then(|block| play::block(&block)) {
        Ok(played) => played.lines,
        Err(problem) => vec![format!("# {problem}")],
    }
}

/// The lines of an example.
///
/// # Errors
/// In words: what cannot stand in a line.
pub fn scenario(example: &Example) -> Result<Vec<String>, String> {
    let Example { quotas, acts } = example;
    let mut lines = quotas.iter().map(write::quota).collect::<Result<Vec<String>, String>>()?;
    for act in acts {
        match act {
            Act::Send(command) => lines.extend(write::acts(command)?),
            Act::Wait(period) => lines.push(write::advance(*period)),
        }
    }
    Ok(lines)
}

/// The change as lines, where the language of scenarios has words for it.
fn lines(change: &Command) -> Option<Vec<String>> {
    write::acts(change).ok()
}
