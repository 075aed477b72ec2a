//! `cases FILE...`: plays the cases of these files and prints a line for each.

use std::io::stdout;
use std::path::PathBuf;
use std::process::ExitCode;

use cases::report;

fn main() -> ExitCode {
    let files: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    if files.is_empty() {
        eprintln!("name the files of cases (.json), such as e2e/cases/fixtures/peers.json");
        return ExitCode::from(2);
    }
    match report::run_files(&files, &mut stdout().lock()) {
        Ok(tally) if tally.failed == 0 => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("the lines cannot be printed: {error}");
            ExitCode::FAILURE
        }
    }
}
