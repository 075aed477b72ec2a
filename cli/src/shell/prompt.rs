//! Questions to the person at the terminal.

use std::io::BufRead;
use std::io::IsTerminal;
use std::io::Read;
use std::io::Write;

use rustix::termios::LocalModes;
use rustix::termios::OptionalActions;
use rustix::termios::SpecialCodeIndex;
use rustix::termios::Termios;
use rustix::termios::tcgetattr;
use rustix::termios::tcsetattr;

use crate::shell::failure::Failure;
use crate::shell::failure::Status;

/// How long a key may be: nobody's is longer.
const KEY_BYTES_MAX: u64 = 4_096;
/// Ctrl-C, where it is read as a letter.
const INTERRUPT: u8 = 3;

/// Reads a key: from the terminal, which does not show it, or the first line of what is given instead of one.
pub fn key() -> Result<String, Failure> {
    let input = std::io::stdin();
    let line = if input.is_terminal() { typed_hidden()? } else { line(&mut input.lock())? };
    let key = line.trim().to_owned();
    if key.is_empty() {
        let text = "no key was given; type it when it is asked for, or give it on the standard input: somebody's own, or the \
                    administrator's, which is what follows #key= in the console's address";
        return Err(Failure::usage(text));
    }
    Ok(key)
}

fn line(input: &mut impl BufRead) -> Result<String, Failure> {
    let mut line = String::new();
    let read = input.take(KEY_BYTES_MAX).read_line(&mut line);
    read.map_err(|error| Failure::usage(format!("the key cannot be read: {error}")))?;
    Ok(line)
}

fn typed_hidden() -> Result<String, Failure> {
    let input = std::io::stdin();
    let failed = |error: &dyn std::fmt::Display| Failure::usage(format!("the terminal cannot hide a key: {error}"));
    let shown: Termios = tcgetattr(&input).map_err(|error| failed(&error))?;
    let mut hidden = shown.clone();
    // Without signals Ctrl-C is a letter, and here one that ends the line: a process that it ended would leave a terminal on
    // which nothing shows.
    hidden.local_modes.remove(LocalModes::ECHO | LocalModes::ISIG);
    hidden.special_codes[SpecialCodeIndex::VEOL] = INTERRUPT;
    tcsetattr(&input, OptionalActions::Flush, &hidden).map_err(|error| failed(&error))?;
    // Not before: what somebody types at once must not show.
    say("Key: ");
    let typed = line_or_interrupt(&mut input.lock());
    tcsetattr(&input, OptionalActions::Flush, &shown).map_err(|error| failed(&error))?;
    say("\n");
    typed?.ok_or_else(|| Failure { status: Status::Declined, text: "nothing was changed".to_owned() })
}

/// A line; nothing if Ctrl-C ended it.
fn line_or_interrupt(input: &mut impl BufRead) -> Result<Option<String>, Failure> {
    let mut line = Vec::new();
    for byte in input.take(KEY_BYTES_MAX).bytes() {
        match byte.map_err(|error| Failure::usage(format!("the key cannot be read: {error}")))? {
            INTERRUPT => return Ok(None),
            b'\n' => break,
            byte => line.push(byte),
        }
    }
    Ok(Some(String::from_utf8_lossy(&line).into_owned()))
}

/// Whether somebody agrees. What is not a clear yes is a no, and who cannot be asked is told how to agree beforehand.
pub fn agree(question: &str) -> Result<(), Failure> {
    let declined = |text: String| Err(Failure { status: Status::Declined, text });
    if !std::io::stdin().is_terminal() {
        return declined(format!("{question} Nobody can be asked here: add --yes to agree; nothing was changed"));
    }
    say(&format!("{question} [y/N] "));
    let mut line = String::new();
    let read = std::io::stdin().lock().read_line(&mut line);
    read.map_err(|error| Failure::refused(format!("the answer cannot be read: {error}")))?;
    if matches!(line.trim().to_lowercase().as_str(), "y" | "yes") {
        Ok(())
    } else {
        declined("nothing was changed".to_owned())
    }
}

/// Beside the results, which may go into a file.
pub fn say(text: &str) {
    let mut error = std::io::stderr().lock();
    // Who has closed it does not want to hear.
    let _ = error.write_all(text.as_bytes()).and_then(|()| error.flush());
}
