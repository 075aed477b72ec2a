//! The command `tidegate`: arguments in, exit status out.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use clap::Subcommand;
use tidegate::scenario;

/// Runs Tidegate's engine without the network: scenarios.
#[derive(Debug, Parser)]
#[command(name = "tidegate", about, disable_version_flag = true)]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Runs scenario files (.md, .json) and says which of them hold.
    Scenario {
        /// The files.
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// Also prints which alternatives were checked.
        #[arg(long, short)]
        verbose: bool,
    },
}

fn main() -> ExitCode {
    let Arguments { task } = Arguments::parse();
    match run(task) {
        Ok(code) => code,
        Err(problem) => {
            let _ = writeln!(std::io::stderr(), "tidegate: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn run(task: Task) -> Result<ExitCode, String> {
    let mut out = std::io::stdout().lock();
    match task {
        Task::Scenario { files, verbose } => {
            let tally = scenario::report::run_files(&files, verbose, &mut out).map_err(|error| error.to_string())?;
            Ok(if tally.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
        }
    }
}
