//! The Worker's runtime as a child of the service that does not outlive it, even if that is killed: the next service would
//! else find another process at work on the same storage.

use std::env;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use rustix::process::Signal;
use rustix::process::set_parent_process_death_signal;
use rustix::process::setsid;

/// Where the service names the runtime's program.
const PROGRAM: &str = "TIDEGATE_WORKERD";
/// The first argument with which a service starts its runtime.
const SUBCOMMAND: &str = "serve";

/// Makes a service start its runtime through this program.
pub fn stand_in(node: &mut Command, program: &Path) {
    node.env("MINIFLARE_WORKERD_PATH", program);
}

/// Becomes the runtime if a service has called us as that; only a failure comes back.
#[must_use]
pub fn become_if_asked() -> Option<String> {
    let program = env::var_os(PROGRAM)?;
    env::args_os().nth(1).filter(|word| word == SUBCOMMAND)?;
    // A session of its own: ctrl-C in a terminal is for the service, which still publishes then.
    let tied = set_parent_process_death_signal(Some(Signal::KILL)).and_then(|()| setsid());
    if let Err(error) = tied {
        return Some(error.to_string());
    }
    let error = Command::new(&program).args(env::args_os().skip(1)).env_remove(PROGRAM).exec();
    Some(format!("{}: {error}", program.display()))
}
