//! What is printed as a result. Remarks beside it go to the standard error, so that results can be piped.

use std::io::ErrorKind;
use std::io::IsTerminal;
use std::io::Write;

use crate::shell::failure::Failure;
use crate::shell::failure::Status;
use crate::shell::table::Output;
use crate::shell::table::Table;

/// Where a screen begins: what was there is drawn over.
const CLEAR: &str = "\u{1b}[H\u{1b}[2J\u{1b}[3J";

/// Prints a text as it is.
pub fn text(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(|error| Failure {
        status: if error.kind() == ErrorKind::BrokenPipe { Status::ReadEnough } else { Status::Refused },
        text: if error.kind() == ErrorKind::BrokenPipe { String::new() } else { error.to_string() },
    })
}

/// Prints lines.
pub fn line(words: &str) -> Result<(), Failure> {
    text(&format!("{words}\n"))
}

/// Prints a list.
pub fn table(table: &Table, output: Output) -> Result<(), Failure> {
    text(&table.text(output, is_coloured()))
}

/// Prints a list in place of the one before: on a terminal over it, elsewhere after it.
pub fn again(table: &Table, output: Output) -> Result<(), Failure> {
    let is_screen = std::io::stdout().is_terminal() && matches!(output, Output::Table | Output::Wide);
    let clear = if is_screen { CLEAR } else { "" };
    text(&format!("{clear}{}", table.text(output, is_coloured())))
}

/// Whether colours are wanted: on a terminal that has them, unless somebody says otherwise (`NO_COLOR`).
#[must_use]
pub fn is_coloured() -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    std::io::stdout().is_terminal() && !is_set("NO_COLOR") && !is_dumb
}
