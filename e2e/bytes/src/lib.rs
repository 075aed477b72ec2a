//! Runs commands, or simulates a plan, and keeps all bytes that come of it: every answer, and the state or the result
//! at the end.
//!
//! The host reserves a place for the input, writes it there, runs it, and reads the bytes. Commands are lines: a time,
//! a tab, a command. A plan is a JSON document.
#![expect(unsafe_code, reason = "an exported name is unsafe code to the compiler; nothing else here is")]

use std::sync::Mutex;

use engine::host::authority;
use engine::host::plan::base::Base;
use engine::host::plan::outcome::Outcome;
use engine::host::plan::run::Horizon;
use engine::host::plan::run::Run;
use engine::message;
use engine::message::command::Command;
use engine::message::plan::Variant;
use engine::message::snapshot::Snapshot;
use engine::state::world::State;
use engine::unit::time::Timestamp;
use serde::Deserialize;

static INPUT: Mutex<Vec<u8>> = Mutex::new(Vec::new());
static OUTPUT: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// A place for so many bytes of input.
#[unsafe(no_mangle)]
pub extern "C" fn reserve(length: usize) -> *const u8 {
    INPUT.lock().map_or(std::ptr::null(), |mut input| {
        *input = vec![0; length];
        input.as_ptr()
    })
}

/// Runs the commands in the reserved place, and tells how many bytes came of them; none if a line cannot be read.
#[unsafe(no_mangle)]
pub extern "C" fn run() -> usize {
    let (Ok(input), Ok(mut output)) = (INPUT.lock(), OUTPUT.lock()) else { return 0 };
    *output = bytes_of(&input).unwrap_or_default();
    output.len()
}

/// Simulates the plan in the reserved place, and tells how many bytes came of it; none if it cannot be read.
#[unsafe(no_mangle)]
pub extern "C" fn plan() -> usize {
    let (Ok(input), Ok(mut output)) = (INPUT.lock(), OUTPUT.lock()) else { return 0 };
    *output = bytes_of_plan(&input).unwrap_or_default();
    output.len()
}

/// Where the bytes are.
#[unsafe(no_mangle)]
pub extern "C" fn output() -> *const u8 {
    OUTPUT.lock().map_or(std::ptr::null(), |output| output.as_ptr())
}

/// A plan as it is stored.
#[derive(Deserialize)]
struct Stored {
    snapshot: Snapshot,
    from: Timestamp,
    until: Timestamp,
    ahead: Vec<(Timestamp, Command)>,
    variant: Variant,
}

fn bytes_of_plan(json: &[u8]) -> Option<Vec<u8>> {
    let Stored { snapshot, from, until, ahead, variant } = serde_json::from_slice(json).ok()?;
    let base = Base::new(snapshot.restore().ok()?, from, ahead).ok()?;
    let mut run = Run::new(&base, &variant, Horizon::Until(until));
    let mut bytes = Vec::new();
    while let Some(step) = run.step() {
        serde_json::to_writer(&mut bytes, &step.answer).ok()?;
    }
    serde_json::to_writer(&mut bytes, &Outcome::of(&run)).ok()?;
    Some(bytes)
}

fn bytes_of(lines: &[u8]) -> Option<Vec<u8>> {
    let mut state = State::default();
    let mut bytes = Vec::new();
    for line in std::str::from_utf8(lines).ok()?.lines() {
        let (time, command) = line.split_once('\t')?;
        let command: Command = message::read(command.as_bytes()).ok()?;
        let answer = authority::step(&mut state, &command, Timestamp(time.parse().ok()?));
        serde_json::to_writer(&mut bytes, &answer).ok()?;
        bytes.push(b'\n');
    }
    bytes.extend(Snapshot::of(&state).to_bytes());
    Some(bytes)
}
