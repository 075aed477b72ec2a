//! A supervisor, or a pod that is about to become its command. Nothing else: the agent is a part of `tidegate`.

use std::process::ExitCode;

fn main() -> ExitCode {
    runner::supervise::run_if_asked().map_or_else(
        || {
            eprintln!("tidegate-runner is started by an agent; to run one, write: tidegate agent run");
            ExitCode::from(2)
        },
        ExitCode::from,
    )
}
