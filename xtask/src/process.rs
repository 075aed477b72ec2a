//! Running other programs, and saying what to do when one fails.
use std::fmt;
use std::path::PathBuf;
use std::process::Command;

/// What went wrong, and what the reader can do about it.
#[derive(Debug)]
pub(crate) struct Failure {
    what: String,
    remedy: String,
}

impl Failure {
    pub(crate) fn new(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { what: what.into(), remedy: remedy.into() }
    }

    /// The same failure, said to be of this step of the gate.
    pub(crate) fn in_step(self, step: &str) -> Self {
        Self { what: format!("step \"{step}\" failed: {}", self.what), ..self }
    }

    /// A failure to read or write a file.
    pub(crate) fn file(path: &std::path::Path, error: &std::io::Error) -> Self {
        Self::new(format!("{}: {error}", path.display()), "check that the file exists and may be written")
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, remedy } = self;
        write!(f, "{what}\n  what to do: {remedy}")
    }
}

/// The repository's root: every path and every command is relative to it.
///
/// Asked of cargo at run time: a path compiled in would name another working copy where two of them share
/// a target directory, and the build would be written there.
pub(crate) fn root() -> PathBuf {
    let manifest_dir =
        std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    manifest_dir.parent().expect("xtask/ lies inside the repository").to_path_buf()
}

/// A command that runs at the repository's root, and connects to nothing it was not told to.
pub(crate) fn command(program: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command
        .args(arguments)
        .current_dir(root())
        .env("WRANGLER_SEND_METRICS", "false")
        .env("WRANGLER_HIDE_BANNER", "true")
        .env("WRANGLER_LOG_PATH", ".wrangler/logs")
        .env("CLOUDFLARE_CF_FETCH_ENABLED", "false");
    command
}

/// Runs a command with its output shown.
pub(crate) fn show(program: &str, arguments: &[&str], remedy: &str) -> Result<(), Failure> {
    let line = format!("{program} {}", arguments.join(" "));
    println!("  $ {line}");
    let status = command(program, arguments)
        .status()
        .map_err(|error| Failure::new(format!("`{line}` did not start: {error}"), remedy))?;
    if status.success() { Ok(()) } else { Err(Failure::new(format!("`{line}` failed ({status})"), remedy)) }
}

/// The output of a command that is expected to succeed quietly.
pub(crate) fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let output = command(program, arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
}
