//! Runs commands and keeps all bytes that come of them: every answer, and the snapshot at the end.
//!
//! The host reserves a place for the commands, writes them there (each line a time, a tab, a command), runs them, and
//! reads the bytes.
#![expect(unsafe_code, reason = "an exported name is unsafe code to the compiler; nothing else here is")]

use std::sync::Mutex;

use engine::host::authority;
use engine::message;
use engine::message::command::Command;
use engine::message::snapshot::Snapshot;
use engine::state::world::State;
use engine::unit::time::Timestamp;

static INPUT: Mutex<Vec<u8>> = Mutex::new(Vec::new());
static OUTPUT: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// A place for so many bytes of commands.
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

/// Where the bytes are.
#[unsafe(no_mangle)]
pub extern "C" fn output() -> *const u8 {
    OUTPUT.lock().map_or(std::ptr::null(), |output| output.as_ptr())
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
