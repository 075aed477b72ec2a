//! The commands of Slurm, each within a bounded time.

use std::io;
use std::io::Read;
use std::process::Child;
use std::process::Command;
use std::process::Stdio;
use std::thread;
use std::thread::sleep;
use std::time::Duration;
use std::time::Instant;

/// How long a command may take: while slurmctld is away they try again and again.
const ANSWER_MAX: Duration = Duration::from_secs(20);
const LOOK: Duration = Duration::from_millis(5);

/// What a command of Slurm says; else what it complains of.
pub(super) fn ask<'a>(program: &str, arguments: impl IntoIterator<Item = &'a str>) -> io::Result<String> {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // What the agent was told is neither the jobs' business nor meant for these commands; where Slurm's settings are, is.
    let is_ours = |name: &str| {
        ["TIDEGATE_", "SLURM_", "SBATCH_", "SQUEUE_", "SINFO_", "SCANCEL_"].iter().any(|start| name.starts_with(start))
    };
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(|name| is_ours(name) && name != "SLURM_CONF") {
            command.env_remove(name);
        }
    }
    let mut child = command.spawn().map_err(|error| {
        let hint =
            if error.kind() == io::ErrorKind::NotFound { "; is this machine a client of a Slurm cluster?" } else { "" };
        io::Error::new(error.kind(), format!("{program}: {error}{hint}"))
    })?;
    let (said, complained) = (reader(child.stdout.take()), reader(child.stderr.take()));
    let status = wait(&mut child, program)?;
    let text =
        |thread: thread::JoinHandle<Vec<u8>>| String::from_utf8_lossy(&thread.join().unwrap_or_default()).into_owned();
    let (said, complained) = (text(said), text(complained));
    if status.success() {
        return Ok(said);
    }
    let lines = complained.lines().map(|line| line.trim_start_matches(&format!("{program}: error: ")).trim());
    Err(io::Error::other(format!("{program}: {}", lines.collect::<Vec<_>>().join("; "))))
}

fn reader(pipe: Option<impl Read + Send + 'static>) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // What could be read counts; a command that fails says so by its status.
        drop(pipe.map(|mut pipe| pipe.read_to_end(&mut bytes)));
        bytes
    })
}

fn wait(child: &mut Child, program: &str) -> io::Result<std::process::ExitStatus> {
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if begun.elapsed() > ANSWER_MAX {
            child.kill()?;
            child.wait()?;
            let reason = format!("{program}: no answer from Slurm within {} seconds", ANSWER_MAX.as_secs());
            return Err(io::Error::new(io::ErrorKind::TimedOut, reason));
        }
        sleep(LOOK);
    }
}
