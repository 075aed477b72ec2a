//! Builds, runs and checks Tidegate, so that nothing but Rust, Node and Python has to be installed.
mod bench;
mod bundle;
mod chaos;
mod clients;
mod count;
mod dev;
mod docs;
mod execution;
mod gate;
mod load;
mod mutants;
mod openapi;
mod parts;
mod prepare;
mod process;
mod requests;
mod restore;
mod sdks;
mod silence;
mod soak;
mod stored;
mod up;

use process::Failure;
use std::process::ExitCode;

const USAGE: &str = "\
cargo xtask build [--dev]      the console into dist/, the Worker into build/worker/
cargo xtask dev [--port 8787] [--every SECONDS] [--fresh] [--no-agent]
                               build --dev, then serve both on this computer with a running clock, and run the jobs of
                               the cluster workshop as processes here
cargo xtask up [OPTIONS]       build, then `tidegate up`: a cluster of this computer, whose jobs run here; `up --help`
                               says more
cargo xtask docs               the documentation into dist/docs/, with the planners of the last build
cargo xtask openapi            the documents of both surfaces, from the tables and the types, into public/
cargo xtask test [STEP [NAME]]
                               the whole gate, as the continuous integration runs it; or one of its steps: format, lints,
                               native, wasm, docs, node, clients, sdk, browser; or one test of native, node or browser
cargo xtask fuzz               5,000 requests that are made up from the document of the native surface
cargo xtask pages [--lighthouse]
                               what readers of pages with planners wait for, and Lighthouse's scores
cargo xtask store-fixture      keeps what this version stores of two clusters, for every later version to open
cargo xtask bench [requests]   the engine's figures, native and in Wasm, how a round grows, and what requests cost
cargo xtask bench execution [JOBS [RUNS]]
                               how long it takes until what is decided runs and what has ended is free, and what that
                               costs, with the service that `build` has made
cargo xtask bench load [MINUTES]
                               how long commands take under load, and how much memory the runtime has, over ten minutes,
                               with the service that `build` has made
cargo xtask bench restore [ENTRIES]
                               what the restore of a cluster of 100,000 jobs and a million entries reads, how much of it
                               is in memory at once, and how long it takes
cargo xtask bench instructions [NAMES]
                               what each native figure costs in instructions, or those of these names
cargo xtask clients [--minutes N]
                               the examples of the product's pages by the SDKs alone, then 50 clients at once for five
                               minutes and one that polls every six seconds, on what `build` has made
cargo xtask cases FILE...      plays situations of other systems, written as JSON; e2e/cases/fixtures/ has some
cargo xtask soak NAME [--from N] [--count N]
                               a proof over many more random histories than in the gate, from the Nth on
cargo xtask chaos local [--service] [--runs N]
                               runs as real processes on this computer, while agents and supervisors are killed; with
                               --service the service that `build` has made as well
cargo xtask chaos slurm [--runs N]
                               jobs on a Slurm cluster of this computer, with the service that `build` has made, while
                               slurmctld, slurmd and the agent are killed; needs root, and Debian's packages slurmctld,
                               slurmd, slurm-client and munge
cargo xtask chaos storage [--kills N] [--losses N] [--from N]
                               the service that `build` has made under load, killed 500 times, and its storage removed 20
                               times; goes on with the Nth block
cargo xtask mutants [--again] [--minutes N]
                               which small changes to the engine no test notices; goes on where it ended, or tries
                               again what survived";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("\nxtask: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Result<(), Failure> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["build"] => bundle::build(bundle::Profile::Release, &[]),
        ["build", "--dev"] => bundle::build(bundle::Profile::Dev, &[]),
        ["dev", options @ ..] => dev::serve(&dev::Options::parse(options)?),
        ["up", words @ ..] => up::serve(words),
        ["docs"] => docs::build(),
        ["openapi"] => openapi::write(),
        ["test", words @ ..] => gate::run(words),
        ["fuzz"] => gate::fuzz(),
        ["store-fixture"] => stored::keep(),
        ["clients", options @ ..] => sdks::load(options),
        ["cases", files @ ..] => cases(files),
        ["soak", options @ ..] => soak::run(options),
        ["chaos", options @ ..] => chaos::run(options),
        ["mutants", options @ ..] => mutants::run(options),
        ["bench"] => bench::run(),
        ["bench", "requests"] => requests::run(),
        ["bench", "execution", sizes @ ..] => execution::run(sizes),
        ["bench", "load", minutes @ ..] => load::run(minutes),
        ["bench", "restore", entries @ ..] => restore::run(entries),
        ["bench", "instructions", names @ ..] => bench::count_instructions(names),
        ["pages", options @ ..] => docs::figures(options),
        ["help" | "--help" | "-h"] | [] => {
            println!("{USAGE}");
            Ok(())
        }
        _ => Err(Failure::new(format!("no such command: {}", words.join(" ")), format!("use one of\n{USAGE}"))),
    }
}

/// Plays cases; cargo builds their player when something changed, and prints nothing of its own.
fn cases(files: &[&str]) -> Result<(), Failure> {
    let mut words = vec!["run", "--quiet", "--package", "cases", "--"];
    words.extend(files);
    process::show("cargo", &words, "read the lines above: FAIL says what was expected, and what came")
}
