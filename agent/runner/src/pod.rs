//! A pod's first moments, in a process of its own that becomes the pod's command.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::process::Stdio;

use agent::message::Pod;
use rustix::process::Signal;
use rustix::process::getppid;
use rustix::process::set_parent_process_death_signal;

use crate::folder::Folder;
use crate::folder::Order;
use crate::folder::Work;
use crate::processes::POD;
use crate::processes::RUN;
use crate::processes::STORE;

/// The first argument by which the program knows that it is to become a pod.
pub(crate) const SUBCOMMAND: &str = "become-pod";
/// What a shell says as well when there is no such command.
const NOT_EXECUTABLE: i32 = 127;

/// Which pod of those that a supervisor has started.
#[derive(Clone, Copy)]
pub(crate) struct Numbers {
    /// It is the nth, counted from 0.
    pub(crate) ordinal: usize,
    /// How many of them are on its node already.
    pub(crate) local_rank: usize,
}

/// The command that becomes a pod.
pub(crate) fn command(
    folder: &Folder,
    order: &Order,
    work: &Work,
    pod: &Pod,
    numbers: Numbers,
    program: &Path,
) -> Command {
    let Work { want, script } = work;
    let mut command = Command::new(program);
    command.arg(SUBCOMMAND).arg(std::process::id().to_string());
    command.arg(refusal(folder, numbers.ordinal)).args(&script.command);
    command.current_dir(script.directory.as_ref().map_or_else(|| folder.file("work"), Into::into));
    let gpus: Vec<String> = pod.gpus.iter().map(ToString::to_string).collect();
    // What the agent was told is not the jobs' business.
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("TIDEGATE_")) {
        command.env_remove(name);
    }
    command
        .envs(&script.environment)
        .env(RUN, folder.run.to_string())
        .env(STORE, &order.store)
        .env(POD, numbers.ordinal.to_string())
        .env("TIDEGATE_JOB", &want.job)
        .env("TIDEGATE_NODE", &pod.node)
        .env("TIDEGATE_CHECKPOINT", folder.file("checkpoint"))
        .env("CUDA_VISIBLE_DEVICES", gpus.join(","))
        .env("RANK", pod.rank.to_string())
        .env("WORLD_SIZE", want.world.to_string())
        .env("LOCAL_RANK", numbers.local_rank.to_string())
        .env("MASTER_ADDR", &want.leader)
        .env("MASTER_PORT", want.port.to_string())
        .stdin(Stdio::null())
        .process_group(0);
    command
}

/// Where a pod says why its command could not be executed.
pub(crate) fn refusal(folder: &Folder, ordinal: usize) -> std::path::PathBuf {
    folder.file(&format!("refused-{ordinal}"))
}

/// Becomes the command: dies with its supervisor from now on. Returns only if that fails.
pub(crate) fn r#become(arguments: &[OsString]) -> i32 {
    let [supervisor, refusal, program, rest @ ..] = arguments else { return NOT_EXECUTABLE };
    let is_alive = || getppid().map(|pid| pid.as_raw_nonzero().to_string()) == supervisor.to_str().map(str::to_owned);
    let error = match set_parent_process_death_signal(Some(Signal::KILL)) {
        // It may have died before it could take us along.
        Ok(()) if !is_alive() => return NOT_EXECUTABLE,
        Ok(()) => Command::new(program).args(rest).exec(),
        Err(error) => io::Error::from(error),
    };
    drop(fs::write(refusal, format!("{}: {error}", program.display())));
    NOT_EXECUTABLE
}
