//! Names of commands: a command that is sent again is the same command, and no other one has its name.

use std::fs::File;
use std::io::Read;

/// What no other command's name ends with.
pub fn drawn() -> Result<String, String> {
    let mut bytes = [0; 8];
    let read = File::open("/dev/urandom").and_then(|mut random| random.read_exact(&mut bytes));
    read.map_err(|error| format!("/dev/urandom: {error}"))?;
    Ok(bytes.iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}")))
}
