//! Signed requests without a network. The module has no bindings: a host reserves a place for the input, writes it
//! there, runs a function and reads the bytes.
//!
//! What is verified is production's verification; what is served is the `pai` crate's, on a cluster in memory.
#![expect(unsafe_code, reason = "an exported name is unsafe code to the compiler; nothing else here is")]

use std::sync::Mutex;

use crate::desk::Desk;

pub mod desk;
mod recorded;

static INPUT: Mutex<Vec<u8>> = Mutex::new(Vec::new());
static OUTPUT: Mutex<Vec<u8>> = Mutex::new(Vec::new());
static DESK: Mutex<Option<Desk>> = Mutex::new(None);

/// A place for so many bytes of input.
#[unsafe(no_mangle)]
pub extern "C" fn reserve(length: usize) -> *const u8 {
    INPUT.lock().map_or(std::ptr::null(), |mut input| {
        *input = vec![0; length];
        input.as_ptr()
    })
}

/// Verifies the recorded request in the reserved place, and tells how many bytes the outcome has; none if it cannot be
/// read.
#[unsafe(no_mangle)]
pub extern "C" fn verify() -> usize {
    let (Ok(input), Ok(mut output)) = (INPUT.lock(), OUTPUT.lock()) else { return 0 };
    *output = recorded::outcome(&input).unwrap_or_default().into_bytes();
    output.len()
}

/// Where the bytes are.
#[unsafe(no_mangle)]
pub extern "C" fn output() -> *const u8 {
    OUTPUT.lock().map_or(std::ptr::null(), |output| output.as_ptr())
}

/// Prepares the request of this number in a cluster with so many jobs: 1 if that worked.
#[unsafe(no_mangle)]
pub extern "C" fn prepare(request: u32, jobs: u32) -> u32 {
    let Ok(mut desk) = DESK.lock() else { return 0 };
    *desk = desk::REQUESTS.get(request as usize).and_then(|request| Desk::new(request, jobs));
    u32::from(desk.is_some())
}

/// Answers the prepared request, whose sender is known already: 1 unless it is refused.
#[unsafe(no_mangle)]
pub extern "C" fn answer_only() -> u32 {
    u32::from(DESK.lock().is_ok_and(|mut desk| desk.as_mut().is_some_and(desk::answer_only)))
}

/// Finds out who sends the prepared request, and answers it: 1 unless it is refused.
#[unsafe(no_mangle)]
pub extern "C" fn verify_and_answer() -> u32 {
    u32::from(DESK.lock().is_ok_and(|mut desk| desk.as_mut().is_some_and(desk::verify_and_answer)))
}
