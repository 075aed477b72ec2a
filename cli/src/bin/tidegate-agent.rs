//! The command `tidegate-agent`: `tidegate agent` and `tidegate slurm` alone, for machines on which nothing else is needed.

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;
use clap::Subcommand;
use tidegate::agents::task::AgentTask;
use tidegate::agents::task::SlurmTask;
use tidegate::agents::task::agent;
use tidegate::agents::task::slurm;

/// Runs a cluster's jobs on this machine, or on a Slurm cluster of which it is a client.
#[derive(Debug, Parser)]
#[command(name = "tidegate-agent", about, disable_version_flag = true)]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    #[command(flatten)]
    Agent(AgentTask),
    /// Governs a Slurm cluster that is there.
    #[command(subcommand)]
    Slurm(SlurmTask),
}

fn main() -> ExitCode {
    // The same program watches over the runs that an agent starts.
    if let Some(code) = runner::supervise::run_if_asked() {
        return ExitCode::from(code);
    }
    let said = match Arguments::parse().task {
        Task::Agent(task) => agent(task, "tidegate-agent"),
        Task::Slurm(task) => slurm(task),
    };
    let told = said.and_then(|text| writeln!(std::io::stdout(), "{text}").map_err(|error| error.to_string()));
    let Err(problem) = told else { return ExitCode::SUCCESS };
    let _ = writeln!(std::io::stderr(), "tidegate-agent: {problem}");
    ExitCode::FAILURE
}
