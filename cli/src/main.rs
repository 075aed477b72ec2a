//! The command `tidegate`: arguments in, exit status out.
#![expect(clippy::doc_markdown, reason = "the comments of arguments are the help text")]

use std::io::Write;
use std::path::Path;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use clap::Subcommand;
use tidegate::bench;
use tidegate::bench::figure::Figure;
use tidegate::meter::Process;
use tidegate::replay;
use tidegate::replay::sheet::Source;
use tidegate::scenario;

/// Runs Tidegate's engine without the network: scenarios, replays of real traces, figures.
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
    /// Replays a trace of jobs and says how long they wait, what is used, and what evictions cost.
    Replay {
        /// The job table (.csv): job_id, submit_s, duration_s, gpus, group, and optional columns.
        trace: PathBuf,
        /// The quotas (.csv): group, parent, gpus.
        #[arg(long)]
        quotas: PathBuf,
        /// The nodes (.csv): sn and gpu, or node_name and gpu_capacity_num. Without it the machines are one pool.
        #[arg(long)]
        nodes: Option<PathBuf>,
        /// Makes as many nodes with this many GPUs as the root quotas need.
        #[arg(long, conflicts_with = "nodes", value_parser = clap::value_parser!(i64).range(1..=16))]
        gpus_per_node: Option<i64>,
        /// Switches on preemption: self-level 6 to 9 over 1 to 4 on every leaf, child-level 1 to 4 on every parent.
        #[arg(long)]
        preemption: bool,
        /// Prints one JSON object instead of text.
        #[arg(long)]
        json: bool,
    },
    /// Measures the figures to reach, and prints each beside its target.
    Bench {
        /// Prints a JSON list instead of text.
        #[arg(long)]
        json: bool,
        /// The folder with philly_week.csv; without it that figure is left out.
        #[arg(long, default_value = "../shared/traces")]
        traces: PathBuf,
        /// Runs one full round of a cluster of this size and nothing else, for a profiler that counts instructions.
        #[arg(long, num_args = 2, value_names = ["jobs=N", "quotas=M"])]
        growth_step: Option<Vec<String>>,
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
        Task::Replay { trace, quotas, nodes, gpus_per_node, preemption, json } => {
            let (quotas, nodes) = (Source::open(&quotas)?, nodes.as_deref().map(Source::open).transpose()?);
            let nodes = nodes.as_ref();
            let setting =
                replay::machines::Setting { quotas: &quotas, nodes, gpus_per_node, has_preemption: preemption };
            replay(&Source::open(&trace)?, &setting, json, &mut out)
        }
        Task::Bench { growth_step: Some(sizes), .. } => growth_step(&sizes, &mut out),
        Task::Bench { json, traces, growth_step: None } => bench(&traces, json, &mut out),
    }
}

fn replay(
    trace: &Source,
    setting: &replay::machines::Setting<'_>,
    is_json: bool,
    out: &mut impl Write,
) -> Result<ExitCode, String> {
    let machines = replay::machines::Machines::read(setting)?;
    let trace = replay::trace::Trace::read(trace, machines.node_gpus, &machines.quotas)?;
    let figures = replay::run::replay(machines, trace, &Process::this(), true)?;
    let text = if is_json {
        serde_json::to_string_pretty(&figures).map_err(|error| error.to_string())?
    } else {
        figures.to_string()
    };
    writeln!(out, "{text}").map_err(|error| error.to_string())?;
    Ok(ExitCode::SUCCESS)
}

fn bench(traces: &Path, is_json: bool, out: &mut impl Write) -> Result<ExitCode, String> {
    let mut problem = Ok(());
    let mut tell = |figure: &Figure| {
        if !is_json && problem.is_ok() {
            problem = writeln!(out, "{figure}").and_then(|()| out.flush());
        }
    };
    let (jobs, quotas) = (traces.join("philly_week.csv"), traces.join("philly_quotas.csv"));
    let philly = if jobs.exists() && quotas.exists() {
        Some(bench::measure::Philly { jobs: Source::open(&jobs)?, quotas: Source::open(&quotas)? })
    } else {
        None
    };
    let figures = bench::measure::all(&Process::this(), philly.as_ref(), &mut tell)?;
    if is_json {
        let text = serde_json::to_string_pretty(&figures).map_err(|error| error.to_string())?;
        problem = writeln!(out, "{text}");
    }
    problem.map_err(|error| error.to_string())?;
    Ok(ExitCode::SUCCESS)
}

fn growth_step(sizes: &[String], out: &mut impl Write) -> Result<ExitCode, String> {
    let size = |name: &str| {
        let text = sizes.iter().find_map(|size| size.strip_prefix(name)?.strip_prefix('='));
        let number = text.and_then(|text| text.replace('_', "").parse().ok());
        number.ok_or_else(|| format!("{sizes:?} has no {name}; write --growth-step jobs=N quotas=M"))
    };
    let mut session = bench::measure::growth_cluster(size("jobs")?, size("quotas")?)?;
    let events = bench::measure::one_full_round(&mut session)?;
    writeln!(out, "one full round, {events} events").map_err(|error| error.to_string())?;
    Ok(ExitCode::SUCCESS)
}
